"""What a store holds at one moment, and reading from it.

A State never changes, but for the last log, which grows. Readers take one reference to it and
then need no lock: a commit makes another State and leaves this one, with its files, to whoever
still reads from it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from blockpack._native.group import Group, pack
from blockpack._native.sealed import SealedSegments
from blockpack.errors import MissingError, NotYetError
from blockpack.segment.cache import GroupCache
from blockpack.segment.reader import SegmentReader
from blockpack.store.manifest import Manifest, SegmentRow, segment_path
from blockpack.store.openlog import LogFile

if TYPE_CHECKING:
    from blockpack._native.counters import Counters

# Segment files kept open: two tables of 64 segments. An open one costs two descriptors or a map
# and a few KB; opening one again costs about 50 us.
READERS_MAX: Final = 128
# Records of the open log that are handed out as one group.
LOG_GROUP: Final = 64
LOG_GROUP_BYTES: Final = 8 << 20


class ReaderPool:
    """Open segment files, a bounded number of them, shared by all threads and states."""

    def __init__(self, store: str, counters: Counters, cache: GroupCache, mmap: bool) -> None:
        self._store = store
        self._counters = counters
        self._cache = cache
        self._mmap = mmap
        self._lock = threading.Lock()
        # By segment_key + table: a generation is never used for two segments.
        self.ready: dict[int, SegmentReader] = {}

    def get(self, row: SegmentRow, table: int) -> SegmentReader | None:
        """The reader of one table's file; None when the segment has none of that table.

        FileNotFoundError when the file is gone: the caller's state is out of date.
        """
        key = segment_key(row.generation) + table
        reader = self.ready.get(key)
        if reader is None:
            return self._open(key, row, table)
        reader.used = True
        return reader

    def _open(self, key: int, row: SegmentRow, table: int) -> SegmentReader | None:
        file = next((file for file in row.files if file.table == table), None)
        if file is None:
            return None
        reader = SegmentReader(segment_path(self._store, row, table), counters=self._counters,
                               cache=self._cache, mmap=self._mmap,
                               expect=(file.file_bytes, file.seal))
        with self._lock:
            if len(self.ready) >= READERS_MAX:
                self._evict()
            return self.ready.setdefault(key, reader)

    def _evict(self) -> None:
        """Drop one that was not used of late. It closes when its last user lets go of it."""
        for key, reader in list(self.ready.items()):
            if not reader.used:
                del self.ready[key]
                return
            reader.used = False
            self.ready[key] = self.ready.pop(key)
        del self.ready[next(iter(self.ready))]

    def forget(self, row: SegmentRow) -> None:
        """Drop a segment whose files are about to be deleted."""
        with self._lock:
            for file in row.files:
                self.ready.pop(segment_key(row.generation) + file.table, None)

    def clear(self) -> None:
        with self._lock:
            self.ready.clear()


def segment_key(generation: int) -> int:
    """What the keys of a segment's readers start from; table ids are below 256."""
    return generation << 8


class LogView(NamedTuple):
    """A log and how many of its numbers are ours; None for all that it has."""

    log: LogFile
    count: int | None  # type: ignore[assignment]  # hides tuple.count

    @property
    def end(self) -> int:
        """The number after the last one."""
        count = self.log.rows.count
        return self.log.first + (count if self.count is None else min(count, self.count))


class State:
    """One manifest with its files: ``end`` is the number after the last, None when undecided."""

    __slots__ = ("_pool", "first", "logs", "manifest", "sealed", "sealed_end")

    def __init__(self, manifest: Manifest, logs: tuple[LogView, ...], pool: ReaderPool) -> None:
        self.manifest = manifest
        self.logs = logs
        self.first = manifest.first or 0
        self.sealed_end = manifest.sealed_end or 0
        self.sealed = SealedSegments(
            [row[0] for row in manifest.segments.raw],
            [segment_key(row[3]) for row in manifest.segments.raw], pool.ready,
            partial(_reader, pool, manifest))
        self._pool = pool

    @property
    def end(self) -> int | None:
        for view in reversed(self.logs):
            if view.end > view.log.first:
                return max(view.end, self.sealed_end)
        return self.manifest.sealed_end if self.sealed else self.manifest.first

    def require(self, number: int, path: str) -> None:
        """NotYetError past the head, MissingError before the first number; ``path`` names both."""
        end = self.end
        if end is None or number >= end:
            have = "empty" if end is None or end == self.manifest.first else f"at {end - 1}"
            raise NotYetError(f"{path}: {number} is not there yet, the head is {have}")
        if number < self.first:
            raise MissingError(f"{path}: {number} is before the first number, {self.first}")

    def row(self, number: int) -> SegmentRow:
        """The sealed segment of a number below ``sealed_end``."""
        return self.manifest.segments[self.sealed.at(number)]

    def log(self, number: int) -> LogFile:
        """The log of a number from ``sealed_end`` up to ``end``."""
        for view in reversed(self.logs):
            if number >= view.log.first:
                return view.log
        raise LookupError(number)

    def record(self, table: int, number: int) -> bytes | None:
        if number >= self.sealed_end:
            return self.log(number).record(table, number)
        return self.sealed.record(table, number)

    def view(self, table: int, number: int) -> memoryview | None:
        if number >= self.sealed_end:
            record = self.log(number).record(table, number)
            return None if record is None else memoryview(record)
        return self.sealed.view(table, number)

    def reader(self, row: SegmentRow, table: int) -> SegmentReader | None:
        return self._pool.get(row, table)

    def groups(self, table: int, start: int,
               stop: int) -> Iterator[tuple[int, Group, int, int]]:
        """(first number, Group, lo, hi) over start..stop, from sealed and open parts alike."""
        for row, low, high in self.sealed_parts(start, stop):
            reader = self._pool.get(row, table)
            if reader is None:
                yield from _absent(low, high)
            else:
                yield from reader.groups(low, high)
        for log, low, high in self.log_parts(max(start, self.sealed_end), stop):
            yield from log_groups(log, table, low, high)

    def sealed_parts(self, start: int, stop: int) -> Iterator[tuple[SegmentRow, int, int]]:
        """The segments that hold numbers of start..stop, and which of them each holds."""
        for i in range(max(0, self.sealed.at(start)), len(self.sealed)):
            row = self.manifest.segments[i]
            if row.first >= stop:
                return
            low, high = max(start, row.first), min(stop, row.first + row.visible)
            if low < high:
                yield row, low, high

    def log_parts(self, start: int, stop: int) -> Iterator[tuple[LogFile, int, int]]:
        """The logs that hold numbers of start..stop, and which of them each holds."""
        for view in self.logs:
            low, high = max(start, view.log.first), min(stop, view.end)
            if low < high:
                yield view.log, low, high


def _reader(pool: ReaderPool, manifest: Manifest, at: int, table: int) -> SegmentReader | None:
    """The reader of one table's file of segment number ``at``, which was not open."""
    return pool.get(manifest.segments[at], table)


def log_groups(log: LogFile, table: int, low: int,
               high: int) -> Iterator[tuple[int, Group, int, int]]:
    """One table's records of an open log as groups, like those of a segment."""
    while low < high:
        records: list[bytes | None] = []
        size = 0
        while len(records) < min(LOG_GROUP, high - low) and size < LOG_GROUP_BYTES:
            record = log.record(table, low + len(records))
            records.append(record)
            size += len(record or b"")
        yield low, Group(pack(records), len(records)), 0, len(records)
        low += len(records)


def _absent(low: int, high: int) -> Iterator[tuple[int, Any, int, int]]:
    """Groups of absent records, for a segment that has no file of the table."""
    for start in range(low, high, LOG_GROUP):
        count = min(LOG_GROUP, high - start)
        yield start, Group(pack([None] * count), count), 0, count
