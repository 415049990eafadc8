"""Where a block's parts are: the range decoder of ext/rlp for Python.

Every function takes any contiguous buffer, copies nothing but the 32 bytes of a parent hash, and
gives offsets from the start of that buffer. CorruptError carries the offset of the item at fault.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from blockpack._native.rlpc cimport (
    BP_RLP_PREFIX_SIZE_MAX, bp_rlp_announced, bp_rlp_block, bp_rlp_block_at, bp_rlp_count,
    bp_rlp_cursor, bp_rlp_fault, bp_rlp_header, bp_rlp_header_at, bp_rlp_item, bp_rlp_item_at,
    bp_rlp_list_prefix, bp_rlp_next, check_fault,
)
from blockpack._native.status cimport BP_OUT_OF_RANGE, BP_TOO_LARGE, BP_TRAILING, check

# The GIL is kept: a 90 KB block takes 1 us. Letting go of the GIL for 2 us beside a thread that
# computes in Python made a call take 13 us, since the other thread may win it. Only what no real
# block reaches is split without it: 1 GiB of one-byte items takes seconds.
cdef enum:
    GIL_FREE_SIZE_MIN = 4 << 20

# A record may be 1 GiB, a block's records then a little more than that together.
BLOCK_SIZE_MAX = 1 << 30

cdef int check_offset(const Py_buffer *view, Py_ssize_t offset) except -1:
    if offset < 0 or offset > view.len:
        check(BP_OUT_OF_RANGE, f"buffer of {view.len} bytes", offset)
    return 0


@cython.auto_pickle(False)
cdef class HeaderFields:
    """What the store needs of a block header: ``number``, ``parent_hash``, ``timestamp``."""

    cdef readonly uint64_t number
    cdef readonly uint64_t timestamp
    cdef uint8_t c_parent_hash[32]

    def __init__(self):
        raise TypeError("made by header_fields and split_block alone")

    @property
    def parent_hash(self):
        """32 bytes."""
        return PyBytes_FromStringAndSize(<const char *>self.c_parent_hash, 32)

    cdef void take(self, const uint8_t *data, const bp_rlp_header *header) noexcept:
        self.number = header.number
        self.timestamp = header.timestamp
        memcpy(self.c_parent_hash, data + header.parent_hash, 32)


@cython.auto_pickle(False)
@cython.final
cdef class BlockSpans(HeaderFields):
    """Where a block's records are: header_start..header_end, and header_end..end for the body.

    Offsets in bytes from the start of the buffer that was split. ``chain_id`` is -1 where no
    transaction of the block carries one.
    """

    cdef readonly uint64_t header_start
    cdef readonly uint64_t header_end
    cdef readonly uint64_t end
    cdef readonly int64_t chain_id


def split_block(data, Py_ssize_t offset=0):
    """Return the BlockSpans of the block that begins at ``offset``; bytes may follow it.

    A block is a list of a header of at least 15 fields, a list of transactions, a list of uncles
    and whatever forks appended. Raises CorruptError, at the offset of the item at fault, unless
    outer list, header and both lists are canonical RLP filled exactly by their items. The chain
    id comes from the first transaction that carries one (EIP-155, or types 1 to 4).
    """
    cdef Py_buffer view
    cdef bp_rlp_block block
    cdef bp_rlp_fault fault
    cdef BlockSpans spans
    cdef int status
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        check_offset(&view, offset)
        if view.len - offset < GIL_FREE_SIZE_MIN:
            status = bp_rlp_block_at(<const uint8_t *>view.buf, offset, view.len, &block, &fault)
        else:
            with nogil:
                status = bp_rlp_block_at(<const uint8_t *>view.buf, offset, view.len, &block,
                                         &fault)
        check_fault(status, &fault)
        spans = BlockSpans.__new__(BlockSpans)
        spans.take(<const uint8_t *>view.buf, &block.header)
        spans.header_start = block.header.start
        spans.header_end = block.header.end
        spans.end = block.end
        spans.chain_id = <int64_t>block.chain_id if block.has_chain_id else -1
        return spans
    finally:
        PyBuffer_Release(&view)


def header_fields(header):
    """Return the HeaderFields of a header record: one list and nothing after it."""
    cdef Py_buffer view
    cdef bp_rlp_header found
    cdef bp_rlp_fault fault
    cdef HeaderFields fields
    PyObject_GetBuffer(header, &view, PyBUF_SIMPLE)
    try:
        check_fault(bp_rlp_header_at(<const uint8_t *>view.buf, 0, view.len, &found, &fault),
                    &fault)
        if found.end != <uint64_t>view.len:
            check(BP_TRAILING, "block header", <int64_t>found.end)
        fields = HeaderFields.__new__(HeaderFields)
        fields.take(<const uint8_t *>view.buf, &found)
        return fields
    finally:
        PyBuffer_Release(&view)


def block_size(data, Py_ssize_t offset=0, uint64_t limit=1 << 30):
    """Return the total size in bytes that the list at ``offset`` announces, complete or not.

    Where its prefix is incomplete, returns -k: at least k more bytes are needed to tell. Raises
    LimitError above ``limit``, CorruptError where no canonical list begins.
    """
    cdef Py_buffer view
    cdef uint64_t needed = 0
    cdef int64_t size
    if limit > BLOCK_SIZE_MAX:
        raise ValueError(f"limit {limit} is above {BLOCK_SIZE_MAX}")
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        check_offset(&view, offset)
        size = bp_rlp_announced(<const uint8_t *>view.buf + offset, view.len - offset, limit,
                                &needed)
        check(size, f"block (of at most {limit} bytes)", offset)
        return -<int64_t>needed if needed else size
    finally:
        PyBuffer_Release(&view)


def item_span(data, Py_ssize_t offset=0):
    """Return (start, end) of the payload of the item at ``offset``; bytes may follow it."""
    cdef Py_buffer view
    cdef bp_rlp_item item
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        check_offset(&view, offset)
        check(bp_rlp_item_at(<const uint8_t *>view.buf, offset, view.len, &item), "RLP item",
              offset)
        return item.payload, item.end
    finally:
        PyBuffer_Release(&view)


cdef list spans_in(const uint8_t *data, const bp_rlp_item *items, int64_t count):
    cdef list spans = PyList_New(count)
    cdef bp_rlp_cursor cursor
    cdef bp_rlp_item item
    cdef int64_t i
    cursor.data = data
    cursor.position = items.payload
    cursor.end = items.end
    for i in range(count):
        check(bp_rlp_next(&cursor, &item), "RLP item", <int64_t>cursor.position)
        span = (item.start, item.end)
        Py_INCREF(span)
        PyList_SET_ITEM(spans, i, span)
    return spans


def list_items(data, Py_ssize_t offset=0, int64_t items_max=1 << 20):
    """Return [(start, end), ...] of the items, with their prefixes, of the list at ``offset``.

    The items are counted before anything is allocated: LimitError above ``items_max``.
    """
    cdef Py_buffer view
    cdef bp_rlp_fault fault
    cdef bp_rlp_item items
    cdef int64_t count
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        check_offset(&view, offset)
        count = bp_rlp_count(<const uint8_t *>view.buf, offset, view.len, &fault)
        check_fault(count, &fault)
        if count > items_max:
            check(BP_TOO_LARGE, f"RLP list of {count} items (at most {items_max})", offset)
        check(bp_rlp_item_at(<const uint8_t *>view.buf, offset, view.len, &items), "RLP list",
              offset)
        return spans_in(<const uint8_t *>view.buf, &items, count)
    finally:
        PyBuffer_Release(&view)


def outer_prefix(uint64_t payload_size):
    """Return the canonical prefix, 1 to 9 bytes, of a list of ``payload_size`` bytes."""
    cdef uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]
    cdef int size = bp_rlp_list_prefix(payload_size, prefix)
    return PyBytes_FromStringAndSize(<const char *>prefix, size)


cdef bytes join(const Py_buffer *header, const Py_buffer *body):
    cdef uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]
    cdef int prefix_size = bp_rlp_list_prefix(<uint64_t>header.len + <uint64_t>body.len, prefix)
    cdef bytes block = PyBytes_FromStringAndSize(NULL, prefix_size + header.len + body.len)
    cdef char *target = PyBytes_AS_STRING(block)
    memcpy(target, prefix, prefix_size)
    memcpy(target + prefix_size, header.buf, header.len)
    memcpy(target + prefix_size + header.len, body.buf, body.len)
    return block


def join_block(header, body):
    """Return the block's RLP: undoes ``split_block``, byte for byte."""
    cdef Py_buffer header_view, body_view
    PyObject_GetBuffer(header, &header_view, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(body, &body_view, PyBUF_SIMPLE)
        try:
            return join(&header_view, &body_view)
        finally:
            PyBuffer_Release(&body_view)
    finally:
        PyBuffer_Release(&header_view)
