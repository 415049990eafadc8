"""The group cache, for other modules here."""

from libc.stdint cimport uint64_t

cdef class _Entry:
    cdef object key
    cdef object group
    cdef Py_ssize_t size
    cdef _Entry older
    cdef _Entry newer

cdef class GroupCache:
    cdef dict entries       # key -> _Entry
    cdef dict largest       # table -> bytes of its largest group
    cdef dict touched       # key -> None, oldest first
    cdef _Entry ring        # head: newer is the oldest entry, older the newest
    cdef bint fixed         # a budget was given
    cdef Py_ssize_t limit
    cdef uint64_t bases
    cdef readonly Py_ssize_t nbytes

    cpdef object get(self, object key)
    cpdef bint touched_before(self, object key) except -1
    cpdef object make_room(self, object table)
    cpdef object put(self, object key, object table, object group)
    cdef int remove(self, _Entry entry) except -1
    cdef void link(self, _Entry entry)
    cdef void unlink(self, _Entry entry)
