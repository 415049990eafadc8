"""Reads one sealed segment: single records by way of the cache, ranges group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter_ns

from blockpack._native.counters import Counters
from blockpack._native.frames import FrameReader, Prefix
from blockpack._native.group import Group, table_size_max
from blockpack._native.hashes import HashIndex, build, hash_records
from blockpack._native.sealed import SealedReader
from blockpack.errors import CorruptError, LimitError
from blockpack.segment.cache import GroupCache
from blockpack.segment.codecs import Codec, codec_of_id, tier_of_id
from blockpack.segment.digest import Digest
from blockpack.segment.grouping import Grouping
from blockpack.segment.layout import (
    GROUP_BYTES_MAX,
    KIND_HASHES,
    SINGLE_BYTES_MAX,
    checksum,
)
from blockpack.segment.opening import describe, faulty_sections, open_segment, read_hashes
from blockpack.segment.source import ADVISE_MIN, MappedFile, PreadFile, Source

# A range of more groups than this is no place for the memory that random reads leave behind.
LONG_GROUPS = 2


class SegmentReader(SealedReader):
    """A sealed segment, for any number of threads at once.

    ``expect`` is (size, seal) of the file that the manifest means. Raises CorruptError and
    UnsupportedVersionError at opening; a read raises CorruptError with file and offset, or
    ClosedError once closed. A read that runs while another thread closes completes.
    """

    def __init__(self, path: str, *, counters: Counters, cache: GroupCache | None = None,
                 mmap: bool = True, expect: tuple[int, int] | None = None) -> None:
        source: Source = MappedFile(path) if mmap else PreadFile(path)
        opened, index = open_segment(source, path, expect)
        codec = codec_of_id(opened.header.codec)
        tier = tier_of_id(opened.header.tier)
        assert codec is not None
        assert tier is not None
        self.table = opened.header.table
        self.first = opened.header.first
        self.count = opened.meta.count
        self.codec = codec.name
        self.tier = tier
        lane = opened.meta.lanes[0]
        self.grouping = Grouping(lane.group_size, lane.keys, lane.stride, lane.frame_records,
                                 lane.linked)
        self.chain_id = opened.header.chain_id
        self.digest = opened.meta.digest
        self.present = opened.meta.present
        self.decoded_bytes = opened.meta.digest.length
        self.file_bytes = opened.footer.file_bytes
        self.frame_count = len(index)
        self.seal = opened.footer.seal
        self._opened = opened
        self.hashed = any(s.kind == KIND_HASHES for s in opened.sections)
        self._hashes: HashIndex | None = None
        self._codec: Codec = codec
        self._counters = counters
        super().__init__(path, FrameReader(
            index, source, codec.inflate, checksum, path=path, identity=opened.identity,
            first=self.first, counters=counters, cache=cache, table=self.table,
            limits=(GROUP_BYTES_MAX, SINGLE_BYTES_MAX, codec.extract_min, ADVISE_MIN),
            inflater_after=codec.inflater_after, linked=lane.linked))

    def groups(self, start: int, stop: int) -> Iterator[tuple[int, Group, int, int]]:
        """Yield (number of the group's first record, group, lo, hi) for records start..stop-1.

        The range's records in a group are lo..hi-1. Each frame is inflated once, the last one
        only as far as needed, and none is put in the cache.
        """
        if not self.first <= start <= stop <= self.first + self.count:
            raise IndexError(f"records {start}..{stop - 1} of a segment with "
                             f"{self.first}..{self.first + self.count - 1}")
        groups = self._keyed_groups if self.grouping.keyed else self._groups
        return groups(start - self.first, stop - self.first)

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield (start, stop, stored bytes) of the records of each group in start..stop-1.

        Nothing is read. The bytes are the whole group's.
        """
        at = start
        while at < stop:
            first, records, _, stored = self.frames.index.group(at - self.first)
            end = min(stop, self.first + first + records)
            yield at, end, stored
            at = end

    def find(self, digest: bytes) -> list[int]:
        """Numbers, rising, of the records that may have this Keccak-256; few, and mostly right.

        The first call checks the hash index, or makes one where the file has none.
        """
        if self._hashes is None:
            frames = self.frames
            self._hashes = (read_hashes(frames.source, self._opened, self.path)
                            or HashIndex(self._made_hashes(), self.count))
        return [self.first + ordinal for ordinal in self._hashes.find(digest)]

    def _made_hashes(self) -> bytes:
        entries = bytearray()
        for first, group, low, high in self.groups(self.first, self.first + self.count):
            entries += hash_records(map(group.view, range(low, high)), first + low - self.first)
        return build(entries, self.count)

    def sections(self) -> dict[str, int]:
        """Bytes of each part of the file; they sum to ``file_bytes``."""
        _ = self.frames    # ClosedError
        return describe(self._opened)

    def verify(self, progress: Callable[[int], None] | None = None) -> list[CorruptError]:
        """Decode every frame and compare every count and digest; return all that is wrong.

        Goes on after a fault. ``progress`` is called with the stored bytes of each frame. A fault
        of the machine (OSError, MemoryError) is raised.
        """
        frames = self.frames
        faults = faulty_sections(frames.source, self._opened, self.path)
        digest = Digest()
        present = content_bytes = 0
        prefix: Prefix | None = None
        frames.announce(0)
        for i in range(len(frames.index)):
            if i + 1 < len(frames.index):
                frames.announce(i + 1)
            try:
                group, prefix = self._verified_group(frames, i, prefix)
                content_bytes += group.decoded_size
                present += self._digest_group(digest, frames.index.ordinals(i), group)
            except CorruptError as error:
                if frames.index.key(i) == i:
                    prefix = None
                faults.append(error)
            if progress is not None:
                progress(frames.index.entry(i)[2])
        expected = (self.present, self.digest, self._opened.meta.lanes[0].decoded_bytes)
        found = (present, digest, content_bytes)
        if not faults and found != expected:
            faults.append(CorruptError(
                "the records are not those that were sealed: present, digest or content bytes "
                "differ", file=self.path, expected=expected, found=found))
        return faults

    def _verified_group(self, frames: FrameReader, i: int,
                        prefix: Prefix | None) -> tuple[Group, Prefix | None]:
        """A frame's group, and the prefix for the frames after it."""
        if not self.grouping.keyed:
            return frames.group(i), None
        number = frames.index.key(i)
        if number == i:
            return frames.key_group(i)
        if prefix is None:
            raise CorruptError(f"frame {i}: cannot be decoded without its key group, frame "
                               f"{number}, which is damaged", file=self.path,
                               offset=frames.index.entry(i)[1])
        return frames.group(i, prefix), prefix

    def _keyed_groups(self, start: int, stop: int) -> Iterator[tuple[int, Group, int, int]]:
        """As ``_groups``. Frames of one record follow one another as they are; those of several
        are put together first, since their records need not follow one another."""
        alone = self.grouping.frame_records == 1
        ordinal = start
        while ordinal < stop:
            frames = self.frames
            first, records, key, _ = frames.index.group(ordinal)
            end = min(stop, first + records)
            frames.announce_span(ordinal, end)
            if alone:
                yield from self._single_frames(frames, key, ordinal, end)
            else:
                yield self.first + ordinal, frames.span(ordinal, end), 0, end - ordinal
            ordinal = end

    def _single_frames(self, frames: FrameReader, key: int, start: int,
                       stop: int) -> Iterator[tuple[int, Group, int, int]]:
        """The records of one group whose frames, but for the key group, hold one each."""
        keys, prefix = frames.key_group(key)
        for ordinal in range(start, stop):
            i = frames.index.find(ordinal)
            if i == key:
                position = frames.index.position(ordinal)
                yield self.first + ordinal - position, keys, position, position + 1
            else:
                yield self.first + ordinal, frames.group(i, prefix), 0, 1

    def _groups(self, start: int, stop: int) -> Iterator[tuple[int, Group, int, int]]:
        if stop - start > LONG_GROUPS * self.grouping.group_size:
            self._codec.let_go()
        ordinal = start
        if start < stop:
            self.frames.announce(self.frames.index.locate(start)[0])
        while ordinal < stop:
            frames = self.frames
            i, _, stored_size, _, first, records = frames.index.locate(ordinal)
            end = first + records
            if end < stop:
                frames.announce(i + 1)
                group = frames.group(i)
            elif (end == stop or stored_size < self._codec.extract_min
                  or self.grouping.linked):
                group = frames.group(i)
            else:
                group = self._inflate_until(frames, ordinal, stop - first)
            yield self.first + first, group, ordinal - first, min(stop - first, records)
            del group    # so that the next one can have its memory
            ordinal = end

    def _extract(self, frames: FrameReader, number: int) -> bytes | None:
        """The record alone, inflating its frame no further than to its end."""
        ordinal = number - self.first
        position = frames.index.position(ordinal)

        def span(group: Group) -> tuple[int, int] | None:
            return group.span(position)

        return self._part(frames, ordinal, span)

    def _inflate_until(self, frames: FrameReader, ordinal: int, hi: int) -> Group:
        """The group of a frame, with its first ``hi`` records at least."""
        whole_size = 0

        def span(group: Group) -> tuple[int, int]:
            nonlocal whole_size
            whole_size = group.decoded_size
            return 0, max(group.table_size, group.end(hi - 1))

        content = self._part(frames, ordinal, span)
        assert content is not None
        return Group(content, frames.index.locate(ordinal)[5], whole_size)

    def _part(self, frames: FrameReader, ordinal: int,
              span_in: Callable[[Group], tuple[int, int] | None]) -> bytes | None:
        """What ``span_in`` wants of a frame's group, of which it sees the table at least."""
        i, _, stored_size, _, _, records = frames.index.locate(ordinal)
        data = frames.unverified(i)
        inflated = size = 0

        def locate(probe: bytes, whole_size: int) -> tuple[int, int] | None:
            nonlocal inflated, size
            size = whole_size
            span = span_in(Group(probe, records, whole_size))
            inflated = len(probe) if span is None else max(len(probe), span[1])
            return span

        start = perf_counter_ns()
        try:
            part = self._codec.extract(data, frames.content_max(i), table_size_max(records),
                                       locate)
        except (CorruptError, LimitError, MemoryError) as error:
            frames.verify(i, data)
            if isinstance(error, MemoryError):
                raise
            raise frames.broken(i, error) from error
        frames.verify(i, data)
        self._counters.inflated(stored_size, inflated, perf_counter_ns() - start, inflated < size)
        return part

    def _digest_group(self, digest: Digest, ordinals: Sequence[int], group: Group) -> int:
        """Add a frame's records to a digest; how many are present."""
        present = 0
        for i, ordinal in enumerate(ordinals):
            view = group.view(i)
            if view is not None:
                digest.add(self.first + ordinal, view)
                present += 1
        return present
