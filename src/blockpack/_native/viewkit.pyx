"""What every view is made of: the bytes it looks into, and how it reads a field of them.

Views take their block's bytes as they are and complain when a field is touched that is not what it
must be, with the block's number and the offset in the block.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t

from blockpack._native.rlpc cimport (
    BP_RLP_LENIENT,
    bp_rlp_cursor,
    bp_rlp_fault,
    bp_rlp_header,
    bp_rlp_header_at,
    bp_rlp_item,
    bp_rlp_read,
    bp_rlp_read_next,
)
from blockpack._native.status cimport (
    BP_BAD_INTEGER,
    BP_BAD_WIDTH,
    BP_NOT_A_LIST,
    BP_NOT_A_STRING,
    BP_TRAILING,
    check,
)

cdef extern from "Python.h":
    object _PyLong_FromByteArray(const unsigned char *bytes, size_t n, int little, int signed)


@cython.final
@cython.no_gc
@cython.auto_pickle(False)
cdef class Source:
    """Bytes that views share, and which block they are of."""

    cdef int fail(self, int64_t status, str what, uint64_t offset) except -1:
        cdef bp_rlp_header found
        cdef bp_rlp_fault fault
        if self.header is not None and bp_rlp_header_at(
                <const uint8_t *>PyBytes_AS_STRING(self.header), 0, len(self.header), &found,
                &fault) == 0:
            what = f"block {found.number}: {what}"
        check(status, what, self.base + <int64_t>offset)
        return 0

    cdef object integer(self, const bp_rlp_item *item, int width, str what):
        """Big-endian, without leading zeros, in at most `width` bytes."""
        cdef const uint8_t *digits = <const uint8_t *>PyBytes_AS_STRING(self.data) + item.payload
        cdef uint64_t size = item.end - item.payload
        cdef uint64_t value = 0
        cdef uint64_t i
        if item.is_list:
            self.fail(BP_NOT_A_STRING, what, item.start)
        if size > <uint64_t>width or (size > 0 and digits[0] == 0):
            self.fail(BP_BAD_INTEGER, what, item.start)
        if size > 8:
            return _PyLong_FromByteArray(digits, size, 0, 0)
        for i in range(size):
            value = value << 8 | digits[i]
        return value

    cdef bytes fixed(self, const bp_rlp_item *item, int width, str what):
        if item.is_list:
            self.fail(BP_NOT_A_STRING, what, item.start)
        if item.end - item.payload != <uint64_t>width:
            self.fail(BP_BAD_WIDTH, what, item.start)
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.data) + item.payload, width)

    cdef bytes string(self, const bp_rlp_item *item, str what):
        if item.is_list:
            self.fail(BP_NOT_A_STRING, what, item.start)
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.data) + item.payload,
                                         item.end - item.payload)

    cdef int whole(self, uint64_t start, uint64_t end, bp_rlp_cursor *cursor, str what) except -1:
        """The items of the list that must fill data[start..end): a cursor for `step`."""
        cdef bp_rlp_item item
        cdef int status = bp_rlp_read(<const uint8_t *>PyBytes_AS_STRING(self.data), start, end,
                                      BP_RLP_LENIENT, &item)
        if status < 0 or not item.is_list or item.end != end:
            self.fail(status if status < 0 else BP_TRAILING if item.is_list else BP_NOT_A_LIST,
                      what, start)
        return self.enter(&item, cursor, what)

    cdef int enter(self, const bp_rlp_item *item, bp_rlp_cursor *cursor, str what) except -1:
        """The items of a list: a cursor for `step`."""
        if not item.is_list:
            self.fail(BP_NOT_A_LIST, what, item.start)
        cursor.data = <const uint8_t *>PyBytes_AS_STRING(self.data)
        cursor.position = item.payload
        cursor.end = item.end
        return 0

    cdef bint step(self, bp_rlp_cursor *cursor, bp_rlp_item *item, str what) except -1:
        """The next item; 0 at the end of the list."""
        cdef int status = bp_rlp_read_next(cursor, BP_RLP_LENIENT, item)
        if status < 0:
            self.fail(status, what, cursor.position)
        return status == 1


cdef Source source_of(bytes data, bytes header, int64_t base):
    cdef Source source = Source.__new__(Source)
    source.data = data
    source.header = header
    source.base = base
    return source


cdef bytes keccak(const uint8_t *data, uint64_t size):
    cdef bytes digest = PyBytes_FromStringAndSize(NULL, 32)
    bp_keccak256(data, size, <uint8_t *>PyBytes_AS_STRING(digest))
    return digest


cdef str quantity(value):
    """A number as JSON-RPC has it: hex without leading zeros."""
    return None if value is None else hex(value)


cdef str data_hex(value):
    """Bytes as JSON-RPC has them: two digits a byte."""
    return None if value is None else "0x" + (<bytes>value).hex()
