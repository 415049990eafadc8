"""Reads one sealed segment: single records by way of the cache, ranges group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import TYPE_CHECKING

import xxhash

from blockpack._native.counters import Counters
from blockpack._native.group import Group, table_size_max
from blockpack._native.index import FrameIndex
from blockpack.errors import BlockpackError, ClosedError, CorruptError, LimitError
from blockpack.segment.cache import GroupCache
from blockpack.segment.codecs import Codec, codec_of_id, tier_of_id
from blockpack.segment.digest import Digest
from blockpack.segment.layout import GROUP_BYTES_MAX, SINGLE_BYTES_MAX
from blockpack.segment.opening import Opened, describe, faulty_sections, open_segment
from blockpack.segment.source import ADVISE_MIN, MappedFile, PreadFile, Source

if TYPE_CHECKING:
    # A frame as the index gives it: number, offset, stored size, checksum, ordinal of its first
    # record, records.
    Place = tuple[int, int, int, int, int, int]

def _size_max(place: Place) -> int:
    """Largest content that the frame may have, by its record count."""
    return GROUP_BYTES_MAX if place[5] > 1 else SINGLE_BYTES_MAX


_checksum = xxhash.xxh3_64_intdigest


class SegmentReader:
    """A sealed segment, for any number of threads at once.

    ``expect`` is (size, seal) of the file that the manifest means. Raises CorruptError and
    UnsupportedVersionError at opening; a read raises CorruptError with file and offset, or
    ClosedError once closed. A read that runs while another thread closes completes.
    """

    def __init__(self, path: str, *, counters: Counters, cache: GroupCache | None = None,
                 mmap: bool = True, expect: tuple[int, int] | None = None) -> None:
        source: Source = MappedFile(path) if mmap else PreadFile(path)
        opened = open_segment(source, path, expect)
        codec = codec_of_id(opened.header.codec)
        tier = tier_of_id(opened.header.tier)
        assert codec is not None
        assert tier is not None
        self.path = path
        self.table = opened.header.table
        self.first = opened.header.first
        self.count = opened.meta.count
        self.codec = codec.name
        self.tier = tier
        self.group_size = opened.header.group_size
        self.chain_id = opened.header.chain_id
        self.digest = opened.meta.digest
        self.present = opened.meta.present
        self.decoded_bytes = opened.meta.digest.length
        self.file_bytes = opened.footer.file_bytes
        self.frames = len(opened.index)
        self.seal = opened.footer.seal
        self._opened: Opened | None = opened
        self._codec: Codec = codec
        self._extract_min = codec.extract_min
        self._identity = opened.identity
        self._counters = counters
        self._cache = cache
        self._base = cache.new_base() if cache is not None else 0
        # One attribute, so that a read sees all of it or, when closed, nothing.
        self._io: tuple[FrameIndex, Source] | None = (opened.index, source)

    def record(self, number: int) -> bytes | None:
        """Return the record as bytes of its own; None when it is absent."""
        part = self._find(number)
        if isinstance(part, tuple):
            group, i = part
            return group.record(i)
        return part

    def view(self, number: int) -> memoryview | None:
        """Return the record as a read-only view, or None when it is absent.

        It keeps alive what it views: the whole group, if that was inflated; copies nothing.
        """
        part = self._find(number)
        if isinstance(part, tuple):
            group, i = part
            return group.view(i)
        return None if part is None else memoryview(part)

    def groups(self, start: int, stop: int) -> Iterator[tuple[int, Group, int, int]]:
        """Yield (number of the group's first record, group, lo, hi) for records start..stop-1.

        The range's records in a group are lo..hi-1. Each frame is inflated once, the last one
        only as far as needed, and none is put in the cache.
        """
        if not self.first <= start <= stop <= self.first + self.count:
            raise IndexError(f"records {start}..{stop - 1} of a segment with "
                             f"{self.first}..{self.first + self.count - 1}")
        return self._groups(start - self.first, stop - self.first)

    def sections(self) -> dict[str, int]:
        """Bytes of each part of the file; they sum to ``file_bytes``."""
        if self._opened is None:
            raise self._closed()
        return describe(self._opened)

    def verify(self, progress: Callable[[int], None] | None = None) -> list[CorruptError]:
        """Decode every frame and compare every count and digest; return all that is wrong.

        Goes on after a fault. ``progress`` is called with the stored bytes of each frame. A fault
        of the machine (OSError, MemoryError) is raised.
        """
        index, source = self._reading()
        opened = self._opened
        if opened is None:
            raise self._closed()
        faults = faulty_sections(source, opened, self.path)
        digest = Digest()
        present = content_bytes = 0
        for i in range(len(index)):
            place = index.entry(i)
            try:
                group = self._inflate(source, place)
                content_bytes += group.decoded_size
                present += self._digest_group(digest, place, group)
            except CorruptError as error:
                faults.append(error)
            if progress is not None:
                progress(place[2])
        expected = (self.present, self.digest, opened.meta.lanes[0].decoded_bytes)
        found = (present, digest, content_bytes)
        if not faults and found != expected:
            faults.append(CorruptError(
                "the records are not those that were sealed: present, digest or content bytes "
                "differ", file=self.path, expected=expected, found=found))
        return faults

    def close(self) -> None:
        """Let go of the file and of this segment's cached groups; views stay valid."""
        self._io = None
        self._opened = None
        if self._cache is not None:
            self._cache.drop(self._base)

    def _find(self, number: int) -> tuple[Group, int] | bytes | None:
        """The record in its inflated group, or, at the first touch of a large one, alone."""
        index, source = self._io or self._reading()
        ordinal = number - self.first
        place = index.locate(ordinal)
        i = ordinal - place[4]
        # One record, or so few bytes that stopping early saves nothing.
        whole = place[5] == 1 or place[2] < self._extract_min
        cache = self._cache
        if cache is None:
            if whole:
                return self._inflate(source, place), i
            return self._extract(source, place, i)
        key = self._base + place[0]
        group = cache.get(key)
        if group is not None:
            self._counters.hit()
            return group, i
        self._counters.missed()
        if not whole and not cache.touched_before(key):
            return self._extract(source, place, i)
        group = self._inflate(source, place)
        cache.put(key, self.table, group)
        return group, i

    def _groups(self, start: int, stop: int) -> Iterator[tuple[int, Group, int, int]]:
        ordinal = start
        while ordinal < stop:
            index, source = self._io or self._reading()
            place = index.locate(ordinal)
            first, records = place[4], place[5]
            end = first + records
            if end < stop:
                follower = index.locate(end)
                source.advise(follower[1], follower[2])
                group = self._inflate(source, place)
            else:
                group = self._inflate_until(source, place, stop - first)
            yield self.first + first, group, ordinal - first, min(stop - first, records)
            del group    # so that the next one can have its memory
            ordinal = end

    def _frame(self, source: Source, place: Place) -> bytes | memoryview:
        """The stored bytes of a frame, their checksum compared."""
        number, offset, stored_size, expected, _, _ = place
        if stored_size > ADVISE_MIN:
            source.advise(offset, stored_size)
        data = source.read(offset, stored_size)
        # The seed is layout.place_seed for a frame of lane 0.
        found = _checksum(data, self._identity ^ number)
        if found != expected:
            raise CorruptError(f"frame {number}: checksum mismatch; restore the file or repair "
                               "the store", file=self.path, offset=offset,
                               expected=f"{expected:016x}", found=f"{found:016x}")
        return data

    def _inflate(self, source: Source, place: Place) -> Group:
        """The whole group of a frame."""
        data = self._frame(source, place)
        start = perf_counter_ns()
        try:
            content = self._codec.inflate(data, _size_max(place))
            self._counters.inflated(place[2], len(content), perf_counter_ns() - start)
            return Group(content, place[5])
        except (CorruptError, LimitError) as error:
            raise self._broken(place, error) from error

    def _extract(self, source: Source, place: Place, i: int) -> bytes | None:
        """Record i of a frame, inflating no further than its end."""
        return self._part(source, place, lambda group: group.span(i))

    def _inflate_until(self, source: Source, place: Place, hi: int) -> Group:
        """The group of a frame with its first ``hi`` records at least."""
        if hi >= place[5] or place[2] < self._extract_min:
            return self._inflate(source, place)
        whole_size = 0

        def span(group: Group) -> tuple[int, int]:
            nonlocal whole_size
            whole_size = group.decoded_size
            return 0, max(group.table_size, group.end(hi - 1))

        content = self._part(source, place, span)
        assert content is not None
        return Group(content, place[5], whole_size)

    def _part(self, source: Source, place: Place,
              span_in: Callable[[Group], tuple[int, int] | None]) -> bytes | None:
        """What ``span_in`` wants of the group, of which it sees the table at least."""
        data = self._frame(source, place)
        inflated = size = 0

        def locate(probe: bytes, whole_size: int) -> tuple[int, int] | None:
            nonlocal inflated, size
            size = whole_size
            span = span_in(Group(probe, place[5], whole_size))
            inflated = len(probe) if span is None else max(len(probe), span[1])
            return span

        start = perf_counter_ns()
        try:
            part = self._codec.extract(data, _size_max(place), table_size_max(place[5]), locate)
        except (CorruptError, LimitError) as error:
            raise self._broken(place, error) from error
        self._counters.inflated(place[2], inflated, perf_counter_ns() - start, inflated < size)
        return part

    def _broken(self, place: Place, error: BlockpackError) -> CorruptError:
        """The frame's bytes are as they were sealed, and still do not decode."""
        return CorruptError(f"frame {place[0]}: {error.args[0] if error.args else error}",
                            file=self.path, offset=place[1])

    def _digest_group(self, digest: Digest, place: Place, group: Group) -> int:
        """Add a group's records to a digest; how many are present."""
        first = self.first + place[4]
        views = [group.view(i) for i in range(len(group))]
        digest.add_all(first, views)
        return len(views) - views.count(None)

    def _reading(self) -> tuple[FrameIndex, Source]:
        if self._io is None:
            raise self._closed()
        return self._io

    def _closed(self) -> ClosedError:
        return ClosedError(f"{self.path}: the segment was closed")
