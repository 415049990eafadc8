"""A frame's inflated content, for other modules here."""

from libc.stdint cimport uint32_t

cdef class Group:
    cdef Py_buffer c_buffer      # over content
    cdef uint32_t *c_ends        # one a record: where it ends, with BP_GROUP_ABSENT
    cdef Py_ssize_t count        # records
    cdef readonly uint32_t table_size
    cdef readonly Py_ssize_t decoded_size
    cdef readonly object content
    cdef object window           # memoryview over content, made at the first view

    cdef int locate(self, Py_ssize_t i, Py_ssize_t *start, Py_ssize_t *end) except -1
    cdef int locate_here(self, Py_ssize_t i, Py_ssize_t *start, Py_ssize_t *end) except -1
    cpdef object view(self, Py_ssize_t i)
    cpdef object record(self, Py_ssize_t i)
