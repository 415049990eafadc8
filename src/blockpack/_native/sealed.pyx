"""Single reads of sealed segments: from a number to its segments, and on to its records.

In Cython because all of it runs for every block that a caller reads, between inflations, when
none of it is in the processor's caches: as Python it cost 2.5 us of a read of 60.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint64_t

from blockpack._native.frames cimport FrameReader
from blockpack._native.group cimport Group

from blockpack.errors import ClosedError


cdef class SealedReader:
    """What a read needs of a segment that is open: its frames, or none once it is closed.

    A subclass has ``_extract(frames, number)``: the record as bytes, or None when it is absent,
    for frames of which it pays to inflate a part.
    """

    cdef readonly str path
    cdef FrameReader c_frames
    cdef public bint used    # set by each read through Segments, cleared by who counts them

    def __init__(self, str path not None, FrameReader frames not None):
        self.path = path
        self.c_frames = frames

    @property
    def frames(self):
        """The frames; ClosedError once it is closed. A read that has them runs to its end."""
        if self.c_frames is None:
            raise ClosedError(f"{self.path}: the segment was closed")
        return self.c_frames

    cpdef object record(self, number):
        """The record as bytes of its own; None when it is absent.

        From the cache if its group is there. Otherwise the first read in a group inflates only
        up to the record, and the second one in a short while inflates and keeps the whole group.
        """
        cdef Py_ssize_t i = 0
        cdef FrameReader frames = self.c_frames or self.frames
        cdef Group group = frames.find(number, &i)
        return self._extract(frames, number) if group is None else group.record(i)

    cpdef object view(self, number):
        """The record as a read-only view, or None when it is absent; as ``record``.

        It keeps alive what it views: the whole group, if that was inflated; copies nothing.
        """
        cdef Py_ssize_t i = 0
        cdef FrameReader frames = self.c_frames or self.frames
        cdef Group group = frames.find(number, &i)
        if group is not None:
            return group.view(i)
        record = self._extract(frames, number)
        return None if record is None else memoryview(record)

    def close(self):
        """Let go of the file and of this segment's cached groups; views stay valid."""
        cdef FrameReader frames = self.c_frames
        self.c_frames = None
        if frames is not None:
            frames.forget()


@cython.final
cdef class SealedSegments:
    """The segments of one state of a store, in number order, each with a file for each table.

    ``firsts`` are their first numbers and ``keys`` what the keys of their readers start from:
    key + table in ``ready``, a dict of readers that others fill and empty. Where it has none,
    ``open(at, table)`` returns one, or None where segment number ``at`` has no such file.
    """

    cdef uint64_t *c_firsts
    cdef uint64_t *c_keys
    cdef Py_ssize_t count
    cdef dict ready
    cdef object open

    def __cinit__(self, list firsts not None, list keys not None, dict ready not None, open):
        cdef Py_ssize_t i
        self.count = len(firsts)
        if len(keys) != self.count:
            raise ValueError(f"{self.count} segments with {len(keys)} keys")
        self.ready = ready
        self.open = open
        self.c_firsts = <uint64_t *>PyMem_Malloc((2 * self.count + 1) * sizeof(uint64_t))
        if self.c_firsts is NULL:
            raise MemoryError()
        self.c_keys = self.c_firsts + self.count
        for i in range(self.count):
            self.c_firsts[i] = firsts[i]
            self.c_keys[i] = keys[i]

    def __dealloc__(self):
        PyMem_Free(self.c_firsts)

    def __len__(self):
        return self.count

    def at(self, uint64_t number):
        """The last segment that starts at this number or before; -1: none does."""
        return self.find(number)

    def record(self, unsigned char table, number):
        """As SealedReader.record; None too where the segment has no file of the table."""
        cdef SealedReader reader = self.reader(self.find(number), table)
        return None if reader is None else reader.record(number)

    def view(self, unsigned char table, number):
        """As SealedReader.view; None too where the segment has no file of the table."""
        cdef SealedReader reader = self.reader(self.find(number), table)
        return None if reader is None else reader.view(number)

    def views(self, tables, number):
        """As ``view``, of several tables, in a list."""
        cdef Py_ssize_t at = self.find(number)
        cdef SealedReader reader
        cdef list found = []
        for table in tables:
            reader = self.reader(at, table)
            found.append(None if reader is None else reader.view(number))
        return found

    cdef Py_ssize_t find(self, uint64_t number) noexcept:
        cdef Py_ssize_t low = 0, high = self.count, middle
        while low < high:
            middle = (low + high) // 2
            if self.c_firsts[middle] <= number:
                low = middle + 1
            else:
                high = middle
        return low - 1

    cdef SealedReader reader(self, Py_ssize_t at, unsigned char table):
        if at < 0:
            raise IndexError("a number before the first segment")
        found = self.ready.get(self.c_keys[at] + table)
        if found is None:
            return self.open(at, table)
        cdef SealedReader reader = found
        reader.used = True
        return reader
