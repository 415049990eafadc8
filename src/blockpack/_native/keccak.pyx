"""Keccak-256, alone and for many inputs in one crossing with the GIL off."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport uint8_t, uint64_t

cdef extern from "hash/keccak.h" nogil:
    enum:
        BP_KECCAK256_SIZE
    void bp_keccak256(const uint8_t *data, uint64_t size, uint8_t *digest)

# Below this (about 40 us of work) one hash keeps the GIL: beside a thread that computes in Python,
# who lets go of it waits for it again, 1.5 ms a call on average where the work was 75 us.
cdef enum:
    GIL_FREE_SIZE_MIN = 16 << 10


def keccak256(data):
    """Return the 32-byte Keccak-256 of any contiguous buffer."""
    cdef Py_buffer view
    cdef bytes digest = PyBytes_FromStringAndSize(NULL, BP_KECCAK256_SIZE)
    cdef uint8_t *target = <uint8_t *>PyBytes_AS_STRING(digest)
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        if view.len < GIL_FREE_SIZE_MIN:
            bp_keccak256(<const uint8_t *>view.buf, view.len, target)
        else:
            with nogil:
                bp_keccak256(<const uint8_t *>view.buf, view.len, target)
        return digest
    finally:
        PyBuffer_Release(&view)


@cython.auto_pickle(False)
@cython.final
cdef class Buffers:
    """The buffers of a list, held together and released together; None has a NULL one."""

    def __cinit__(self, list items):
        self.views = NULL
        self.count = 0
        self.views = <Py_buffer *>PyMem_Calloc(len(items) or 1, sizeof(Py_buffer))
        if self.views == NULL:
            raise MemoryError()
        for item in items:
            if item is not None:
                PyObject_GetBuffer(item, &self.views[self.count], PyBUF_SIMPLE)
            self.count += 1

    def __dealloc__(self):
        for i in range(self.count):
            PyBuffer_Release(&self.views[i])    # nothing, for a view that was never filled
        PyMem_Free(self.views)


cdef void hash_all(const Py_buffer *views, Py_ssize_t count, uint8_t *digests) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        bp_keccak256(<const uint8_t *>views[i].buf, views[i].len, digests + BP_KECCAK256_SIZE * i)


def keccak256_many(items):
    """Return the Keccak-256 of each buffer of an iterable, as a list of 32 bytes each."""
    cdef list held = list(items)
    cdef Buffers buffers = Buffers(held)
    cdef Py_ssize_t count = buffers.count
    cdef bytes digests = PyBytes_FromStringAndSize(NULL, BP_KECCAK256_SIZE * count)
    cdef char *target = PyBytes_AS_STRING(digests)
    with nogil:
        hash_all(buffers.views, count, <uint8_t *>target)
    return [PyBytes_FromStringAndSize(target + BP_KECCAK256_SIZE * i, BP_KECCAK256_SIZE)
            for i in range(count)]
