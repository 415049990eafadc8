"""The group cache, for other modules here."""

from libc.stdint cimport uint64_t

cdef struct Touch:
    uint64_t key
    uint64_t time       # 0: never

cdef class _Entry:
    cdef uint64_t key
    cdef object group
    cdef Py_ssize_t size
    cdef _Entry older
    cdef _Entry newer

cdef class GroupCache:
    cdef dict entries       # key -> _Entry
    cdef dict largest       # table -> bytes of its largest group
    cdef Touch *touches     # TOUCHES of them, each at its key's place
    cdef uint64_t time      # counts touches
    cdef _Entry ring        # head: newer is the oldest entry, older the newest
    cdef bint fixed         # a budget was given
    cdef Py_ssize_t limit
    cdef uint64_t bases
    cdef readonly Py_ssize_t nbytes

    cpdef object get(self, uint64_t key)
    cpdef bint touched_before(self, uint64_t key) noexcept
    cpdef object make_room(self, object table)
    cpdef object put(self, uint64_t key, object table, object group)
    cdef int remove(self, _Entry entry) except -1
    cdef void link(self, _Entry entry)
    cdef void unlink(self, _Entry entry)
