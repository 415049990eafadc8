"""A frame's inflated content, for other modules here."""

from libc.stdint cimport uint8_t, uint32_t

cdef class Group:
    cdef Py_buffer c_buffer      # over content
    cdef uint32_t *c_ends        # one a record: where it ends, with BP_GROUP_ABSENT
    cdef uint32_t *c_starts      # where it starts; NULL: where the one before it ends
    cdef Py_ssize_t count        # records
    cdef readonly uint32_t table_size
    cdef readonly Py_ssize_t decoded_size
    cdef readonly object content
    cdef object window           # memoryview over content, made at the first view
    cdef uint8_t *c_follows      # of a content without its links; NULL: it had them all
    cdef Py_ssize_t linked       # records whose links are there again

    cdef int link(self, Py_ssize_t stop) except -1

    cdef int locate(self, Py_ssize_t i, Py_ssize_t *start, Py_ssize_t *end) except -1
    cdef int locate_here(self, Py_ssize_t i, Py_ssize_t *start, Py_ssize_t *end) except -1
    cpdef object view(self, Py_ssize_t i)
    cpdef object record(self, Py_ssize_t i)

cdef class Gathering:
    cdef Group group
    cdef Arena arena

    cdef int take(self, Group source, Py_ssize_t i, Py_ssize_t place) except -1
    cdef Group done(self)

cdef class Arena:
    cdef uint8_t *c_data
    cdef Py_ssize_t size         # bytes in use
    cdef Py_ssize_t capacity

    cdef int append(self, const uint8_t *data, Py_ssize_t size) except -1
    cdef int extend(self, Py_ssize_t size) except -1
