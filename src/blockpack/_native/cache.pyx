"""Decoded groups in memory, least recently used out first, within a budget of bytes.

In Cython because every single read passes here: a lock and an ordered dictionary cost 1.2 us a
read, a tenth of what a 4 KB frame takes to inflate. Each method is one uninterrupted step under
the GIL, so there is no lock: keys are ints, and releasing a group runs no Python code.
"""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport uint64_t

# Touched frames that are remembered even while the cache is empty: one each of two tables.
cdef uint64_t TOUCHED_MIN = 2
# Places for touches, 64 KB. One that is overwritten is forgotten: a frame is then inflated once
# more. As a dict of keys they cost 1.2 us a read.
cdef enum: TOUCHES_LOG = 12


@cython.final
cdef class _Entry:
    """A cached group in the ring, or the ring's head."""


@cython.final
cdef class GroupCache:
    """Groups by key, shared by the readers of a store and safe for their threads.

    ``budget`` is in bytes of content and tables; None allows the largest group seen of each
    table, summed, so that a scan by single reads inflates each group once.
    """

    def __cinit__(self, budget=None):
        self.entries = {}
        self.largest = {}
        self.touches = <Touch *>PyMem_Calloc(1 << TOUCHES_LOG, sizeof(Touch))
        if self.touches is NULL:
            raise MemoryError()
        self.ring = _Entry.__new__(_Entry)
        self.ring.older = self.ring.newer = self.ring
        self.fixed = budget is not None
        self.limit = budget if budget is not None else 0
        if self.limit < 0:
            raise ValueError(f"a cache of {budget} bytes")

    def __dealloc__(self):
        PyMem_Free(self.touches)

    def __len__(self):
        return len(self.entries)

    @property
    def limit_bytes(self):
        """What the cache may hold now."""
        return self.limit

    def new_base(self):
        """Return a number that sets one reader's keys apart: key = base + frame (< 2^32)."""
        self.bases += 1
        return self.bases << 32

    cpdef object get(self, uint64_t key):
        """Return the group, as the most recently used one from now on, or None."""
        cdef object found = self.entries.get(key) if self.entries else None
        cdef _Entry entry
        if found is None:
            return None
        entry = <_Entry>found
        self.unlink(entry)
        self.link(entry)
        return entry.group

    cpdef bint touched_before(self, uint64_t key) noexcept:
        """Note a read in this frame; True when there was one a short while ago.

        How long depends on how many groups the cache holds: remembering many more would take a
        random read for a local one, and inflate a whole group for nothing.
        """
        # Multiplied by 2^64 / phi, near keys spread over all places.
        cdef Touch *touch = &self.touches[key * <uint64_t>0x9E3779B97F4A7C15 >> 64 - TOUCHES_LOG]
        cdef uint64_t kept = max(TOUCHED_MIN, <uint64_t>len(self.entries))
        cdef bint before = touch.time and touch.key == key and self.time - touch.time < kept
        # Reads of one frame in a row do not make the others older.
        if not before or touch.time != self.time:
            self.time += 1
        touch.key = key
        touch.time = self.time
        return before

    cpdef object put(self, uint64_t key, object table, object group):
        """Keep a whole group of ``table``, unless it is larger than the budget."""
        cdef Py_ssize_t size = group.nbytes
        cdef _Entry entry
        if not self.fixed and size > <Py_ssize_t>self.largest.get(table, 0):
            self.largest[table] = size
            self.limit = sum(self.largest.values())
        if size > self.limit or key in self.entries:
            return
        entry = _Entry.__new__(_Entry)
        entry.key = key
        entry.group = group
        entry.size = size
        self.entries[key] = entry
        self.link(entry)
        self.nbytes += size
        while self.nbytes > self.limit:
            self.remove(self.ring.newer)

    cpdef object make_room(self, object table):
        """Let go now of what the next group of ``table`` will push out.

        A group that stays until its successor is inflated is one more group in memory: 10 MB of
        the 30 that reading may take. Only without a given budget, where the groups of a table
        follow one another in one place; a cache of many groups does not notice one more.
        """
        cdef Py_ssize_t size
        if not self.fixed:
            size = self.largest.get(table, 0)
            while self.nbytes and self.nbytes + size > self.limit:
                self.remove(self.ring.newer)

    def drop(self, base):
        """Forget the groups of one reader."""
        cdef uint64_t reader = base
        cdef Py_ssize_t i
        for key in [key for key in self.entries if <uint64_t>key >> 32 == reader >> 32]:
            self.remove(<_Entry>self.entries[key])
        for i in range(1 << TOUCHES_LOG):
            if self.touches[i].key >> 32 == reader >> 32:
                self.touches[i].time = 0

    cdef int remove(self, _Entry entry) except -1:
        del self.entries[entry.key]
        self.unlink(entry)
        self.nbytes -= entry.size
        return 0

    cdef void link(self, _Entry entry):
        """Make it the newest."""
        entry.newer = self.ring
        entry.older = self.ring.older
        self.ring.older.newer = entry
        self.ring.older = entry

    cdef void unlink(self, _Entry entry):
        entry.older.newer = entry.newer
        entry.newer.older = entry.older
        # An entry that keeps its neighbours would keep their groups.
        entry.older = entry.newer = None
