"""Columns as Arrow capsules, by the C data and C stream interface; no Arrow library is needed.

A struct that goes out owns one reference to a node object below, in ``private_data``; the node
owns what the struct points to: strings, arrays, and the structs of the children. Releasing a
struct drops that reference. A consumer may move a child out before it releases the parent: the
child has a node of its own. Values and offsets are shared; bool values and validity are packed
into bits, once.

Consumers release from threads of their own, so every callback takes the GIL; after Python has
ended it leaves the memory to the process's end.
"""

cimport cython
from cpython.exc cimport PyErr_SetInterrupt
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EINVAL, EIO, ENOMEM
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free

import threading

import numpy as np


cdef extern from "Python.h" nogil:
    int Py_IsInitialized()


cdef extern from "arrow/abi.h" nogil:
    int64_t ARROW_FLAG_NULLABLE

    cdef struct ArrowSchema:
        const char *format
        const char *name
        const char *metadata
        int64_t flags
        int64_t n_children
        ArrowSchema **children
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept nogil
        void *private_data

    cdef struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void **buffers
        ArrowArray **children
        ArrowArray *dictionary
        void (*release)(ArrowArray *) noexcept nogil
        void *private_data

    cdef struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
        const char *(*get_last_error)(ArrowArrayStream *) noexcept nogil
        void (*release)(ArrowArrayStream *) noexcept nogil
        void *private_data


cdef enum:
    BUFFERS_MAX = 3
    U256_BYTES = 32

# Kind -> Arrow's name of the type, and the NumPy type of the values. Fixed gets its width.
FORMATS = {
    "u8": "C", "u32": "I", "u64": "L", "i64": "l", "f64": "g", "bool": "b", "binary": "Z",
    "string": "U", "fixed": "w:", "u256": f"w:{U256_BYTES}", "list": "+L", "struct": "+s",
}
cdef dict DTYPES = {
    kind: np.dtype(name) for kind, name in (
        ("u8", "u1"), ("u32", "u4"), ("u64", "u8"), ("i64", "i8"), ("f64", "f8"),
        ("bool", "?"), ("binary", "u1"), ("string", "u1"), ("fixed", "u1"), ("u256", "u1"))
}
cdef object OFFSETS = np.dtype("i8")
cdef object VALID = np.dtype("?")
cdef frozenset HAVE_OFFSETS = frozenset(("binary", "string", "list"))
cdef frozenset NESTED = frozenset(("list", "struct"))


cdef str format_of(field):
    cdef str kind = field.kind
    if kind not in FORMATS:
        raise ValueError(f"column {field.name} is of kind {kind!r}; there are "
                         f"{', '.join(FORMATS)}")
    return f"w:{field.width}" if kind == "fixed" else FORMATS[kind]


# Schemas

@cython.final
@cython.no_gc
cdef class _SchemaNode:
    """What an ArrowSchema points to."""

    cdef bytes format, name
    cdef ArrowSchema *structs
    cdef ArrowSchema **pointers
    cdef Py_ssize_t count

    def __dealloc__(self):
        cdef Py_ssize_t at
        for at in range(self.count):
            if self.structs[at].release != NULL:
                self.structs[at].release(&self.structs[at])
        free(self.structs)
        free(self.pointers)

    cdef int reserve(self, Py_ssize_t count) except -1:
        """Room for the children, all released as yet."""
        self.structs = <ArrowSchema *>calloc(count + 1, sizeof(ArrowSchema))
        self.pointers = <ArrowSchema **>calloc(count + 1, sizeof(ArrowSchema *))
        if self.structs == NULL or self.pointers == NULL:
            raise MemoryError
        self.count = count
        for at in range(count):
            self.pointers[at] = &self.structs[at]
        return 0


cdef void release_schema(ArrowSchema *schema) noexcept nogil:
    schema.release = NULL
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<_SchemaNode>schema.private_data)


cdef int export_schema(str format, str name, bint nullable, children, ArrowSchema *out) except -1:
    """Fill ``out``, which is released as yet and stays so when this raises."""
    cdef _SchemaNode node = _SchemaNode()
    cdef Py_ssize_t at
    node.format, node.name = format.encode(), name.encode()
    node.reserve(len(children))
    for at, child in enumerate(children):
        export_schema(format_of(child), child.name, child.nullable, child.children,
                      &node.structs[at])
    out.format, out.name, out.metadata = node.format, node.name, NULL
    out.flags = ARROW_FLAG_NULLABLE if nullable else 0
    out.n_children = node.count
    out.children = node.pointers
    out.dictionary = NULL
    Py_INCREF(node)
    out.private_data = <void *>node
    out.release = release_schema
    return 0


# Arrays

@cython.final
@cython.no_gc
cdef class _ArrayNode:
    """What an ArrowArray points to; ``pinned`` keeps the NumPy arrays of the buffers."""

    cdef list pinned
    cdef const void *buffers[BUFFERS_MAX]
    cdef Py_ssize_t used
    cdef ArrowArray *structs
    cdef ArrowArray **pointers
    cdef Py_ssize_t count

    def __dealloc__(self):
        cdef Py_ssize_t at
        for at in range(self.count):
            if self.structs[at].release != NULL:
                self.structs[at].release(&self.structs[at])
        free(self.structs)
        free(self.pointers)

    cdef int reserve(self, Py_ssize_t count) except -1:
        """Room for the children, all released as yet."""
        self.structs = <ArrowArray *>calloc(count + 1, sizeof(ArrowArray))
        self.pointers = <ArrowArray **>calloc(count + 1, sizeof(ArrowArray *))
        if self.structs == NULL or self.pointers == NULL:
            raise MemoryError
        self.count = count
        for at in range(count):
            self.pointers[at] = &self.structs[at]
        return 0

    cdef int add(self, array) except -1:
        """The next buffer; None is one that is left out."""
        if array is not None:
            self.pinned.append(array)
            self.buffers[self.used] = <const void *><uintptr_t>array.ctypes.data
        self.used += 1
        return 0

    cdef int64_t add_valid(self, name, valid, Py_ssize_t rows) except -1:
        """The validity buffer, left out where nothing is null; returns how many rows are."""
        cdef int64_t nulls = 0
        if valid is not None:
            checked(name, "valid", valid, VALID, (rows,))
            nulls = rows - np.count_nonzero(valid)
        self.add(np.packbits(valid, bitorder="little") if nulls else None)
        return nulls


cdef void release_array(ArrowArray *array) noexcept nogil:
    array.release = NULL
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<_ArrayNode>array.private_data)


cdef int publish_array(_ArrayNode node, Py_ssize_t rows, int64_t nulls,
                       ArrowArray *out) except -1:
    out.length = rows
    out.null_count = nulls
    out.offset = 0
    out.n_buffers = node.used
    out.buffers = node.buffers
    out.n_children = node.count
    out.children = node.pointers
    out.dictionary = NULL
    Py_INCREF(node)
    out.private_data = <void *>node
    out.release = release_array
    return 0


cdef checked(name, part, array, dtype, shape):
    """Return the array if a consumer may read it as what it is said to be."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise ValueError(f"{part} of column {name} must be an array of {dtype}, not "
                         f"{getattr(array, 'dtype', type(array).__name__)}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{part} of column {name} must be of shape {shape}, not {array.shape}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{part} of column {name} must be contiguous and aligned")
    return array


cdef int export_rows(fields, columns, Py_ssize_t rows, _ArrayNode node) except -1:
    """The columns as the node's children."""
    cdef Py_ssize_t at
    if len(columns) != len(fields):
        raise ValueError(f"{len(fields)} columns expected, not {len(columns)}")
    node.reserve(len(fields))
    for at, (field, column) in enumerate(zip(fields, columns)):
        export_column(field, column, rows, &node.structs[at])
    return 0


cdef int export_column(field, column, Py_ssize_t rows, ArrowArray *out) except -1:
    """Fill ``out``, which is released as yet and stays so when this raises."""
    cdef _ArrayNode node = _ArrayNode()
    cdef int64_t nulls
    cdef Py_ssize_t items
    name, kind = field.name, field.kind
    if column.name != name or column.kind != kind:
        raise ValueError(f"column {name} of kind {kind} expected, not {column.name} of kind "
                         f"{column.kind}")
    if len(column) != rows:
        raise ValueError(f"column {name} has {len(column)} rows; the batch has {rows}")
    node.pinned = []
    nulls = node.add_valid(name, column.valid, rows)
    if nulls and not field.nullable:
        raise ValueError(f"column {name} has {nulls} nulls and was said to have none")
    items = rows
    if kind in HAVE_OFFSETS:
        items = add_offsets(node, field, column, rows)
    if kind in NESTED:
        export_rows(field.children, column.children, items, node)
    else:
        add_values(node, field, column, items)
    return publish_array(node, rows, nulls, out)


cdef Py_ssize_t add_offsets(_ArrayNode node, field, column, Py_ssize_t rows) except -1:
    """The offsets' buffer; returns the items or bytes that there are to point at."""
    offsets = checked(field.name, "offsets", column.offsets, OFFSETS, (rows + 1,))
    cdef Py_ssize_t items = len(column.children[0] if field.kind == "list" else column.values)
    cdef int64_t first = offsets[0], last = offsets[rows]
    if not 0 <= first <= last <= items or not (offsets[1:] >= offsets[:rows]).all():
        raise ValueError(f"offsets of column {field.name} must ascend from 0 or more to {items} "
                         f"or less; they go from {first} to {last}")
    node.add(offsets)
    return items


cdef int add_values(_ArrayNode node, field, column, Py_ssize_t items) except -1:
    cdef str kind = field.kind
    shape = (items,)
    if kind == "fixed" or kind == "u256":
        shape = (items, field.width if kind == "fixed" else U256_BYTES)
    values = checked(field.name, "values", column.values, DTYPES[kind], shape)
    return node.add(np.packbits(values, bitorder="little") if kind == "bool" else values)


cdef int export_batch(fields, columns, Py_ssize_t rows, ArrowArray *out) except -1:
    """Rows as a struct array; ``out`` as in export_column."""
    cdef _ArrayNode node = _ArrayNode()
    node.pinned = []
    node.add(None)
    export_rows(fields, columns, rows, node)
    return publish_array(node, rows, 0, out)


# Streams

@cython.final
@cython.no_gc
cdef class _StreamNode:
    """What an ArrowArrayStream reads: an iterator, until it ends or fails for good."""

    cdef tuple fields
    cdef object batches, lock
    cdef bytes message
    cdef int code

    cdef int fail(self, error) noexcept:
        """Keep what went wrong, for every later call too, and let the iterator go."""
        self.batches = None
        self.code = errno_of(error)
        if isinstance(error, KeyboardInterrupt):
            PyErr_SetInterrupt()    # the consumer gets an error; Python, the interrupt
        text = type(error).__name__
        try:
            text = f"{text}: {error}"
        except Exception:
            pass    # an exception that cannot be printed has its name alone
        self.message = text.replace("\0", " ").encode(errors="replace")
        return self.code

    cdef int next(self, ArrowArray *out) noexcept:
        """get_next: after the end the end again, after an error that error again."""
        out.release = NULL
        try:
            with self.lock:
                return self.code if self.batches is None else self.step(out)
        except BaseException as error:  # no exception crosses the C interface
            return self.fail(error)

    cdef int step(self, ArrowArray *out) except -1:
        batch = next(self.batches, None)
        if batch is None:
            self.batches = None
            return 0
        columns, rows = batch
        return export_batch(self.fields, columns, rows, out)


cdef int errno_of(error) noexcept:
    if isinstance(error, MemoryError):
        return ENOMEM
    if isinstance(error, OSError) and isinstance(error.errno, int) and 0 < error.errno < 4096:
        return error.errno
    return EINVAL if isinstance(error, (ValueError, TypeError)) else EIO


cdef int stream_schema(ArrowArrayStream *stream, ArrowSchema *out) noexcept with gil:
    cdef _StreamNode node = <_StreamNode>stream.private_data
    out.release = NULL
    try:
        export_schema("+s", "", False, node.fields, out)
    except BaseException as error:
        return node.fail(error)
    return 0


cdef int stream_next(ArrowArrayStream *stream, ArrowArray *out) noexcept with gil:
    return (<_StreamNode>stream.private_data).next(out)


cdef const char *stream_error(ArrowArrayStream *stream) noexcept with gil:
    cdef bytes message = (<_StreamNode>stream.private_data).message
    if message is None:
        return NULL
    return message      # the node keeps it


cdef void release_stream(ArrowArrayStream *stream) noexcept nogil:
    stream.release = NULL
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<_StreamNode>stream.private_data)


# Capsules: each owns its struct, and releases what no consumer has moved out of it.

cdef void drop_schema(object capsule) noexcept:
    cdef ArrowSchema *schema = <ArrowSchema *>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void drop_array(object capsule) noexcept:
    cdef ArrowArray *array = <ArrowArray *>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void drop_stream(object capsule) noexcept:
    cdef ArrowArrayStream *stream = <ArrowArrayStream *>PyCapsule_GetPointer(
        capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


def schema_capsule(fields):
    """Return the capsule of a struct type with these fields."""
    cdef ArrowSchema *schema = <ArrowSchema *>calloc(1, sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError
    capsule = PyCapsule_New(schema, "arrow_schema", drop_schema)
    export_schema("+s", "", False, tuple(fields), schema)
    return capsule


def array_capsules(fields, columns, Py_ssize_t rows, requested_schema=None):
    """Return the capsules of the type and of a struct array of rows: (schema, array).

    ``fields`` and ``columns`` are alike in number, names and kinds. Raises ValueError for columns
    that are not as their fields say, and for a request for other columns; another
    representation of these columns may be asked for and is not given.
    """
    cdef ArrowArray *array
    fields = tuple(fields)
    check_request(fields, requested_schema)
    schema = schema_capsule(fields)
    array = <ArrowArray *>calloc(1, sizeof(ArrowArray))
    if array == NULL:
        raise MemoryError
    capsule = PyCapsule_New(array, "arrow_array", drop_array)
    export_batch(fields, tuple(columns), rows, array)
    return schema, capsule


def stream_capsule(fields, batches, requested_schema=None):
    """Return the capsule of a stream over an iterable of (columns, rows).

    A batch is taken when the consumer asks for one, and nothing of it is kept here. When the
    iterable raises, the consumer gets the message, now and on every later call.
    """
    cdef _StreamNode node = _StreamNode()
    cdef ArrowArrayStream *stream
    node.fields = tuple(fields)
    schema_capsule(node.fields)     # an unknown kind is refused here, with a traceback
    check_request(node.fields, requested_schema)
    node.batches = iter(batches)
    node.lock = threading.Lock()
    stream = <ArrowArrayStream *>calloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError
    capsule = PyCapsule_New(stream, "arrow_array_stream", drop_stream)
    stream.get_schema = stream_schema
    stream.get_next = stream_next
    stream.get_last_error = stream_error
    Py_INCREF(node)
    stream.private_data = <void *>node
    stream.release = release_stream
    return capsule


cdef int check_request(tuple fields, requested) except -1:
    """Refuse a requested schema that names other columns, as the interface asks."""
    cdef ArrowSchema *schema
    cdef Py_ssize_t at
    if requested is None:
        return 0
    schema = <ArrowSchema *>PyCapsule_GetPointer(requested, "arrow_schema")
    if schema.release == NULL:
        raise ValueError("the requested schema has been consumed already")
    wanted = [schema.children[at].name.decode(errors="replace") if schema.children[at].name
              else "" for at in range(schema.n_children)]
    names = [field.name for field in fields]
    if schema.format != b"+s" or wanted != names:
        raise ValueError(f"a schema of {', '.join(wanted) or 'no columns'} is requested; the "
                         f"columns are {', '.join(names)}")
    return 0
