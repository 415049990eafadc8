"""The content of a frame: packing records into it and finding them again (ext/group/group.h)."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from blockpack._native.status cimport check

from blockpack.errors import CorruptError, LimitError

cdef extern from "group/group.h" nogil:
    const unsigned BP_GROUP_RECORDS_MAX
    const unsigned BP_GROUP_VARINT_MAX
    const uint64_t BP_RECORD_BYTES_MAX
    const uint64_t BP_RECORD_ABSENT
    const uint32_t BP_GROUP_ABSENT
    int64_t bp_group_size(const uint64_t *sizes, size_t count)
    int64_t bp_group_pack(const uint8_t *const *records, const uint64_t *sizes, size_t count,
                          uint8_t *target, uint64_t target_size)
    int64_t bp_group_read(const uint8_t *content, uint64_t available, size_t count,
                          uint64_t total, uint32_t *ends)

cdef extern from "links/links.h" nogil:
    const unsigned BP_LINK_BYTES
    struct bp_links:
        const uint32_t *ends
        const uint8_t *follows
        size_t count
        uint32_t table_size
    uint64_t bp_links_count(const bp_links *links, const uint8_t *content)
    uint64_t bp_links_expected(const bp_links *links)
    void bp_links_cut(const bp_links *links, const uint8_t *content, uint64_t size,
                      uint8_t *target)
    int64_t bp_links_expand(const bp_links *links, const uint8_t *source, uint8_t *target)
    void bp_links_fill(const bp_links *links, uint8_t *content, size_t start, size_t stop)

GROUP_RECORDS_MAX = BP_GROUP_RECORDS_MAX
GROUP_VARINT_MAX = BP_GROUP_VARINT_MAX
RECORD_BYTES_MAX = BP_RECORD_BYTES_MAX


@cython.final
cdef class _Pinned:
    """The buffers of a list of records, held for as long as a kernel reads them."""

    cdef Py_buffer *c_buffers
    cdef const uint8_t **c_records
    cdef uint64_t *c_sizes
    cdef Py_ssize_t count    # records
    cdef Py_ssize_t pinned   # c_buffers[0..pinned) were visited; an absent one has obj NULL

    def __cinit__(self, list records):
        self.c_buffers = NULL
        self.c_records = NULL
        self.c_sizes = NULL
        self.pinned = 0
        self.count = len(records)
        # Calloc: the buffer of an absent record is never filled, and releasing zeros is a no-op.
        self.c_buffers = <Py_buffer *>PyMem_Calloc(self.count + 1, sizeof(Py_buffer))
        self.c_records = <const uint8_t **>PyMem_Calloc(self.count + 1, sizeof(uint8_t *))
        self.c_sizes = <uint64_t *>PyMem_Calloc(self.count + 1, sizeof(uint64_t))
        if self.c_buffers is NULL or self.c_records is NULL or self.c_sizes is NULL:
            raise MemoryError()
        for record in records:
            self.pin(record)

    cdef int pin(self, object record) except -1:
        cdef Py_ssize_t i = self.pinned
        if record is None:
            self.c_sizes[i] = BP_RECORD_ABSENT
        else:
            PyObject_GetBuffer(record, &self.c_buffers[i], PyBUF_SIMPLE)
            self.c_records[i] = <const uint8_t *>self.c_buffers[i].buf
            self.c_sizes[i] = <uint64_t>self.c_buffers[i].len
        self.pinned += 1
        return 0

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.pinned):
            PyBuffer_Release(&self.c_buffers[i])
        PyMem_Free(self.c_buffers)
        PyMem_Free(self.c_records)
        PyMem_Free(self.c_sizes)


def pack(records):
    """Return the content of a frame that holds ``records``: buffers, or None for an absent one.

    Raises LimitError for a record above 1 GiB or more than 65,536 records, IndexError for none.
    """
    cdef _Pinned pinned = _Pinned(list(records))
    cdef int64_t size = check(bp_group_size(pinned.c_sizes, pinned.count), "group of records")
    cdef bytes content = PyBytes_FromStringAndSize(NULL, size)
    cdef uint8_t *target = <uint8_t *>PyBytes_AS_STRING(content)
    with nogil:
        size = bp_group_pack(pinned.c_records, pinned.c_sizes, pinned.count, target, size)
    check(size, "group of records")
    return content


def table_size_max(Py_ssize_t count):
    """Size in bytes of the longest length table of ``count`` records."""
    return BP_GROUP_VARINT_MAX * (count + 1)


@cython.final
cdef class Group:
    """A frame's content with its length table checked; holds on to the content's buffer.

    ``content`` may be the first part of it alone, once it holds the table; ``decoded_size`` is
    then the size of the whole (by default the content is whole). Records that are not complete
    in it raise IndexError. Raises CorruptError where the table breaks the format.
    ``table_size`` is the offset in the content where the first record starts.
    """

    def __cinit__(self, content, Py_ssize_t count, Py_ssize_t decoded_size=-1):
        if content is None:    # empty: Gathering fills it
            return
        self.count = count
        self.content = content
        PyObject_GetBuffer(content, &self.c_buffer, PyBUF_SIMPLE)
        if count < 1 or count > <Py_ssize_t>BP_GROUP_RECORDS_MAX:
            raise IndexError(f"a group holds 1 to {BP_GROUP_RECORDS_MAX} records, not {count}")
        if decoded_size < 0:
            decoded_size = self.c_buffer.len
        self.decoded_size = decoded_size
        self.c_ends = <uint32_t *>PyMem_Malloc(count * sizeof(uint32_t))
        if self.c_ends is NULL:
            raise MemoryError()
        self.table_size = <uint32_t>check(
            bp_group_read(<const uint8_t *>self.c_buffer.buf, self.c_buffer.len, count,
                          decoded_size, self.c_ends), "group's length table", 0)

    def __dealloc__(self):
        PyMem_Free(self.c_ends)
        PyMem_Free(self.c_starts)
        PyMem_Free(self.c_follows)
        PyBuffer_Release(&self.c_buffer)

    def __len__(self):
        return self.count

    @property
    def nbytes(self):
        """Bytes of memory that the content and the table take."""
        return self.c_buffer.len + self.count * <Py_ssize_t>sizeof(uint32_t)

    cdef int locate(self, Py_ssize_t i, Py_ssize_t *start, Py_ssize_t *end) except -1:
        """Where record i is: 1, or 0 when it is absent."""
        if i < 0 or i >= self.count:
            raise IndexError(f"record {i} of a group of {self.count}")
        if self.c_ends[i] & BP_GROUP_ABSENT:
            return 0
        if self.c_starts is not NULL:
            start[0] = self.c_starts[i]
        else:
            start[0] = self.c_ends[i - 1] & ~BP_GROUP_ABSENT if i else self.table_size
        end[0] = self.c_ends[i]
        return 1

    cdef int locate_here(self, Py_ssize_t i, Py_ssize_t *start, Py_ssize_t *end) except -1:
        cdef int present = self.locate(i, start, end)
        if present and end[0] > self.c_buffer.len:
            raise IndexError(f"record {i} is past the part of the group that was inflated")
        if i >= self.linked and self.c_follows is not NULL:
            self.link(i + 1)
        return present

    cdef int link(self, Py_ssize_t stop) except -1:
        """Compute the links of the records before ``stop`` that are not there yet.

        1.4 us for each header: only as far as someone reads. Under the GIL, so that two threads do
        not work on the same ones; what was handed out before is not written again.
        """
        cdef bp_links links
        if self.c_follows is NULL or stop <= self.linked:
            return 0
        links.ends, links.follows = self.c_ends, self.c_follows
        links.count, links.table_size = self.count, self.table_size
        bp_links_fill(&links, <uint8_t *>self.c_buffer.buf, self.linked, stop)
        self.linked = stop
        return 0

    def span(self, Py_ssize_t i):
        """(start, end) of record i in the whole content, or None when it is absent."""
        cdef Py_ssize_t start = 0, end = 0
        return (start, end) if self.locate(i, &start, &end) else None

    def end(self, Py_ssize_t i):
        """Offset in the whole content where record i ends, absent or not."""
        if i < 0 or i >= self.count:
            raise IndexError(f"record {i} of a group of {self.count}")
        return self.c_ends[i] & ~BP_GROUP_ABSENT

    def views(self, Py_ssize_t start, Py_ssize_t stop, bint links=True):
        """Records start..stop-1 as ``view`` gives them, in one crossing.

        Without ``links``, those that were cut out are zeros, until someone else reads them.
        """
        cdef Py_ssize_t i
        cdef Py_ssize_t linked = self.linked
        if links:
            return [self.view(i) for i in range(start, stop)]
        self.linked = self.count
        try:
            return [self.view(i) for i in range(start, stop)]
        finally:
            self.linked = linked

    cpdef object view(self, Py_ssize_t i):
        """Record i as a memoryview that keeps the content alive, or None when it is absent."""
        cdef Py_ssize_t start = 0, end = 0
        if not self.locate_here(i, &start, &end):
            return None
        if self.window is None:
            self.window = memoryview(self.content)
        return self.window[start:end]

    cpdef object record(self, Py_ssize_t i):
        """Record i as bytes of its own, or None when it is absent."""
        cdef Py_ssize_t start = 0, end = 0
        if not self.locate_here(i, &start, &end):
            return None
        return PyBytes_FromStringAndSize(<char *>self.c_buffer.buf + start, end - start)


cdef int hold_follows(Group group, object follows) except -1:
    cdef Py_ssize_t i
    if len(follows) != group.count:
        raise ValueError(f"{len(follows)} of {group.count} records follow")
    group.c_follows = <uint8_t *>PyMem_Malloc(group.count)
    if group.c_follows is NULL:
        raise MemoryError()
    for i in range(group.count):
        group.c_follows[i] = i > 0 and bool(follows[i])
    return 0


def cut_links(content, follows):
    """The stored form of a frame's content in a lane of linked records (ext/links/links.h).

    ``follows`` says of each record whether its number is one above the one before. A varint comes
    first: how many links were cut out, 0 where one of them is not what could be computed again.
    """
    cdef Group group = Group(content, len(follows))
    cdef bp_links links
    cdef uint64_t count
    hold_follows(group, follows)
    links.ends, links.follows = group.c_ends, group.c_follows
    links.count, links.table_size = group.count, group.table_size
    with nogil:
        count = bp_links_count(&links, <const uint8_t *>group.c_buffer.buf)
    head = varint(count)
    if count == 0:
        return head + bytes(content)
    cdef uint64_t size = group.c_buffer.len - count * BP_LINK_BYTES
    cdef bytes stored = PyBytes_FromStringAndSize(NULL, len(head) + size)
    cdef uint8_t *target = <uint8_t *>PyBytes_AS_STRING(stored)
    memcpy(target, PyBytes_AS_STRING(head), len(head))
    bp_links_cut(&links, <const uint8_t *>group.c_buffer.buf, group.c_buffer.len,
                 target + len(head))
    return stored


def linked_group(stored, follows):
    """The group of what ``cut_links`` gave; links are computed when their record is read.

    Its ``decoded_size`` is that of the stored form. CorruptError where it is not of that form.
    """
    cdef Py_ssize_t count = len(follows), head = 0
    cdef Py_buffer view
    cdef bp_links links
    cdef Group group
    cdef Arena arena
    cdef uint64_t cut, size
    PyObject_GetBuffer(stored, &view, PyBUF_SIMPLE)
    try:
        cut = read_varint(<const uint8_t *>view.buf, view.len, &head)
        if cut == 0:
            group = Group(bytes(memoryview(stored)[head:]), count)
            group.decoded_size = view.len
            return group
        if cut >= <uint64_t>count:
            raise CorruptError(f"{cut} links are cut of {count} records")
        size = view.len - head + cut * BP_LINK_BYTES
        group = Group.__new__(Group, None, 0)
        group.count = count
        group.c_ends = <uint32_t *>PyMem_Malloc(count * sizeof(uint32_t))
        if group.c_ends is NULL:
            raise MemoryError()
        group.table_size = <uint32_t>check(
            bp_group_read(<const uint8_t *>view.buf + head, view.len - head, count, size,
                          group.c_ends), "group's length table", 0)
        hold_follows(group, follows)
        links.ends, links.follows = group.c_ends, group.c_follows
        links.count, links.table_size = group.count, group.table_size
        if bp_links_expected(&links) != cut:
            raise CorruptError("another number of links is cut than of records that follow",
                               expected=bp_links_expected(&links), found=cut)
        arena = Arena.__new__(Arena)
        arena.extend(size)
        check(bp_links_expand(&links, <const uint8_t *>view.buf + head, arena.c_data),
              "group without links", 0)
        group.content = arena
        PyObject_GetBuffer(arena, &group.c_buffer, PyBUF_SIMPLE)
        group.decoded_size = view.len
        return group
    finally:
        PyBuffer_Release(&view)


cdef bytes varint(uint64_t value):
    cdef bytearray digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7f | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


cdef uint64_t read_varint(const uint8_t *data, Py_ssize_t size, Py_ssize_t *end) except? 0:
    """A number below 2^21, in its shortest form."""
    cdef uint64_t value = 0
    cdef Py_ssize_t i
    for i in range(min(size, <Py_ssize_t>3)):
        value |= <uint64_t>(data[i] & 0x7f) << 7 * i
        if data[i] < 0x80:
            if i and data[i] == 0:
                break
            end[0] = i + 1
            return value
    raise CorruptError("group without links: no count of them")


@cython.final
cdef class Gathering:
    """Builds one group out of records of several, for a range that lies in many frames.

    Records are copied while their frame is in the processor's caches: 4 us for one of 90 KB, and
    the frames need not all be in memory at once. They may come in any order.
    """

    def __cinit__(self, Py_ssize_t count):
        cdef Group group = Group.__new__(Group, None, 0)
        if count < 1 or count > <Py_ssize_t>BP_GROUP_RECORDS_MAX:
            raise IndexError(f"a group holds 1 to {BP_GROUP_RECORDS_MAX} records, not {count}")
        group.c_ends = <uint32_t *>PyMem_Calloc(count, sizeof(uint32_t))
        group.c_starts = <uint32_t *>PyMem_Calloc(count, sizeof(uint32_t))
        if group.c_ends is NULL or group.c_starts is NULL:
            raise MemoryError()
        group.count = count
        self.group = group
        self.arena = Arena.__new__(Arena)

    cdef int take(self, Group source, Py_ssize_t i, Py_ssize_t place) except -1:
        """Copy record i of a group: it becomes record ``place`` of the new one."""
        cdef Py_ssize_t start = 0, end = 0
        cdef Py_ssize_t at = self.arena.size
        if not source.locate_here(i, &start, &end):
            self.group.c_starts[place] = <uint32_t>at
            self.group.c_ends[place] = <uint32_t>at | BP_GROUP_ABSENT
            return 0
        if at + (end - start) >= <Py_ssize_t>BP_GROUP_ABSENT:
            raise LimitError(f"records of one group take {at + (end - start)} bytes")
        self.arena.append(<const uint8_t *>source.c_buffer.buf + start, end - start)
        self.group.c_starts[place] = <uint32_t>at
        self.group.c_ends[place] = <uint32_t>self.arena.size
        return 0

    cdef Group done(self):
        """The group; nothing can be taken after."""
        cdef Group group = self.group
        group.content = self.arena
        PyObject_GetBuffer(self.arena, &group.c_buffer, PyBUF_SIMPLE)
        group.decoded_size = group.c_buffer.len
        self.group = None
        return group


@cython.final
cdef class Arena:
    """Memory that grows while it is filled, then a read-only buffer."""

    cdef int append(self, const uint8_t *data, Py_ssize_t size) except -1:
        cdef Py_ssize_t capacity
        cdef uint8_t *grown
        if size > self.capacity - self.size:
            # By half: moving pages is cheap for the sizes that matter, and few are left over.
            capacity = max(self.size + size, self.capacity + self.capacity // 2)
            grown = <uint8_t *>realloc(self.c_data, capacity)
            if grown is NULL:
                raise MemoryError()
            self.c_data = grown
            self.capacity = capacity
        if size:
            memcpy(self.c_data + self.size, data, size)
        self.size += size
        return 0

    cdef int extend(self, Py_ssize_t size) except -1:
        """Have ``size`` bytes, of which the new ones may hold anything."""
        cdef uint8_t *grown = <uint8_t *>realloc(self.c_data, size if size else 1)
        if grown is NULL:
            raise MemoryError()
        self.c_data = grown
        self.capacity = self.size = size
        return 0

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.c_data if self.c_data is not NULL else <uint8_t *>b"",
                          self.size, 1, flags)

    def __dealloc__(self):
        free(self.c_data)
