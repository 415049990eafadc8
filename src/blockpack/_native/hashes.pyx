"""The hash index of a segment: which of its records have a Keccak-256 (ext/hashes/hashes.h)."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t

from blockpack._native.keccak cimport Buffers
from blockpack._native.status cimport check

cdef extern from "hash/keccak.h" nogil:
    enum:
        BP_KECCAK256_SIZE
    void bp_keccak256(const uint8_t *data, uint64_t size, uint8_t *digest)

cdef extern from "hashes/hashes.h" nogil:
    cdef struct bp_hashed:
        uint64_t key
        uint64_t ordinal
    uint64_t bp_hashes_size(uint64_t count, uint64_t records)
    void bp_hashes_build(const bp_hashed *entries, uint64_t count, uint64_t records,
                         uint8_t *target)
    int64_t bp_hashes_check(const uint8_t *data, uint64_t size, uint64_t records)
    bint bp_hashes_find(const uint8_t *data, uint64_t key, uint64_t nth, uint64_t *ordinal)


cdef uint64_t key_of(const uint8_t *digest) noexcept nogil:
    cdef uint64_t key = 0
    for i in range(8):
        key = key << 8 | digest[i]
    return key


cdef uint64_t hash_present(const Py_buffer *views, Py_ssize_t count, uint64_t ordinal,
                           bp_hashed *entries) noexcept nogil:
    """Hashes what is present, and returns how many that were."""
    cdef uint8_t digest[BP_KECCAK256_SIZE]
    cdef uint64_t made = 0
    cdef Py_ssize_t i
    for i in range(count):
        if views[i].buf != NULL:
            bp_keccak256(<const uint8_t *>views[i].buf, views[i].len, digest)
            entries[made].key = key_of(digest)
            entries[made].ordinal = ordinal + i
            made += 1
    return made


def hash_records(records, uint64_t ordinal):
    """The entries of records of which the first has this ordinal, for ``build``; None is absent."""
    cdef Buffers buffers = Buffers(list(records))
    cdef Py_ssize_t count = buffers.count
    cdef bytes entries = PyBytes_FromStringAndSize(NULL, count * sizeof(bp_hashed))
    cdef bp_hashed *target = <bp_hashed *>PyBytes_AS_STRING(entries)
    cdef uint64_t made
    with nogil:
        made = hash_present(buffers.views, count, ordinal, target)
    return entries[:made * sizeof(bp_hashed)]


def build(entries, uint64_t records):
    """The index of a segment of so many records, from the entries of all that are present.

    ``entries`` are what ``hash_records`` gave, one after the other in their order.
    """
    cdef Py_buffer view
    cdef bytes index
    cdef uint8_t *target
    cdef uint64_t count
    PyObject_GetBuffer(entries, &view, PyBUF_SIMPLE)
    try:
        count = view.len // sizeof(bp_hashed)
        if view.len % sizeof(bp_hashed) or not count <= records <= 0xFFFFFFFF:
            raise ValueError(f"{view.len} bytes of entries for {records} records")
        index = PyBytes_FromStringAndSize(NULL, bp_hashes_size(count, records))
        target = <uint8_t *>PyBytes_AS_STRING(index)
        with nogil:
            bp_hashes_build(<const bp_hashed *>view.buf, count, records, target)
        return index
    finally:
        PyBuffer_Release(&view)


@cython.final
cdef class HashIndex:
    """Finds ordinals by hash in the bytes of an index, which it holds on to.

    All of it is checked once, here: CorruptError, IndexError for an ordinal of a larger segment.
    """

    cdef Py_buffer c_view

    def __cinit__(self, index, uint64_t records):
        cdef int64_t status
        PyObject_GetBuffer(index, &self.c_view, PyBUF_SIMPLE)
        if records > 0xFFFFFFFF:
            raise ValueError(f"an index of {records} records")
        with nogil:
            status = bp_hashes_check(<const uint8_t *>self.c_view.buf, self.c_view.len, records)
        check(status, "hash index")

    def __dealloc__(self):
        PyBuffer_Release(&self.c_view)

    def find(self, digest):
        """Ordinals, rising, of all records that may have this Keccak-256, a bytes of 32."""
        if len(digest) != BP_KECCAK256_SIZE:
            raise ValueError(f"a hash has {BP_KECCAK256_SIZE} bytes, not {len(digest)}")
        cdef bytes held = bytes(digest)
        cdef uint64_t key = key_of(<const uint8_t *>PyBytes_AS_STRING(held))
        cdef uint64_t ordinal = 0, nth = 0
        found = []
        while bp_hashes_find(<const uint8_t *>self.c_view.buf, key, nth, &ordinal):
            found.append(ordinal)
            nth += 1
        return found
