"""The way from a record's number to its inflated group, which every read takes.

In Cython because it is walked twice for each block that a caller reads, headers and bodies: as
Python it cost 2 us a frame, beside 60 us for the inflation of a dense body and 0.3 us of its
header. What it calls stays Python: the source, the checksum, the codec.
"""

cimport cython
from libc.stdint cimport uint64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from blockpack._native.group cimport Gathering
from blockpack._native.index cimport (
    bp_frame,
    bp_index_find,
    bp_index_frame,
    bp_index_group,
    bp_index_group_of,
    bp_index_ordinal,
    bp_index_position,
)

from blockpack._native.group import linked_group
from blockpack.errors import CorruptError, LimitError

cdef extern from *:
    """
    #include <fcntl.h>
    #ifdef POSIX_FADV_WILLNEED
    #define blockpack_will_need(fd, offset, size) \\
        ((void)posix_fadvise((fd), (off_t)(offset), (off_t)(size), POSIX_FADV_WILLNEED))
    #else
    #define blockpack_will_need(fd, offset, size) ((void)(fd))
    #endif
    """
    void blockpack_will_need(int fd, uint64_t offset, uint64_t size) nogil


# Added to a table's number: what the cache accounts its prefixes to: one must not push
# out the last frame that needed it, nor that the prefix.
cdef int KEYS = 256


cdef uint64_t now_ns() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <uint64_t>now.tv_sec * 1000000000 + <uint64_t>now.tv_nsec


@cython.final
cdef class Prefix:
    """The content of a key group, ready for the frames that have it as their prefix."""


@cython.final
cdef class FrameReader:
    """The frames of one lane of a segment, for any number of threads.

    ``source`` is a segment.source.Source. ``inflate(data, size_max)`` is the codec's and
    ``checksum(data, seed)`` the format's. ``identity`` seeds the checksums and
    ``first`` is the segment's first number. ``limits`` are the largest content of a frame of
    several records, that of one of one record, the stored size from which a record is extracted
    from a frame of several rather than the frame inflated whole, and the stored size above which
    a read is announced. ``cache`` may be None; ``table`` is what it accounts the groups to, and
    ``table`` + 256 the prefixes of a keyed lane, which ``inflater_after(content)`` makes out of
    key groups: objects with ``inflate`` for the frames that follow, ``prefix()``, the content, and
    ``nbytes`` of memory. ``linked`` contents are those of ``group.cut_links``.

    Nothing changes after construction, so a reader that drops it does not disturb a read.
    """

    def __cinit__(self, FrameIndex index not None, source, inflate, checksum, *, str path,
                  uint64_t identity, uint64_t first, Counters counters not None, limits,
                  GroupCache cache=None, table=0, inflater_after=None, bint linked=False):
        self.index = index
        self.source = source
        self.window = source.window
        self.read = source.read
        self.advise = source.advise
        self.advised_fd = source.advised_fd
        self.inflate = inflate
        self.inflater_after = inflater_after
        self.checksum = checksum
        self.counters = counters
        self.cache = cache
        self.table = table
        self.linked = linked
        self.path = path
        self.identity = identity
        self.first = first
        self.base = cache.new_base() if cache is not None else 0
        self.prefix_base = cache.new_base() if cache is not None else 0
        (self.group_bytes_max, self.single_bytes_max, self.extract_min,
         self.advise_min) = limits

    cdef Group find(self, object number, Py_ssize_t *i):
        """The record's group, from the cache or inflated; None when it is better extracted.

        That is at the first touch of a frame of several records and a size from which inflating
        up to the record saves something. A record alone in its frame is kept at the second touch
        as well: at the first, handing it on without a trace saves 4 us of random reads, whose
        memory then stays in the processor's caches. IndexError for a number outside of the
        segment.
        """
        cdef bp_frame frame
        cdef uint64_t ordinal = self.ordinal_of(number)
        cdef uint64_t frame_number = bp_index_find(&self.index.c_index, ordinal)
        bp_index_frame(&self.index.c_index, frame_number, &frame)
        i[0] = bp_index_position(&self.index.c_index, &frame, ordinal)
        cdef bint whole = not self.extracted(frame_number, &frame)
        if self.cache is None:
            return self.fetch(frame_number, &frame) if whole else None
        cdef uint64_t key = self.base + frame_number
        cdef Group group = self.cache.get(key)
        cdef Prefix prefix
        if group is None and self.index.c_index.keys and frame.key == frame_number:
            prefix = self.cache.get(self.prefix_base + frame_number)
            if prefix is not None:
                group = self.grouped(frame_number, &frame, prefix.after.prefix())
        if group is not None:
            self.counters.cache_hits += 1
            return group
        self.counters.cache_misses += 1
        if frame.records == 1:
            if not self.cache.touched_before(key):
                return self.fetch(frame_number, &frame)
        elif not whole and not self.cache.touched_before(key):
            return None
        self.cache.make_room(self.table)
        group = self.fetch(frame_number, &frame)
        self.cache.put(key, self.table, group)
        return group

    def group(self, Py_ssize_t frame_number, Prefix prefix=None):
        """The whole group of a frame, past the cache; ``announce`` it first, best a frame ahead.

        ``prefix`` is what ``key_group`` gave for the frame's key group, where it has one.
        """
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        if frame.key != <uint64_t>frame_number and prefix is None:
            prefix = self.load_prefix(frame.key)
        return self.load(frame_number, &frame, self.bytes_of(&frame), prefix)

    def key_group(self, Py_ssize_t frame_number):
        """(group, Prefix) of a frame that others have as their prefix; past the cache."""
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        cdef Prefix prefix = self.load_prefix(frame_number)
        return prefix.group, prefix

    def span(self, start, stop):
        """The records of ordinals start..stop-1, all in one group of a keyed lane, as one Group.

        Each frame that holds one of them is inflated once; nothing is put in the cache.
        """
        cdef uint64_t low = start, high = stop, i, ordinal, position
        cdef bp_index_group place = bp_index_group_of(&self.index.c_index, low)
        cdef Gathering gathering = Gathering(high - low)
        cdef Group group
        cdef bp_frame frame
        if not low < high <= place.first + place.records:
            raise IndexError(f"ordinals {low}..{high - 1} are not of one group")
        cdef Prefix prefix = self.load_prefix(place.frame)
        for position in range(<uint64_t>prefix.group.count):
            bp_index_frame(&self.index.c_index, place.frame, &frame)
            ordinal = bp_index_ordinal(&self.index.c_index, &frame, position)
            if low <= ordinal < high:
                gathering.take(prefix.group, position, ordinal - low)
        i = place.frame + 1
        ordinal = low
        while ordinal < high:    # to the first record that is no key
            i = bp_index_find(&self.index.c_index, ordinal)
            if i != place.frame:
                break
            ordinal += 1
        while ordinal < high and i < self.index.c_index.count:
            bp_index_frame(&self.index.c_index, i, &frame)
            if frame.group != place.first or frame.first >= high:
                break
            group = self.load(i, &frame, self.bytes_of(&frame), prefix)
            for position in range(frame.records):
                ordinal = bp_index_ordinal(&self.index.c_index, &frame, position)
                if low <= ordinal < high:
                    gathering.take(group, position, ordinal - low)
            i += 1
        return gathering.done()

    def announce_span(self, start, stop):
        """Tell the system that ``span`` will be called."""
        cdef bp_frame frame, last
        cdef bp_index_group place = bp_index_group_of(&self.index.c_index, start)
        bp_index_frame(&self.index.c_index, place.frame, &frame)
        bp_index_frame(&self.index.c_index, bp_index_find(&self.index.c_index, stop - 1), &last)
        frame.stored_size = last.offset + last.stored_size - frame.offset
        self.will_need(&frame)

    def data(self, Py_ssize_t frame_number):
        """The stored bytes of a frame, their checksum compared."""
        data = self.unverified(frame_number)
        self.verify(frame_number, data)
        return data

    def unverified(self, Py_ssize_t frame_number):
        """The stored bytes of a frame, for who calls ``verify`` before it believes what they say.

        A decoder has to withstand any bytes anyway, and fetches them from memory beside its work;
        a checksum does nothing but wait for them. So it comes last, when they are in the
        processor's caches: over a dense group of S2 it then takes half the time.
        """
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        return self.stored(&frame)

    def verify(self, Py_ssize_t frame_number, data):
        """Raise CorruptError unless ``data`` has the checksum that the index has."""
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        self.compare(frame_number, &frame, data)

    def announce(self, Py_ssize_t frame_number):
        """Tell the system that a frame will be read soon."""
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        self.will_need(&frame)

    def content_max(self, Py_ssize_t frame_number):
        """Size of the largest content that the frame may have, by its record count."""
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        return self.size_max(&frame)

    def broken(self, Py_ssize_t frame_number, error):
        """CorruptError: the frame's bytes are as they were sealed, and still do not decode."""
        cdef bp_frame frame
        self.frame_at(frame_number, &frame)
        return CorruptError(f"frame {frame_number}: {error.args[0] if error.args else error}",
                            file=self.path, offset=frame.offset,
                            expected=getattr(error, "expected", None),
                            found=getattr(error, "found", None))

    def forget(self):
        """Drop this reader's groups from the cache."""
        if self.cache is not None:
            self.cache.drop(self.base)
            self.cache.drop(self.prefix_base)

    cdef uint64_t ordinal_of(self, object number) except? 0:
        cdef uint64_t position
        try:
            position = number
        except OverflowError:    # negative, or 2^64 and more
            position = 0
            number = int(number)
            if number >= 0:
                position = self.first + self.index.c_index.records
        if position < self.first or position - self.first >= self.index.c_index.records:
            raise IndexError(f"record {number} of a segment with {self.first}.."
                             f"{self.first + (self.index.c_index.records - 1)}")
        return position - self.first

    cdef int frame_at(self, Py_ssize_t frame_number, bp_frame *frame) except -1:
        if frame_number < 0 or <uint64_t>frame_number >= self.index.c_index.count:
            raise IndexError(f"frame {frame_number} of {self.index.c_index.count}")
        bp_index_frame(&self.index.c_index, frame_number, frame)
        return 0

    cdef Py_ssize_t size_max(self, bp_frame *frame) noexcept:
        return self.group_bytes_max if frame.records > 1 else self.single_bytes_max

    cdef object stored(self, bp_frame *frame):
        if frame.stored_size > self.advise_min:
            self.will_need(frame)
        return self.bytes_of(frame)

    cdef object bytes_of(self, bp_frame *frame):
        if self.window is not None:
            return self.window[frame.offset:frame.offset + frame.stored_size]
        return self.read(frame.offset, frame.stored_size)

    cdef int will_need(self, bp_frame *frame) except -1:
        if self.advised_fd < 0:
            self.advise(frame.offset, frame.stored_size)
        else:
            with nogil:    # on cold pages it starts the reads itself
                blockpack_will_need(self.advised_fd, frame.offset, frame.stored_size)
        return 0

    cdef int compare(self, uint64_t frame_number, bp_frame *frame, object data) except -1:
        # The seed is layout.place_seed for a frame of lane 0.
        cdef uint64_t found = self.checksum(data, self.identity ^ frame_number)
        cdef uint64_t expected = frame.checksum
        if frame.key != frame_number:    # the other half is of the content
            found, expected = found & 0xFFFFFFFF, expected & 0xFFFFFFFF
        if found != expected:
            raise CorruptError(f"frame {frame_number}: checksum mismatch; restore the file or "
                               "repair the store", file=self.path, offset=frame.offset,
                               expected=f"{expected:016x}", found=f"{found:016x}")
        return 0

    cdef bint extracted(self, uint64_t frame_number, bp_frame *frame) noexcept:
        """Whether inflating a part of the frame may pay. After a prefix, frames are small; without
        links, no part of a content can be told before all of it is there."""
        return (frame.records > 1 and frame.stored_size >= self.extract_min
                and frame.key == frame_number and not self.linked)

    cdef Group fetch(self, uint64_t frame_number, bp_frame *frame):
        """The group of a frame that was not announced, its prefix by way of the cache."""
        cdef Prefix prefix = None if frame.key == frame_number else self.kept_prefix(frame.key)
        return self.load(frame_number, frame, self.stored(frame), prefix)

    cdef Prefix kept_prefix(self, uint64_t frame_number):
        """A prefix, out of the cache or into it."""
        if self.cache is None:
            return self.load_prefix(frame_number)
        cdef uint64_t key = self.prefix_base + frame_number
        cdef Prefix prefix = self.cache.get(key)
        if prefix is None:
            self.cache.make_room(self.table + KEYS)
            prefix = self.load_prefix(frame_number)
            prefix.group = None
            self.cache.put(key, self.table + KEYS, prefix)
        return prefix

    cdef Prefix load_prefix(self, uint64_t frame_number):
        cdef bp_frame frame
        cdef Prefix prefix = Prefix.__new__(Prefix)
        bp_index_frame(&self.index.c_index, frame_number, &frame)
        content = self.content(frame_number, &frame, self.stored(&frame), None)
        prefix.group = self.grouped(frame_number, &frame, content)
        prefix.after = self.inflater_after(content)
        prefix.inflate = prefix.after.inflate
        prefix.nbytes = prefix.after.nbytes
        return prefix

    cdef Group load(self, uint64_t frame_number, bp_frame *frame, object data, Prefix prefix):
        return self.grouped(frame_number, frame,
                            self.content(frame_number, frame, data, prefix))

    cdef Group grouped(self, uint64_t frame_number, bp_frame *frame, object content):
        cdef uint64_t i, number, before
        cdef list follows
        try:
            if not self.linked:
                return Group(content, frame.records)
            follows = [False]
            before = frame.first
            for i in range(1, frame.records):
                number = bp_index_ordinal(&self.index.c_index, frame, i)
                follows.append(number == before + 1)
                before = number
            return linked_group(content, follows)
        except (CorruptError, LimitError) as error:
            raise self.broken(frame_number, error) from error

    cdef object content(self, uint64_t frame_number, bp_frame *frame, object data, Prefix prefix):
        """What a frame inflates to, every checksum compared."""
        cdef uint64_t found
        if frame.key == frame_number:
            content = self.inflated(frame_number, frame, data, self.inflate)
        else:
            content = self.inflated(frame_number, frame, data, prefix.inflate)
            # A wrong prefix can decode without a fault.
            found = self.checksum(content, self.identity ^ frame_number)
            if (found ^ frame.checksum) >> 32:
                raise CorruptError(
                    f"frame {frame_number}: does not decode after its key group, frame "
                    f"{frame.key}; restore the file or repair the store", file=self.path,
                    offset=frame.offset, expected=f"{frame.checksum >> 32:08x}",
                    found=f"{found >> 32:08x}")
        return content

    cdef object inflated(self, uint64_t frame_number, bp_frame *frame, object data,
                         object inflate):
        cdef uint64_t start = now_ns()
        try:
            content = inflate(data, self.size_max(frame))
        except (CorruptError, LimitError, MemoryError) as error:
            self.compare(frame_number, frame, data)
            if isinstance(error, MemoryError):
                raise
            raise self.broken(frame_number, error) from error
        self.counters.inflated(frame.stored_size, len(content), now_ns() - start)
        self.compare(frame_number, frame, data)    # last: see unverified
        return content
