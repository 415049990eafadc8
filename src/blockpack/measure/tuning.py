"""What group sizes and import levels cost and save, on any chain: the two tables for tuning.

Each group size gets a store of the same blocks in a temporary folder. What is read comes from the
page cache, so that the tables show this program's share and not the disk's; every random read
takes a block of a group that its store has not touched since it was opened.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import blockpack
from blockpack.chain.importer import import_blocks
from blockpack.measure.source import Blocks, block_file
from blockpack.segment.codecs import parse_level
from blockpack.store.tables import BODIES

GROUP_SIZES = (1, 16, 64, 128)
ROUNDS = 3  # of all stores in turn, so that a slow moment of the machine hits every row
READ_SECONDS = 0.25  # of random reads a store and round, at least
SCAN_SECONDS = 0.1  # of scans, likewise; the fastest counts
SEED = 20_231_215

# Called with what is being done, and how many steps of how many are.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class GroupRow:
    """One group size. ``saved`` is the share of the size in groups of one block that is gone.

    ``read_ms`` is the mean of ``reads`` random ``raw`` calls, ``scan_ms`` a block's share of a
    ``raw_range`` over everything, the best of several. ``blocks_per_group`` falls behind
    ``group_size`` where 32 MiB closed the groups. ``cache_misses`` counts headers and bodies; every
    body is one, ``cache_hits`` are headers where two groups of bodies share one of headers.
    """

    group_size: int
    sealed_bytes: int
    saved: float
    blocks_per_group: float
    read_ms: float
    reads: int
    cache_misses: int
    cache_hits: int
    scan_ms: float
    build_seconds: float


@dataclass(frozen=True)
class GroupTable:
    """Group sizes side by side, for one codec and seal level."""

    compression: str
    seal_tier: str
    blocks: int
    raw_bytes: int
    rows: list[GroupRow]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class LevelRow:
    """One import level: ``import_ms`` a block, appended and synced, and the sizes after."""

    level: int | str
    tier: str
    import_ms: float
    open_bytes: int
    sealed_bytes: int


@dataclass(frozen=True)
class LevelTable:
    """Import levels side by side; the sealed size must be the same in all rows."""

    compression: str
    seal_tier: str
    group_size: int
    blocks: int
    raw_bytes: int
    rows: list[LevelRow]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values, for JSON."""
        return asdict(self)


def group_table(blocks: Blocks, group_sizes: Sequence[int] = GROUP_SIZES, *,
                compression: str = "s2", seal_compression_level: int | str = 6,
                folder: str | Path | None = None, progress: Progress | None = None,
                **knobs: Any) -> GroupTable:
    """Measure stores of the same blocks in groups of each of these sizes.

    Group size 1 is always measured, as what the others are compared with. ``folder`` is where
    the temporary stores go (None: the system's temporary folder; they take up to the blocks'
    own size for each group size), ``knobs`` what else ``blockpack.create`` takes. Raises
    ValueError where there are no blocks.
    """
    _require_some(blocks)
    sizes = sorted({1, *group_sizes})
    report = progress or _silent
    with tempfile.TemporaryDirectory(prefix="blockpack-tuning-", dir=folder) as where:
        built = {}
        for step, size in enumerate(sizes):
            report(f"{compression}: groups of {size}", step, len(sizes) + 1)
            built[size] = build_direct(
                Path(where) / str(size), blocks(), block_group_size=size,
                compression=compression, seal_compression_level=seal_compression_level, **knobs)
        report(f"{compression}: reads", len(sizes), len(sizes) + 1)
        table = table_of_stores(built)
        report(f"{compression}: reads", len(sizes) + 1, len(sizes) + 1)
    return table


@dataclass(frozen=True)
class BuiltStore:
    """A sealed store, and how long its making took."""

    path: Path
    seconds: float


def build_direct(path: Path, blocks: Iterable[bytes], **knobs: Any) -> BuiltStore:
    """Import blocks straight into sealed segments."""
    start = time.perf_counter()
    with blockpack.create(path, **knobs) as store:
        import_blocks(store, block_file(blocks), direct=True)
    return BuiltStore(path, time.perf_counter() - start)


def table_of_stores(built: dict[int, BuiltStore]) -> GroupTable:
    """Measure sealed stores of the same blocks, by group size; size 1 must be among them."""
    probes = {size: _Probe(store) for size, store in built.items()}
    for _ in range(ROUNDS):
        for probe in probes.values():
            probe.scan(SCAN_SECONDS)
            probe.read(READ_SECONDS)
    single = probes[1]
    return GroupTable(single.compression, single.seal_tier, single.blocks, single.raw_bytes,
                      [probes[size].row(size, single.sealed_bytes) for size in sorted(probes)])


class _Probe:
    """Reads one sealed store, and remembers how long that took."""

    def __init__(self, built: BuiltStore) -> None:
        self._built = built
        self._random = random.Random(SEED)
        self._read_seconds = 0.0
        self._scan_seconds = float("inf")
        self.reads = self.misses = self.hits = 0
        with blockpack.open(built.path) as store:
            info = store.info()
            knobs = store.knobs
            self.first, self.stop = store.first or 0, (store.head or 0) + 1
            # Touches every byte, so that all reads after this find the page cache warm.
            self._groups = list(_group_spans(store, self.first, self.stop))
        self.compression = knobs.compression
        self.seal_tier = parse_level(knobs.compression, knobs.seal_compression_level)
        self.blocks = self.stop - self.first
        self.sealed_bytes: int = info["sealed_bytes"]
        self.raw_bytes = 0

    def scan(self, seconds: float) -> None:
        """Read everything in order, again until the time is up where that takes a moment only."""
        deadline = time.perf_counter() + seconds
        with blockpack.open(self._built.path) as store:
            now = 0.0
            while now < deadline:
                start, nbytes = time.perf_counter(), 0
                for block in store.raw_range(self.first, self.stop):
                    nbytes += len(block)
                now = time.perf_counter()
                self._scan_seconds = min(self._scan_seconds, now - start)
        self.raw_bytes = nbytes

    def read(self, seconds: float) -> None:
        """Read random blocks of distinct groups, again and again until the time is up."""
        deadline = time.perf_counter() + seconds
        while True:
            numbers = [self._random.choice(span) for span in self._groups]
            self._random.shuffle(numbers)
            # A new handle each time: nothing of an earlier pass is cached or remembered.
            with blockpack.open(self._built.path) as store:
                start = time.perf_counter()
                done = 0
                for number in numbers:
                    store.raw(number)
                    done += 1
                    if done & 15 == 0 and time.perf_counter() > deadline:
                        break
                self._read_seconds += time.perf_counter() - start
                counted = store.counters.snapshot()
            self.reads += done
            self.misses += counted["cache_misses"]
            self.hits += counted["cache_hits"]
            if time.perf_counter() > deadline:
                return

    def row(self, size: int, single_bytes: int) -> GroupRow:
        """Return the row of this store."""
        return GroupRow(
            group_size=size, sealed_bytes=self.sealed_bytes,
            saved=1 - self.sealed_bytes / single_bytes,
            blocks_per_group=self.blocks / len(self._groups),
            read_ms=1e3 * self._read_seconds / self.reads, reads=self.reads,
            cache_misses=self.misses, cache_hits=self.hits,
            scan_ms=1e3 * self._scan_seconds / self.blocks, build_seconds=self._built.seconds)


def _group_spans(store: blockpack.BlockStore, first: int, stop: int) -> Iterator[range]:
    """The numbers of each group of bodies."""
    for start, _, low, high in store.records.groups(BODIES, first, stop):
        yield range(start + low, start + high)


def level_table(blocks: Blocks, levels: Sequence[int | str], *, compression: str = "s2",
                seal_compression_level: int | str = 6, block_group_size: int = 64,
                folder: str | Path | None = None, progress: Progress | None = None,
                **knobs: Any) -> LevelTable:
    """Import the same blocks through the open log at each of these levels, and seal.

    Arguments as for ``group_table``. Making or parsing the blocks is not counted.
    """
    _require_some(blocks)
    report = progress or _silent
    rows, count, raw_bytes = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="blockpack-tuning-", dir=folder) as where:
        for step, level in enumerate(levels):
            report(f"{compression}: import at level {level}", step, len(levels))
            with blockpack.create(
                Path(where) / str(step), compression=compression, compression_level=level,
                seal_compression_level=seal_compression_level,
                block_group_size=block_group_size, **_one_segment(knobs),
            ) as store:
                seconds, count, raw_bytes = timed_append(store, blocks())
                rows.append(_level_row(store, level, seconds / count))
        report(f"{compression}: import", len(levels), len(levels))
    return LevelTable(compression, parse_level(compression, seal_compression_level),
                      block_group_size, count, raw_bytes, rows)


def _level_row(store: blockpack.BlockStore, level: int | str, seconds: float) -> LevelRow:
    open_bytes = store.info()["open_bytes"]
    store.seal()
    return LevelRow(level, parse_level(store.knobs.compression, level), 1e3 * seconds,
                    open_bytes, store.info()["sealed_bytes"])


def _one_segment(knobs: dict[str, Any]) -> dict[str, Any]:
    """Knobs under which nothing is sealed before it is asked for."""
    return {"segment_blocks": 1 << 24, "segment_bytes": 1 << 40, **knobs}


def timed_append(store: blockpack.BlockStore, blocks: Iterable[bytes]) -> tuple[float, int, int]:
    """Append blocks and sync; return the seconds that took, the blocks, and their bytes."""
    seconds, count, nbytes = 0.0, 0, 0
    for block in blocks:
        start = time.perf_counter()
        store.append(block)
        seconds += time.perf_counter() - start
        count += 1
        nbytes += len(block)
    start = time.perf_counter()
    store.sync()
    return seconds + time.perf_counter() - start, count, nbytes


def _require_some(blocks: Blocks) -> None:
    if next(iter(blocks()), None) is None:
        raise ValueError("there are no blocks to measure with")


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
