"""RLP to nested lists of bytes and back.

Both directions keep their place on a stack of their own, so nesting costs no C stack; it is
bounded, since Python itself cannot print or compare lists that are nested without bound.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memmove

from blockpack._native.rlpc cimport (
    BP_RLP_LENIENT,
    BP_RLP_LIST_BASE,
    BP_RLP_PREFIX_SIZE_MAX,
    BP_RLP_STRICT,
    BP_RLP_STRING_BASE,
    BP_RLP_TRANSACTIONS,
    bp_rlp_failed,
    bp_rlp_fault,
    bp_rlp_header,
    bp_rlp_header_at,
    bp_rlp_item,
    bp_rlp_prefix,
    bp_rlp_read,
    bp_tx,
    bp_tx_at,
    check_fault,
)
from blockpack._native.status cimport (
    BP_NOT_A_LIST,
    BP_OVERRUN,
    BP_TOO_FEW_ITEMS,
    BP_TOO_LARGE,
    BP_TRAILING,
    BP_TRUNCATED,
    check,
)

cdef extern from "Python.h":
    PyObject *PyList_New(Py_ssize_t size) except NULL
    PyObject *new_bytes "PyBytes_FromStringAndSize"(const char *, Py_ssize_t) except NULL
    void PyList_SET_ITEM(PyObject *target, Py_ssize_t index, PyObject *value)
    void Py_DECREF(PyObject *value)
    void Py_INCREF(PyObject *value)
    int PyGC_Disable()
    int PyGC_Enable()

cdef enum:
    NESTING_MAX = 1024

DEPTH_MAX = NESTING_MAX


cdef struct Level:
    uint64_t end        # of the list
    Py_ssize_t first    # of its values on the stack


@cython.internal
@cython.final
@cython.auto_pickle(False)
cdef class Decoder:
    """Values stand on one stack until their list ends, which then takes them: one pass, and no
    list is grown. The stack holds 8 bytes an item, so at most 8 times the input."""

    cdef PyObject **values
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef const uint8_t *data
    cdef int mode

    def __cinit__(self):
        self.values = NULL
        self.count = self.room = 0

    def __dealloc__(self):
        self.drop()
        PyMem_Free(self.values)

    cdef void drop(self) noexcept:
        while self.count > 0:
            self.count -= 1
            Py_DECREF(self.values[self.count])

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = self.room * 2 if self.room else 512
        cdef void *moved = PyMem_Realloc(self.values, room * sizeof(PyObject *))
        if moved == NULL:
            raise MemoryError()
        self.values = <PyObject **>moved
        self.room = room
        return 0

    cdef inline int push(self, PyObject *value) except -1:
        """Takes the reference."""
        if self.count == self.room:
            try:
                self.grow()
            except MemoryError:
                Py_DECREF(value)
                raise
        self.values[self.count] = value
        self.count += 1
        return 0

    cdef int close(self, Py_ssize_t first) except -1:
        """The values from `first` on become one list."""
        cdef Py_ssize_t size = self.count - first
        cdef PyObject *made = PyList_New(size)
        cdef Py_ssize_t i
        for i in range(size):
            PyList_SET_ITEM(made, i, self.values[first + i])
        self.count = first
        return self.push(made)

    cdef int read(self, uint64_t start, uint64_t end, bp_rlp_item *item, bint inner) except -1:
        cdef int status = bp_rlp_read(self.data, start, end, self.mode, item)
        if status < 0:
            check(BP_OVERRUN if inner and status == BP_TRUNCATED else status, "RLP item", start)
        return 0

    cdef int item(self, uint64_t start, uint64_t end, bint inner, uint64_t *next_start) except -1:
        """Pushes the item at `start`, with all that is in it."""
        cdef bp_rlp_item item
        self.read(start, end, &item, inner)
        next_start[0] = item.end
        if not item.is_list:
            return self.push(new_bytes(<const char *>self.data + item.payload,
                                       item.end - item.payload))
        return self.items(&item)

    cdef int items(self, const bp_rlp_item *outer) except -1:
        cdef bp_rlp_item item = outer[0]
        cdef Level levels[NESTING_MAX]
        cdef int depth = 0
        cdef int status
        cdef uint64_t position = outer.payload
        cdef uint64_t end = outer.end
        cdef Py_ssize_t first = self.count
        while True:
            while position == end:
                self.close(first)
                if depth == 0:
                    return 0
                depth -= 1
                end = levels[depth].end
                first = levels[depth].first
            status = bp_rlp_read(self.data, position, end, self.mode, &item)
            if status < 0:
                check(BP_OVERRUN if status == BP_TRUNCATED else status, "RLP item", position)
            if not item.is_list:
                self.push(new_bytes(<const char *>self.data + item.payload,
                                    item.end - item.payload))
                position = item.end
                continue
            if depth == NESTING_MAX - 1:
                check(BP_TOO_LARGE, f"RLP nested deeper than {NESTING_MAX} lists", position)
            levels[depth].end = end
            levels[depth].first = first
            depth += 1
            position = item.payload
            end = item.end
            first = self.count

    cdef object take(self):
        """The one value that is left."""
        cdef object value = <object>self.values[0]
        self.drop()
        return value

    cdef inline int value(self, const bp_rlp_item *item) except -1:
        if item.is_list:
            return self.items(item)
        return self.push(new_bytes(<const char *>self.data + item.payload,
                                   item.end - item.payload))

    cdef int transaction(self, uint64_t start, uint64_t end, uint64_t *next_start) except -1:
        """A list stays one; types 1 to 4 become (type, list of fields); others stay bytes."""
        cdef bp_tx tx
        cdef bp_rlp_fault fault
        cdef Py_ssize_t first = self.count
        cdef int i
        check_fault(bp_tx_at(self.data, start, end, self.mode, &tx, &fault), &fault)
        next_start[0] = tx.end
        if not tx.known:
            return self.item(start, end, True, next_start)
        for i in range(tx.count):
            self.value(&tx.fields[i])
        self.close(first)
        return 0 if tx.type == 0 else self.typed(tx.type)

    cdef int typed(self, unsigned kind) except -1:
        """The list on top of the stack becomes (kind, list)."""
        cdef object opened = (kind, <object>self.values[self.count - 1])
        Py_DECREF(self.values[self.count - 1])
        Py_INCREF(<PyObject *>opened)
        self.values[self.count - 1] = <PyObject *>opened
        return 0

    cdef int transactions(self, uint64_t start, uint64_t end, uint64_t *next_start) except -1:
        cdef bp_rlp_item item
        cdef Py_ssize_t first = self.count
        cdef bp_rlp_fault fault
        self.read(start, end, &item, True)
        if not item.is_list:
            check_fault(bp_rlp_failed(&fault, BP_NOT_A_LIST, start, BP_RLP_TRANSACTIONS), &fault)
        next_start[0] = item.end
        start = item.payload
        while start < item.end:
            self.transaction(start, item.end, &start)
        return self.close(first)

    cdef object block(self, uint64_t size):
        cdef bp_rlp_item outer
        cdef bp_rlp_header header
        cdef bp_rlp_fault fault
        cdef uint64_t position
        cdef int index = 0
        self.read(0, size, &outer, False)
        if not outer.is_list:
            check(BP_NOT_A_LIST, "block", 0)
        if outer.end != size:
            check(BP_TRAILING, "block", outer.end)
        position = outer.payload
        if self.mode == BP_RLP_STRICT:
            check_fault(bp_rlp_header_at(self.data, position, outer.end, &header, &fault), &fault)
        while position < outer.end:
            if index == 1:
                self.transactions(position, outer.end, &position)
            else:
                self.item(position, outer.end, True, &position)
            index += 1
        if index < 2:
            check(BP_TOO_FEW_ITEMS, "block's list of transactions", outer.end)
        self.close(0)
        return self.take()

    cdef object whole(self, uint64_t size):
        cdef uint64_t end
        self.item(0, size, False, &end)
        if end != size:
            check(BP_TRAILING, "RLP item", end)
        return self.take()


cdef object decoded(data, bint strict, bint is_block):
    cdef Py_buffer view
    cdef Decoder decoder = Decoder.__new__(Decoder)
    cdef int collecting
    decoder.mode = BP_RLP_STRICT if strict else BP_RLP_LENIENT
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    # A collection in the midst of it would visit lists that cannot be garbage yet: a fifth of the
    # time. No Python code runs before it is on again, so nobody sees it off.
    collecting = PyGC_Disable()
    try:
        decoder.data = <const uint8_t *>view.buf
        return decoder.block(view.len) if is_block else decoder.whole(view.len)
    finally:
        if collecting:
            PyGC_Enable()
        PyBuffer_Release(&view)


def decode(data, *, bint strict=True):
    """Return one RLP item as bytes, or as a list of such items, nested as it is encoded.

    ``data`` is any contiguous buffer that holds the item and nothing after it. Strict: canonical
    encodings alone pass. With ``strict=False`` lengths may have leading zeros or the long form
    where the short one would do, and a single small byte may have a prefix; the structure must
    hold all the same. Raises CorruptError with the offset of the item at fault, LimitError where
    lists are nested deeper than ``DEPTH_MAX`` = 1,024.
    """
    return decoded(data, strict, False)


def decode_block(data, *, bint strict=True):
    """Return a block's RLP as nested lists, with its typed transactions opened.

    As ``decode``, but a transaction of type 1 to 4 is a tuple (type, list of its fields). Legacy
    ones are lists, and types that are not known stay bytes. Strict: header and transaction fields
    have their widths, and integers no leading zeros.
    """
    return decoded(data, strict, True)


@cython.internal
@cython.final
@cython.auto_pickle(False)
cdef class Encoder:
    """Writes from the last byte to the first: then a list's size is known when its prefix is due,
    and one pass is enough."""

    cdef uint8_t *target
    cdef Py_ssize_t room
    cdef Py_ssize_t written     # the last bytes of target

    def __cinit__(self):
        self.target = NULL
        self.room = self.written = 0

    def __dealloc__(self):
        PyMem_Free(self.target)

    cdef int reserve(self, Py_ssize_t size) except -1:
        cdef Py_ssize_t room
        cdef void *moved
        if size <= self.room - self.written:
            return 0
        room = max(2 * self.room, self.written + size, 256)
        moved = PyMem_Realloc(self.target, room)
        if moved == NULL:
            raise MemoryError()
        self.target = <uint8_t *>moved
        memmove(self.target + room - self.written, self.target + self.room - self.written,
                self.written)
        self.room = room
        return 0

    cdef int prepend(self, const void *data, Py_ssize_t size) except -1:
        if size == 0:
            return 0    # of which memcpy takes no null pointer, and nothing is reserved yet
        self.reserve(size)
        self.written += size
        memcpy(self.target + self.room - self.written, data, size)
        return 0

    cdef int prefix(self, Py_ssize_t size, unsigned base) except -1:
        cdef uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]
        return self.prepend(prefix, bp_rlp_prefix(size, base, prefix))

    cdef int string(self, const uint8_t *data, Py_ssize_t size) except -1:
        self.prepend(data, size)
        if size == 1 and data[0] < BP_RLP_STRING_BASE:
            return 0
        return self.prefix(size, BP_RLP_STRING_BASE)

    cdef int buffer(self, value) except -1:
        cdef Py_buffer view
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
        try:
            return self.string(<const uint8_t *>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    cdef int leaf(self, value) except -1:
        if isinstance(value, bytes):
            return self.string(<const uint8_t *>PyBytes_AS_STRING(value), len(value))
        if PyObject_CheckBuffer(value):
            return self.buffer(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if value < 0:
                raise ValueError(f"RLP has no negative integers: {value}")
            return self.leaf(value.to_bytes((value.bit_length() + 7) // 8, "big"))
        raise TypeError(f"RLP holds bytes-likes, integers, and lists and tuples of them, not "
                        f"{type(value).__name__}")

    cdef int tree(self, outer) except -1:
        cdef Py_ssize_t marks[NESTING_MAX]
        cdef Py_ssize_t lefts[NESTING_MAX]
        cdef list above = []
        cdef int depth = 0
        cdef Py_ssize_t mark = 0
        cdef Py_ssize_t left = len(outer)
        while True:
            if left == 0:
                self.prefix(self.written - mark, BP_RLP_LIST_BASE)
                if depth == 0:
                    return 0
                depth -= 1
                outer, mark, left = above.pop(), marks[depth], lefts[depth]
                continue
            left -= 1
            if left >= len(outer):
                raise RuntimeError("a list changed its size while it was encoded")
            value = outer[left]
            if not isinstance(value, (list, tuple)):
                self.leaf(value)
                continue
            if depth == NESTING_MAX - 1:
                check(BP_TOO_LARGE, f"RLP nested deeper than {NESTING_MAX} lists", -1)
            marks[depth], lefts[depth] = mark, left
            depth += 1
            above.append(outer)
            outer, mark, left = value, self.written, len(value)


def encode(item):
    """Return the RLP of bytes-likes, integers, and lists and tuples of them, nested at will.

    Integers are big-endian without leading zeros, 0 the empty string. Raises TypeError for
    anything else (str, None, bool, float), ValueError for a negative integer, LimitError where
    lists are nested deeper than ``DEPTH_MAX`` = 1,024 or contain themselves.
    """
    cdef Encoder encoder = Encoder.__new__(Encoder)
    if isinstance(item, (list, tuple)):
        encoder.tree(item)
    else:
        encoder.leaf(item)
    return PyBytes_FromStringAndSize(
        <const char *>encoder.target + encoder.room - encoder.written, encoder.written)
