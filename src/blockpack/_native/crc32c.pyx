"""CRC-32C (ext/hash/crc32c.h), the GIL off while it runs."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint32_t

cdef extern from "hash/crc32c.h" nogil:
    uint32_t bp_crc32c(uint32_t crc, const uint8_t *data, size_t size)
    uint32_t bp_crc32c_table(uint32_t crc, const uint8_t *data, size_t size)


cdef uint32_t checksum(data, uint32_t crc, bint by_table) except? 0:
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    with nogil:
        if by_table:
            crc = bp_crc32c_table(crc, <const uint8_t *>view.buf, view.len)
        else:
            crc = bp_crc32c(crc, <const uint8_t *>view.buf, view.len)
    PyBuffer_Release(&view)
    return crc


def crc32c(data, uint32_t crc=0):
    """Checksum of any contiguous buffer, going on from that of the bytes before it."""
    return checksum(data, crc, False)


def crc32c_table(data, uint32_t crc=0):
    """As ``crc32c``, never with the processor's own instruction."""
    return checksum(data, crc, True)


def masked(data):
    """Checksum as streams of S2 and Snappy store it: rotated and shifted, for data with CRCs."""
    cdef uint32_t crc = checksum(data, 0, False)
    return <uint32_t>((crc >> 15 | crc << 17) + <uint32_t>0xa282ead8)
