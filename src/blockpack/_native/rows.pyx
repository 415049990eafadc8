"""Records of several tables side by side, number by number, out of their groups.

In Cython because it runs for every record of a range: as Python generators it cost 3 us a block,
beside 48 for the inflation of a dense one.
"""

cimport cython

from blockpack._native.group cimport Group


@cython.final
cdef class _Column:
    """Where one table stands."""

    cdef object groups      # __next__ of its (first, Group, lo, hi)
    cdef Group group        # None between groups
    cdef Py_ssize_t at
    cdef Py_ssize_t end

    cdef object following(self):
        cdef object found
        if self.group is None:
            _, self.group, self.at, self.end = self.groups()
        found = self.group.view(self.at)
        self.at += 1
        if self.at == self.end:
            self.group = None
        return found


@cython.final
cdef class Rows:
    """Iterates over tuples of views, None where a record is absent: one for each table.

    ``tables`` are iterators over (first number, Group, lo, hi) that cover the same numbers, as
    SegmentReader.groups gives them; a row ends the iteration when one of them has no more.

    A group is let go of with the last view into it, and nothing of a row is held when the next one
    is made, so that the next group can have its memory. Two groups at a time take a third more
    time with S2, for fresh pages. Not for two threads at once.
    """

    cdef list columns

    def __cinit__(self, tables):
        cdef _Column column
        self.columns = []
        for groups in tables:
            column = _Column.__new__(_Column)
            column.groups = iter(groups).__next__
            self.columns.append(column)

    def __iter__(self):
        return self

    def __next__(self):
        return tuple([(<_Column>column).following() for column in self.columns])
