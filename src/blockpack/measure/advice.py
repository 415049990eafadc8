"""Which knobs suit a chain: stores of the same blocks with every sensible choice, compared.

Sizes are of whole sealed files. Reads come from the page cache: they are what this program takes,
to which a disk adds its own.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import blockpack
from blockpack.measure.reads import UniformReads, repeated_reads
from blockpack.measure.source import Blocks
from blockpack.measure.tuning import Progress, build_direct, timed_append
from blockpack.segment.choosing import EXPONENT
from blockpack.segment.codecs import parse_level
from blockpack.store.tables import BODIES, HEADERS

# The best tiers pack 3 MB/s a core: with 32 MB, all variants take a minute or two.
SAMPLE_BYTES = 32 << 20
SAMPLE_BLOCKS = 8192
CODEC_TIERS = (("s2", "better"), ("zstd", "default"), ("zstd", "best"))
GROUP_SIZES = (1, 16, 64, 256)
READS, REPEATS, ROUNDS = 400, 100, 3
SEED = 20_231_215
# Fewer whole groups than this of the largest size, and the sizes lean on the groups' ends.
GROUPS_MIN = 4


@dataclass(frozen=True)
class Variant:
    """A choice of knobs."""

    compression: str
    seal_compression_level: int | str
    block_group_size: int
    seal_dictionary: str

    def knobs(self) -> dict[str, Any]:
        """As ``blockpack.create`` takes them."""
        return asdict(self)


@dataclass(frozen=True)
class AdviceRow:
    """What one choice costs: bytes of the sealed files, microseconds and bytes of a block.

    ``read_us`` is a random read of a block's header and body over ten times the cache, with the
    standard error of its mean; ``cached_us`` one of what was just read; ``scan_us`` a block's
    share of reading all. ``import_us`` is an append to the open log, ``pack_us`` an import
    straight into sealed segments on all cores. ``read_bytes`` are inflated by a random read,
    ``group_bytes`` the most that is at once. ``frontier``: no other is smaller and read faster.
    """

    variant: Variant
    groupings: str
    sealed_bytes: int
    read_us: float
    read_error_us: float
    read_bytes: float
    cached_us: float
    scan_us: float
    import_us: float
    pack_us: float
    group_bytes: int
    frontier: bool = False


@dataclass(frozen=True)
class Advice:
    """All rows, the smallest first; ``best`` is the recommended one's place, ``why`` says why."""

    blocks: int
    raw_bytes: int
    rows: list[AdviceRow]
    best: int
    why: str
    doubts: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)


def advise(blocks: Blocks, *, codec_tiers: Sequence[tuple[str, int | str]] = CODEC_TIERS,
           group_sizes: Sequence[int] = GROUP_SIZES, max_read_us: float | None = None,
           folder: str | Path | None = None, progress: Progress | None = None,
           **knobs: Any) -> Advice:
    """Build a store of the blocks for every choice, measure it, and recommend one.

    ``max_read_us`` bounds a random read's mean. ``folder`` is where temporary stores go, ``knobs``
    what else ``blockpack.create`` takes. Raises ValueError for fewer than two blocks.
    """
    variants = list(variants_of(codec_tiers, group_sizes))
    report = progress or (lambda what, done, total: None)
    steps = len(variants) + 1
    with tempfile.TemporaryDirectory(prefix="blockpack-advice-", dir=folder) as where:
        built = []
        for step, variant in enumerate(variants):
            report(f"{variant.compression} {variant.seal_compression_level}: groups of "
                   f"{variant.block_group_size}", step, steps)
            built.append(_Built(variant, Path(where) / str(step), blocks, knobs))
        report("reads", len(variants), steps)
        imports = {codec: _import_us(Path(where) / codec, blocks, codec, knobs)
                   for codec in {codec for codec, _ in codec_tiers}}
        for _ in range(ROUNDS):
            for one in built:
                one.measure()
        rows = marked(one.row(imports[one.variant.compression]) for one in built)
    best, why = recommended(rows, max_read_us)
    return Advice(built[0].count, built[0].raw_bytes, rows, best, why,
                  _doubts(rows, built[0].count, max(group_sizes)))


def variants_of(codec_tiers: Iterable[tuple[str, int | str]],
                group_sizes: Sequence[int]) -> Iterator[Variant]:
    """Plain groups of each size, and what the sealer chooses, bounded by the larger ones."""
    for codec, level in codec_tiers:
        for size in group_sizes:
            yield Variant(codec, level, size, "none")
        for size in group_sizes:
            if size >= 64:
                yield Variant(codec, level, size, "auto")


class _Built:
    """A sealed store of one variant, and what was measured of it."""

    def __init__(self, variant: Variant, path: Path, blocks: Blocks,
                 knobs: dict[str, Any]) -> None:
        self.variant = variant
        self._path = path
        self._pack_seconds = build_direct(path, blocks(), **variant.knobs(), **knobs).seconds
        with blockpack.open(path) as store:
            info = store.info()
            self._first, self._stop = store.first or 0, (store.head or 0) + 1
            self.count = self._stop - self._first
            if self.count < 2:
                raise ValueError("there are fewer than two blocks to measure with")
            self.raw_bytes = sum(map(len, store.raw_range(self._first, self._stop)))
            self._group_bytes = max(group.decoded_size for table in (HEADERS, BODIES)
                                    for _, group, _, _ in store.records.groups(
                                        table, self._first, self._stop))
        self._sealed_bytes = info["sealed_bytes"]
        self._groupings = "; ".join(
            f"{file['table']}: {file['grouping']}" for file in info["segments"][0]["files"])
        numbers = range(self._first, self._stop)
        self._uniform = UniformReads(path, (HEADERS, BODIES), numbers, self.raw_bytes,
                                     seed=SEED, count=READS)
        self._repeats = random.Random(SEED).choices(numbers, k=REPEATS)
        self._reads: list[float] = []
        self._cached: list[float] = []
        self._scans: list[float] = []

    def measure(self) -> None:
        """One round of everything."""
        self._reads.append(self._uniform())
        self._cached.append(repeated_reads(self._path, (HEADERS, BODIES), self._repeats))
        with blockpack.open(self._path) as store:
            start = perf_counter()
            for _ in store.raw_range(self._first, self._stop):
                pass
            self._scans.append((perf_counter() - start) / self.count)

    def row(self, import_us: float) -> AdviceRow:
        return AdviceRow(
            replace(self.variant, seal_compression_level=parse_level(
                self.variant.compression, self.variant.seal_compression_level)),
            self._groupings, self._sealed_bytes, 1e6 * median(self._reads),
            1e6 * self._uniform.error(), self._uniform.inflated_bytes, 1e6 * median(self._cached),
            1e6 * median(self._scans), import_us, 1e6 * self._pack_seconds / self.count,
            self._group_bytes)


def _import_us(path: Path, blocks: Blocks, codec: str, knobs: dict[str, Any]) -> float:
    with blockpack.create(path, compression=codec, segment_blocks=1 << 24,
                          **{"segment_bytes": 1 << 40, **knobs}) as store:
        seconds, count, _ = timed_append(store, blocks())
    return 1e6 * seconds / count


def marked(rows: Iterable[AdviceRow]) -> list[AdviceRow]:
    """The rows, smallest first, those on the frontier of size and random read marked."""
    fastest = float("inf")
    found = []
    for row in sorted(rows, key=lambda row: (row.sealed_bytes, row.read_us)):
        found.append(replace(row, frontier=row.read_us < fastest))
        fastest = min(fastest, row.read_us)
    return found


def recommended(rows: Sequence[AdviceRow], max_read_us: float | None) -> tuple[int, str]:
    """The place of the recommended row, and why it is that one."""
    if max_read_us is not None:
        # With 95 % of certainty below: the mean has an error.
        within = [i for i, row in enumerate(rows)
                  if row.read_us + 2 * row.read_error_us <= max_read_us]
        if within:
            return within[0], f"the smallest whose random read takes at most {max_read_us:g} us"
        best = min(range(len(rows)), key=lambda i: rows[i].read_us)
        return best, f"the fastest random read: none takes at most {max_read_us:g} us"
    best = min(range(len(rows)),
               key=lambda i: rows[i].sealed_bytes * rows[i].read_us ** EXPONENT)
    return best, (f"the best balance: half the time of a random read is taken to be worth "
                  f"{100 * (2 ** EXPONENT - 1):.0f} % more size")


def _doubts(rows: Sequence[AdviceRow], count: int, group_size: int) -> list[str]:
    """What makes the answer less than sure."""
    found = []
    if count < GROUPS_MIN * group_size:
        found.append(f"{count} blocks are fewer than {GROUPS_MIN} groups of {group_size}: sizes of "
                     "large groups and of prefixes would be smaller on a longer stretch")
    worst = max(row.read_error_us / row.read_us for row in rows)
    if worst > 0.1:
        found.append(f"random reads are uncertain by up to {100 * worst:.0f} % (standard error)")
    return found
