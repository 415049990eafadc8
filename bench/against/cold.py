"""Random reads from disk: the page cache is dropped for the files, the index stays warm."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import blockpack
from against import frames
from against.frames import Frame, bare_inflate, bare_inflate_until
from against.pairs import Line, quiet
from against.stores import Bench

COLD = 1.3
SIDES = ("raw", "preads and inflation")
READS_MAX = 64      # of a side and round


class Place(NamedTuple):
    """A frame on disk, and how far it has to be inflated."""

    frame: Frame
    stored: int
    end: int


def lines(bench: Bench) -> list[Line]:
    found = []
    group = bench.sizes.group_blocks
    for codec, size in (("zstd", 1), ("zstd", group), ("s2", group)):
        run = Cold(bench.sealed(codec, size), codec, bench.sizes.apart_bytes)
        for turn in range(bench.sizes.rounds):
            run.round(turn)
        found.append(run.line(f"cold raw(n), {codec}, group {size}"))
    return found


def places(store: Path, table: str, codec: str) -> dict[int, Place]:
    """Where each number's frame is. The maps are let go of: what they hold cannot be dropped."""
    found = frames.table_frames(store, table)
    ends = frames.record_ends(found, bare_inflate(codec))
    return {number: Place(replace(frame, data=memoryview(b"")), len(frame.data), ends[number])
            for number, frame in frames.frame_of(found).items()}


class Cold:
    """Our read and the peer's in turn, each on frames that nobody has read since the drop.

    Disks have outliers: the ratio is that of the medians over all rounds, and each side reads
    every frame as often as the other.
    """

    def __init__(self, path: Path, codec: str, apart_bytes: int) -> None:
        self._path = path
        self._apart_bytes = apart_bytes
        self._tables = [places(path, table, codec) for table in ("headers", "bodies")]
        self._until = bare_inflate_until(codec)
        self._times: dict[str, list[float]] = {side: [] for side in SIDES}
        self._disk = dict.fromkeys(SIDES, 0)
        self._stored = dict.fromkeys(SIDES, 0)

    def candidates(self, seed: int) -> list[int]:
        """A number of each of the groups far enough apart, none from a segment's first group."""
        found = []
        shuffle = random.Random(seed)
        last = ("", 0)
        for number, place in self._tables[1].items():
            frame = place.frame
            if number != frame.first or (last[0] == frame.path
                                         and frame.offset < last[1] + self._apart_bytes):
                continue
            if last[0] == frame.path:
                found.append(frame.first + shuffle.randrange(frame.records))
            last = frame.path, frame.offset + place.stored
        shuffle.shuffle(found)
        return found[:2 * READS_MAX]

    def round(self, turn: int) -> None:
        """One drop, then reads in turn; in the next round the sides have changed their frames."""
        numbers = self.candidates(seed=turn // 2)
        with blockpack.open(self._path) as store, self._opened() as fds, quiet():
            for first in self._first_of_segments():
                store.raw(first)    # opens the segment's files and reads their index
            for fd in fds.values():
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            reads: dict[str, Callable[[int], object]] = {
                "raw": store.raw, "preads and inflation": lambda n: self._peer(n, fds)}
            for at, number in enumerate(numbers):
                side = SIDES[(at + turn) % 2]
                self._read(side, reads[side], number)

    def _read(self, side: str, read: Callable[[int], object], number: int) -> None:
        before = disk_bytes()
        start = perf_counter()
        read(number)
        self._times[side].append(perf_counter() - start)
        self._disk[side] += disk_bytes() - before
        self._stored[side] += sum(table[number].stored for table in self._tables)

    def _peer(self, number: int, fds: dict[str, int]) -> None:
        for table in self._tables:
            frame, stored, end = table[number]
            data = os.pread(fds[frame.path], stored, frame.offset)
            self._until(replace(frame, data=memoryview(data)), end)

    def _first_of_segments(self) -> list[int]:
        firsts: dict[str, int] = {}
        for number, place in self._tables[1].items():
            firsts.setdefault(place.frame.path, number)
        return list(firsts.values())

    @contextmanager
    def _opened(self) -> Iterator[dict[str, int]]:
        paths = {place.frame.path for table in self._tables for place in table.values()}
        fds = {path: os.open(path, os.O_RDONLY) for path in paths}
        try:
            yield fds
        finally:
            for fd in fds.values():
                os.close(fd)

    def line(self, name: str) -> Line:
        ours, peer = (median(self._times[side]) for side in SIDES)
        share = min(self._disk[side] / self._stored[side] for side in SIDES)
        note = f"{share:.0%} of the frames' bytes came from disk"
        cold = share >= 0.9
        return Line("cold", name, ours * 1e6, "us", peer * 1e6, SIDES[1], ours / peer,
                    COLD if cold else None, note=note if cold else f"not cold: {note}")


def disk_bytes() -> int:
    """What this process has had read from disk; 0 where the system does not say."""
    try:
        text = Path("/proc/self/io").read_text()
    except OSError:
        return 0
    return int(text.partition("read_bytes:")[2].split()[0])
