#!/usr/bin/env python3
"""The grouping that the sealer chooses against plain groups of 64, on real and made-up blocks.

    python bench/bench_layout.py [--only SET] [--codec CODEC] [--tier TIER] [--blocks N] [--json]

Every set is sealed three times, all with the same codec and tier: in plain groups of 64, record by
record (plain groups of 1), and as --seal-dictionary auto chooses. Sizes are whole sealed files:
index, keys and everything else. The sets: `september`, the blocks 18090205-218 as a store; `may`,
the bodies of 19808000-024; `synthetic`, a dense chain; `sepolia`, the era1 file 00098; `early`,
mainnet 0-999. All but synthetic need BLOCKPACK_TESTDATA.

A random read is of all tables' records of one number. "prefix cached": the key groups are in the
cache, the frame is not. "uniform": numbers at random, after a warm-up, the cache a tenth of the
decoded bytes. "first": the first read of a store that was just opened, the opening included, as
the mean over every number.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import mean, median
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import realruns  # noqa: E402
from against.pairs import Line, median_ratio, take_turns, timed  # noqa: E402
from ratios import as_table  # noqa: E402

from blockpack._native.counters import Counters  # noqa: E402
from blockpack._native.rlp import split_block  # noqa: E402
from blockpack.measure import machine  # noqa: E402
from blockpack.measure.reads import UniformReads  # noqa: E402
from blockpack.measure.source import blocks_of  # noqa: E402
from blockpack.measure.synthetic import SyntheticChain  # noqa: E402
from blockpack.segment.reader import SegmentReader  # noqa: E402
from blockpack.store.knobs import Knobs  # noqa: E402
from blockpack.store.records import RecordStore  # noqa: E402

Records = dict[int, bytes]
HEADERS, BODIES = 1, 2

DENSE = ("september", "may", "synthetic")
FILES = {"september": "mainnet-18090205-18090218.rlp", "sepolia": "sepolia-00098-40286059.era1",
         "early": "besu-mainnet-1000.blocks"}
SETS = ("september", "may", "sepolia", "early", "synthetic")
GROUPS = "groups of 64"
ROUNDS, READS = 5, 600
TIERS = (("zstd", "default"), ("zstd", "best"), ("s2", "better"))
# What is measured -> its target for dense sets of real blocks, synthetic ones, sparse sets, or
# one set alone.
TARGETS = {
    "size": {"real": 1.015, "synthetic": 1.01, "sparse": 0.90, "early": 0.95},
    "prefix cached": {"real": 1.4, "synthetic": 1.4},
    "first": {"real": 0.40},
    "uniform": {"synthetic": 0.15, "sparse": 0.75},
    "decoded": {"sparse": 0.20},
    "seal": {"real": 2.0, "synthetic": 2.0, "sparse": 2.0},
    "scan": {"real": 1.0, "synthetic": 1.0, "sparse": 1.0},
}


@dataclass(frozen=True)
class Set:
    """Records of consecutive numbers, and what kind of chain they are of."""

    name: str
    kind: str    # real, synthetic or sparse
    first: int
    records: list[Records]

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.records))

    @property
    def tables(self) -> list[int]:
        return sorted(self.records[0])

    @property
    def decoded_bytes(self) -> int:
        return sum(len(part) for records in self.records for part in records.values())


def split(block: bytes) -> Records:
    place = split_block(block)
    return {HEADERS: block[place.header_start:place.header_end],
            BODIES: block[place.header_end:place.end]}


def load(name: str, count: int) -> Set:
    """The records of a set; ``count`` blocks of a made-up one, at most of a real one."""
    if name == "synthetic":
        made: Iterable[Records] = map(split, SyntheticChain(seed=1))
        return Set(name, "synthetic", 0, list(islice(made, count)))
    folder = Path(os.environ["BLOCKPACK_TESTDATA"])
    if name == "may":
        bodies = [{BODIES: body} for body in realruns.may_bodies(folder)]
        return Set(name, "real", 19_808_000, bodies)
    blocks = blocks_of(folder / FILES[name], count)()
    kind = "real" if name in DENSE else "sparse"
    return Set(name, kind, 0, [split(block) for block in blocks])


class Store:
    """The set sealed with one grouping."""

    def __init__(self, data: Set, path: Path, knobs: Knobs) -> None:
        self.data = data
        self.path = path
        start = perf_counter()
        with RecordStore.create(self.path, knobs) as store, store.direct_writer(1) as writer:
            for number, records in zip(data.numbers, data.records, strict=True):
                writer.append(number, records)
        self.seal_seconds = perf_counter() - start
        readers = [SegmentReader(str(path), counters=Counters())
                   for path in (self.path / "sealed").iterdir()]
        self.hash_bytes = sum(reader.sections().get("hashes", 0) for reader in readers)
        # The look-up index counts apart: it is the same whatever the grouping.
        self.file_bytes = sum(reader.file_bytes for reader in readers) - self.hash_bytes
        for reader in readers:
            reader.close()

    def open(self, cache_bytes: int | None = None) -> RecordStore:
        return RecordStore.open(self.path, cache_bytes=cache_bytes)

    def groupings(self) -> str:
        with self.open() as store:
            files = store.info()["segments"][0]["files"]
        return "; ".join(f"{file['table']}: {file['grouping']}" for file in files)

    def first_read(self, whole: bool) -> float:
        """Mean seconds of a first read; ``whole`` inflates all of the groups instead."""
        times = []
        for number in self.data.numbers:
            start = perf_counter()
            with self.open() as store:
                if whole:
                    for table in self.data.tables:
                        for _ in store.groups(table, self.data.first, self.data.numbers.stop):
                            pass
                else:
                    store.views(self.data.tables, number)
                times.append(perf_counter() - start)
        return mean(times)

    def scan(self) -> None:
        with self.open() as store:
            for _ in store.rows(self.data.tables, self.data.first, self.data.numbers.stop):
                pass


def misses(store: RecordStore, data: Set, numbers: Iterable[int]) -> float:
    """Mean seconds of the reads of numbers, of which the cache has no frame."""
    times = []
    for number in numbers:
        start = perf_counter()
        store.views(data.tables, number)
        times.append(perf_counter() - start)
    return mean(sorted(times)[:-len(times) // 20 or None])    # without the worst twentieth


def warm_reads(store: Store, seed: int) -> Callable[[], float]:
    """A side: every number once, at random, after a round of all that brought in the prefixes.

    A frame is kept at its second touch only when that comes soon, so these reads inflate theirs.
    """
    def run() -> float:
        source = random.Random(seed)
        with store.open(1 << 30) as opened:
            for _ in range(2):
                order = source.sample(store.data.numbers, min(len(store.data.numbers), 2000))
                taken = misses(opened, store.data, order)
        return taken
    return run


class Measured:
    """The lines of one set, codec and tier."""

    def __init__(self, data: Set, folder: Path, codec: str, tier: str, rounds: int) -> None:
        self.data = data
        self.rounds = rounds
        self.what = f"{data.name}, {codec} {tier}"
        knobs = Knobs(compression=codec, seal_compression_level=tier, seal_lag=0)
        self.plain = Store(data, folder / "plain", knobs)
        self.single = Store(data, folder / "single", replace(knobs, block_group_size=1))
        self.auto = Store(data, folder / "auto", replace(knobs, seal_dictionary="auto"))

    def lines(self) -> Iterator[Line]:
        auto, plain, single = self.auto, self.plain, self.single
        yield self.line("size", auto.file_bytes / 1e6, "MB", plain.file_bytes / 1e6, GROUPS,
                        note=f"{auto.groupings()}; the look-up index apart: "
                             f"{auto.hash_bytes / len(self.data.records):.1f} bytes a block")
        yield self.line("size, record by record", single.file_bytes / 1e6, "MB",
                        plain.file_bytes / 1e6, GROUPS)
        yield self.line("seal", auto.seal_seconds, "s", plain.seal_seconds, GROUPS)
        yield self.turns("scan", GROUPS, timed(auto.scan), timed(plain.scan))
        yield self.turns("prefix cached", "groups of 1", warm_reads(auto, 1), warm_reads(single, 1))
        if self.data.kind == "real":
            yield self.turns("first", "all groups inflated", lambda: auto.first_read(False),
                             lambda: plain.first_read(True))
            return
        ours, peer = (UniformReads(store.path, self.data.tables, self.data.numbers,
                                   self.data.decoded_bytes, seed=2, count=READS // 2)
                      for store in (auto, plain))
        yield self.turns("uniform", GROUPS, ours, peer)
        yield self.line("decoded", ours.inflated_bytes / 1e3, "KB",
                        peer.inflated_bytes / 1e3, GROUPS)

    def turns(self, name: str, against: str, ours: Callable[[], float],
              peer: Callable[[], float]) -> Line:
        times = take_turns({"ours": ours, "peer": peer}, self.rounds)
        return self.line(name, 1e6 * median(times["ours"]), "us", 1e6 * median(times["peer"]),
                         against, ratio=median_ratio(times["ours"], times["peer"]))

    def line(self, name: str, ours: float, unit: str, peer: float, against: str, *,
             ratio: float | None = None, note: str = "") -> Line:
        targets = TARGETS.get(name, {})
        target = targets.get(self.data.name, targets.get(self.data.kind))
        return Line("layout", f"{self.what}: {name}", ours, unit, peer, against,
                    ours / peer if ratio is None else ratio, target, note=note)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--tiny", action="store_true", help="a few blocks, to see that it runs")
    parser.add_argument("--only", action="append", choices=SETS, help="may be repeated")
    parser.add_argument("--codec", choices=sorted({codec for codec, _ in TIERS}))
    parser.add_argument("--tier", choices=sorted({tier for _, tier in TIERS}))
    parser.add_argument("--blocks", type=int, default=10_000,
                        help="synthetic blocks (default 10000: 900 MB), a tenth at tier best")
    return parser.parse_args()


def measure(args: argparse.Namespace) -> Iterator[Line]:
    real = "BLOCKPACK_TESTDATA" in os.environ and not args.tiny
    for name in args.only or (SETS if real else ["synthetic"]):
        for codec, tier in TIERS:
            if args.codec not in {None, codec} or args.tier not in {None, tier}:
                continue
            print(f"{name}, {codec} {tier} ...", file=sys.stderr)
            count = 70 if args.tiny else args.blocks // 10 if tier == "best" else args.blocks
            data = load(name, count if name == "synthetic" else 1 << 20)
            folder = Path(tempfile.mkdtemp(prefix="blockpack-layout-"))
            try:
                yield from Measured(data, folder, codec, tier, 1 if args.tiny else ROUNDS).lines()
            finally:
                shutil.rmtree(folder)


def main() -> int:
    args = options()
    lines = list(measure(args))
    if args.json:
        print(json.dumps({"machine": machine.describe(),
                          "lines": [line.as_dict() for line in lines]}, indent=1))
    else:
        print(f"{machine.describe()}; one thread\n\n{as_table(lines)}")
    missed = [line.name for line in lines if line.met is False]
    if missed:
        print(f"{len(missed)} targets missed: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
