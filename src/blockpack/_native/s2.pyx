"""S2 blocks (ext/s2/s2.h): bytes-like in, bytes out, the GIL off while the kernel runs."""

cimport cython
from cpython.buffer cimport (
    PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport UINT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from blockpack._native.status cimport BP_NO_SPACE, check

from blockpack.errors import LimitError

cdef extern from "Python.h":
    ctypedef struct PyObject
    PyObject *new_bytes "PyBytes_FromStringAndSize"(const char *data, Py_ssize_t size) except NULL
    char *bytes_start "PyBytes_AS_STRING"(PyObject *value)
    int _PyBytes_Resize(PyObject **value, Py_ssize_t size) except -1
    int hold_nothing "PyBuffer_FillInfo"(Py_buffer *view, PyObject *owner, void *data,
                                         Py_ssize_t size, int readonly, int flags) except -1
    void Py_XDECREF(PyObject *value)

cdef extern from "s2/s2.h" nogil:
    cdef enum bp_s2_tier:
        BP_S2_FASTEST
        BP_S2_BETTER
        BP_S2_BEST
    uint64_t BP_S2_SIZE_MAX
    int64_t bp_s2_decoded_size(const uint8_t *source, size_t source_size, uint64_t *decoded_size)
    int64_t bp_s2_decode_after(const uint8_t *prefix, size_t prefix_size, const uint8_t *source,
                               size_t source_size, uint8_t *target, size_t target_size,
                               uint64_t stop, size_t *position)
    uint64_t bp_s2_encode_bound(uint64_t size)
    size_t bp_s2_scratch_size(bp_s2_tier tier, uint64_t size)
    int64_t bp_s2_encode(bp_s2_tier tier, const uint8_t *source, size_t source_size,
                         uint8_t *target, size_t target_size, void *scratch, size_t scratch_size)
    size_t bp_s2_prefix_tables_size(bp_s2_tier tier, uint64_t prefix_size)
    int64_t bp_s2_prefix_note(bp_s2_tier tier, const uint8_t *prefix, size_t prefix_size,
                              void *tables, size_t tables_size)
    int64_t bp_s2_encode_after(bp_s2_tier tier, const uint8_t *stream, size_t prefix_size,
                               size_t source_size, const void *tables, uint8_t *target,
                               size_t target_size, void *scratch, size_t scratch_size)

TIERS = ("fastest", "better", "best")
SIZE_MAX = BP_S2_SIZE_MAX


cdef bp_s2_tier tier_of(str tier) except <bp_s2_tier>-1:
    if tier == "fastest":
        return BP_S2_FASTEST
    if tier == "better":
        return BP_S2_BETTER
    if tier == "best":
        return BP_S2_BEST
    raise ValueError(f"S2 has the tiers {', '.join(TIERS)}, not {tier!r}")


cdef uint64_t bound_of(uint64_t size) except 0:
    cdef uint64_t bound = bp_s2_encode_bound(size)
    if bound == 0:
        raise LimitError(f"an S2 block holds at most {SIZE_MAX} bytes, not {size}")
    return bound


cdef int64_t encode(bp_s2_tier tier, Py_buffer *source, uint8_t *target,
                    uint64_t target_size) except -1:
    cdef size_t scratch_size = bp_s2_scratch_size(tier, source.len)
    cdef void *scratch = PyMem_RawMalloc(scratch_size)
    cdef int64_t size
    if scratch == NULL:
        raise MemoryError(f"no {scratch_size} bytes for the S2 encoder's tables")
    with nogil:
        size = bp_s2_encode(tier, <const uint8_t *>source.buf, source.len, target, target_size,
                            scratch, scratch_size)
    PyMem_RawFree(scratch)
    return check(size, "S2 input")


cdef int hold_prefix(prefix, Py_buffer *view) except -1:
    """Pin a prefix, or nothing for None; PyBuffer_Release is right for both."""
    if prefix is None:
        return hold_nothing(view, NULL, NULL, 0, 1, PyBUF_SIMPLE)
    PyObject_GetBuffer(prefix, view, PyBUF_SIMPLE)
    return 0


cdef int64_t decode(Py_buffer *prefix, Py_buffer *source, uint8_t *target, uint64_t target_size,
                    uint64_t stop) except -1:
    cdef int64_t size
    cdef size_t position = 0
    with nogil:
        size = bp_s2_decode_after(<const uint8_t *>prefix.buf, prefix.len,
                                  <const uint8_t *>source.buf, source.len, target, target_size,
                                  stop, &position)
    return check(size, "S2 block", <int64_t>position)


cdef int64_t declared(Py_buffer *source) except -1:
    cdef uint64_t size = 0
    check(bp_s2_decoded_size(<const uint8_t *>source.buf, source.len, &size), "S2 block", 0)
    return <int64_t>size


cdef uint64_t declared_within(Py_buffer *source, uint64_t max_size) except? 0xffffffffffffffff:
    cdef uint64_t size = declared(source)
    if size > max_size:
        raise LimitError(f"S2 block declares {size} bytes, over the limit of {max_size}")
    return size


cdef bytes decode_new(Py_buffer *prefix, Py_buffer *source, uint64_t start, uint64_t stop):
    """Bytes [start, stop) of a block as a new object. REQUIRES: both within its declared size."""
    cdef uint8_t *scratch
    if start == 0:
        result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>stop)
        decode(prefix, source, <uint8_t *>PyBytes_AS_STRING(result), stop, stop)
        return result
    scratch = <uint8_t *>PyMem_RawMalloc(stop)
    if scratch == NULL:
        raise MemoryError(f"no {stop} bytes to decode an S2 block into")
    try:
        decode(prefix, source, scratch, stop, stop)
        return PyBytes_FromStringAndSize(<char *>scratch + start, <Py_ssize_t>(stop - start))
    finally:
        PyMem_RawFree(scratch)


cdef bytes decode_range(source, uint64_t start, uint64_t stop, uint64_t max_size, prefix):
    cdef Py_buffer view, before
    cdef uint64_t size
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    try:
        hold_prefix(prefix, &before)
        try:
            size = declared_within(&view, max_size)
            stop = min(stop, size)
            return decode_new(&before, &view, min(start, stop), stop)
        finally:
            PyBuffer_Release(&before)
    finally:
        PyBuffer_Release(&view)


def compress_bound(uint64_t size):
    """Bytes of target that ``compress_into`` asks for, for ``size`` bytes of source."""
    return bound_of(size)


def compress(source, str tier="fastest"):
    """Compress to one S2 block.

    ``tier`` is "fastest", "better" or "best". The same source and tier give the same bytes on
    every machine. Any tier's block is decoded by every S2 decoder, but not by Snappy's.

    Raises LimitError for more than 4294967285 bytes, ValueError for an unknown tier.
    """
    cdef bp_s2_tier level = tier_of(tier)
    cdef PyObject *target = NULL
    cdef Py_buffer view
    cdef uint64_t bound
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    try:
        bound = bound_of(view.len)
        target = new_bytes(NULL, <Py_ssize_t>bound)
        size = encode(level, &view, <uint8_t *>bytes_start(target), bound)
        _PyBytes_Resize(&target, size)      # shrinks in place, so that nothing is copied
        return <bytes>target
    finally:
        Py_XDECREF(target)
        PyBuffer_Release(&view)


def compress_into(source, target, str tier="fastest"):
    """Compress to one S2 block at the start of a writable buffer; returns the block's size.

    ``target`` needs ``compress_bound(len(source))`` bytes, else ValueError. Bytes of it after
    the block may have changed. Source and target must not overlap.
    """
    cdef bp_s2_tier level = tier_of(tier)
    cdef Py_buffer view, output
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    try:
        bound_of(view.len)
        PyObject_GetBuffer(target, &output, PyBUF_SIMPLE | PyBUF_WRITABLE)
        try:
            return encode(level, &view, <uint8_t *>output.buf, output.len)
        finally:
            PyBuffer_Release(&output)
    finally:
        PyBuffer_Release(&view)


def decompressed_size(source):
    """The size in bytes that a block's header declares; the block itself is not checked."""
    cdef Py_buffer view
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    try:
        return declared(&view)
    finally:
        PyBuffer_Release(&view)


def decompress(source, uint64_t max_size, prefix=None):
    """Decode a block, S2 or raw Snappy, checking it to its last byte.

    ``prefix`` is the bytes that the block was encoded after, if any; they are read in place. A
    wrong prefix is not noticed unless the block refers back to before its start.

    Raises LimitError before anything is allocated when the block declares more than ``max_size``
    bytes, and CorruptError, with the offset in ``source``, when it is not valid.
    """
    return decode_range(source, 0, UINT64_MAX, max_size, prefix)


def decompress_until(source, uint64_t stop, uint64_t max_size, prefix=None):
    """Decode a block's first ``stop`` bytes and no further; all of it when it has fewer.

    What follows the operation that completes byte ``stop`` is not checked. ``prefix`` and the
    errors are those of ``decompress``; ``max_size`` limits the block's declared size, not ``stop``.
    """
    return decode_range(source, 0, stop, max_size, prefix)


def decompress_range(source, uint64_t start, uint64_t stop, uint64_t max_size, prefix=None):
    """Return bytes ``start`` to ``stop`` of what a block decodes to, cut at its end like a slice.

    Decoding starts at byte 0 and ends with the operation that completes the range; the rest is as
    for ``decompress_until``. Bytes before the range are decoded into memory that is given back.
    """
    return decode_range(source, start, stop, max_size, prefix)


def decompress_into(source, target, prefix=None):
    """Decode a block into the start of a writable buffer; returns the decoded size.

    Raises ValueError when the target is smaller than the block's declared size; bytes of it after
    the decoded ones may have changed. Neither source nor prefix may overlap the target.
    """
    cdef Py_buffer view, before, output
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    try:
        hold_prefix(prefix, &before)
        try:
            PyObject_GetBuffer(target, &output, PyBUF_SIMPLE | PyBUF_WRITABLE)
            try:
                return decode(&before, &view, <uint8_t *>output.buf, output.len, UINT64_MAX)
            finally:
                PyBuffer_Release(&output)
        finally:
            PyBuffer_Release(&before)
    finally:
        PyBuffer_Release(&view)


@cython.final
cdef class Prefix:
    """Bytes that come before every block: what repeats them is not stored in the blocks again.

    ``compress(source)`` gives blocks of ``tier`` and ``decompress(block, max_size)`` takes them;
    they say nothing of their prefix, and another one gives other bytes without an error. What is
    needed to compress is made at the first call, in 1 to 7 times the memory of the prefix. For
    many threads. Raises LimitError above 4294967285 bytes, ValueError for an unknown tier.
    """

    cdef readonly bytes content
    cdef readonly str tier
    cdef bp_s2_tier level
    cdef void *tables        # NULL until the first compress
    cdef uint8_t *stream     # the prefix and room for a source behind it; NULL while in use
    cdef uint64_t room

    def __cinit__(self, content, str tier="better"):
        self.level = tier_of(tier)
        self.tier = tier
        self.content = bytes(content)
        bound_of(len(self.content))

    def __dealloc__(self):
        PyMem_RawFree(self.tables)
        PyMem_RawFree(self.stream)

    def compress(self, source):
        """Compress to one S2 block that follows the prefix; errors as of ``compress``."""
        cdef PyObject *target = NULL
        cdef Py_buffer view
        cdef uint64_t bound
        self.prepare()
        PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
        try:
            bound = bound_of(view.len)
            target = new_bytes(NULL, <Py_ssize_t>bound)
            size = self.encode(&view, <uint8_t *>bytes_start(target), bound)
            _PyBytes_Resize(&target, size)
            return <bytes>target
        finally:
            Py_XDECREF(target)
            PyBuffer_Release(&view)

    def decompress(self, block, uint64_t max_size):
        """Decode a block that ``compress`` made; as ``decompress`` with this prefix."""
        return decode_range(block, 0, UINT64_MAX, max_size, self.content)

    cdef int prepare(self) except -1:
        cdef size_t size = bp_s2_prefix_tables_size(self.level, len(self.content))
        cdef const uint8_t *prefix = <const uint8_t *>PyBytes_AS_STRING(self.content)
        cdef size_t prefix_size = len(self.content)
        cdef void *tables
        cdef int64_t status
        if self.tables != NULL:
            return 0
        tables = PyMem_RawMalloc(size)
        if tables == NULL:
            raise MemoryError(f"no {size} bytes for the tables of an S2 prefix")
        with nogil:
            status = bp_s2_prefix_note(self.level, prefix, prefix_size, tables, size)
        if self.tables == NULL:    # another thread may have been faster
            self.tables, tables = tables, NULL
        PyMem_RawFree(tables)
        return check(status, "S2 prefix")

    cdef int64_t encode(self, Py_buffer *source, uint8_t *target, uint64_t target_size) except -1:
        cdef size_t prefix_size = len(self.content)
        cdef size_t scratch_size = bp_s2_scratch_size(self.level, source.len)
        cdef uint64_t room = source.len
        cdef uint8_t *stream = self.stream
        cdef void *scratch
        cdef int64_t size
        self.stream = NULL    # two threads have one each
        if stream == NULL or self.room < room:
            PyMem_RawFree(stream)
            stream = <uint8_t *>PyMem_RawMalloc(prefix_size + room)
            if stream == NULL:
                raise MemoryError(f"no {prefix_size + room} bytes for an S2 prefix and its block")
            memcpy(stream, PyBytes_AS_STRING(self.content), prefix_size)
        else:
            room = self.room
        scratch = PyMem_RawMalloc(scratch_size)
        if scratch == NULL:
            PyMem_RawFree(stream)
            raise MemoryError(f"no {scratch_size} bytes for the S2 encoder's tables")
        with nogil:
            memcpy(stream + prefix_size, source.buf, source.len)
            size = bp_s2_encode_after(self.level, stream, prefix_size, source.len, self.tables,
                                      target, target_size, scratch, scratch_size)
        PyMem_RawFree(scratch)
        if self.stream == NULL:
            self.stream, self.room = stream, room
        else:
            PyMem_RawFree(stream)
        return check(size, "S2 input")


cdef class _Filling:
    """Exports a bytes object for writing, and counts who still can."""

    cdef bytes content
    cdef Py_ssize_t exports

    def __cinit__(self, Py_ssize_t size):
        self.content = PyBytes_FromStringAndSize(NULL, size)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, PyBytes_AS_STRING(self.content), len(self.content), 0, flags)
        self.exports += 1

    def __releasebuffer__(self, Py_buffer *view):
        self.exports -= 1


def filled(Py_ssize_t size, fill):
    """A new bytes object whose memory ``fill`` writes, through a view that it may not keep.

    For content that is decoded in parts: joining them costs a copy and, above 128 KB a part, as
    many page faults again. The caller sees to it that all of the view is written.
    """
    cdef _Filling target = _Filling(size)
    with memoryview(target) as view:
        fill(view)
    if target.exports:
        raise BufferError("a view of bytes that may not change any more was kept")
    return target.content
