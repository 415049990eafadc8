#!/usr/bin/env python3
"""Our S2 beside Go's assembly build: speed and size of every tier, as ratios of one run.

    python bench/bench_s2.py [--check] [--json] [--tiny] [--only SET] [--tier TIER]

Go runs on one thread in a process of its own (tests/interop/s2oracle: it needs golang-go and
golang-github-klauspost-compress-dev). Both sides work into memory that is ready, take turns pass by
pass, and decode the same blocks, those of our encoder. A ratio of speeds is the median over the
rounds of theirs / ours in time, one of sizes is ours / theirs. --check makes the exit status 1
when a target is missed, --margin allows so many percent below it.

The sets: `run`, the blocks 18090205-218 one by one; `group`, the same as one piece; `singles`,
single mainnet blocks of 30 KB and more; `synthetic`, groups of 64 made-up blocks. The first three
need BLOCKPACK_TESTDATA.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

from against.pairs import Line, compared_speed, take_turns  # noqa: E402
from ratios import as_table  # noqa: E402
from s2go import GO_TIERS, Oracle, build, missing  # noqa: E402

from blockpack._native import s2  # noqa: E402
from blockpack._native.rlp import split_block  # noqa: E402
from blockpack.measure import machine  # noqa: E402
from blockpack.measure.synthetic import SyntheticChain  # noqa: E402

RUN = "mainnet-18090205-18090218.rlp"
SINGLE_MIN = 30_000
SETS = ("run", "group", "singles", "synthetic")
DECODE_MIN = 1.15
# Tier -> least speed against Go, largest size against Go.
ENCODE = {"fastest": (1.0, 1.005), "better": (1.2, 1.0), "best": (4.0, 0.99)}
# Go's best encodes 4 to 8 MB/s: its passes are the time that all of this takes.
ROUNDS = {"fastest": 21, "better": 21, "best": 3}
DECODE_ROUNDS = 21


def blocks_in(stream: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(stream):
        end = split_block(stream, start).end
        yield stream[start:end]
        start = end


def real_sets(folder: Path) -> dict[str, list[bytes]]:
    run = (folder / RUN).read_bytes()
    singles = [path.read_bytes() for path in sorted((folder / "singles").glob("*.rlp"))]
    return {"run": list(blocks_in(run)), "group": [run],
            "singles": [block for block in singles if len(block) >= SINGLE_MIN]}


def all_sets(tiny: bool) -> dict[str, list[bytes]]:
    group, groups = (4, 1) if tiny else (64, 2)
    chain = iter(SyntheticChain(seed=1))
    synthetic = [b"".join(islice(chain, group)) for _ in range(groups)]
    folder = os.environ.get("BLOCKPACK_TESTDATA")
    real = real_sets(Path(folder)) if folder and not tiny else {}
    return {**real, "synthetic": synthetic}


class Ours:
    """Our passes over the same buffers; targets are made once, before the clock starts."""

    def __init__(self, sources: list[bytes], blocks: list[bytes]) -> None:
        self._encode = [(source, bytearray(s2.compress_bound(len(source)))) for source in sources]
        self._decode = [(block, bytearray(s2.decompressed_size(block))) for block in blocks]

    def encode(self, tier: str) -> float:
        start = perf_counter()
        for source, target in self._encode:
            s2.compress_into(source, target, tier)
        return perf_counter() - start

    def decode(self) -> float:
        start = perf_counter()
        for block, target in self._decode:
            s2.decompress_into(block, target)
        return perf_counter() - start


def measured(oracle: Oracle, name: str, sources: list[bytes], tier: str,
             tiny: bool) -> list[Line]:
    blocks = [s2.compress(source, tier) for source in sources]
    ours = Ours(sources, blocks)
    decoded = sum(map(len, sources))
    encode_min, size_max = ENCODE[tier]
    what = f"{tier}, {name}"
    oracle.keep(sources)
    size = oracle.timed("t", tier)[1]
    times = take_turns({"ours": lambda: ours.encode(tier),
                        "Go": lambda: oracle.timed("t", tier)[0]}, 1 if tiny else ROUNDS[tier])
    encode = compared_speed("s2", f"encode {what}", times, "ours", "Go", megabytes=decoded / 1e6,
                            target=encode_min, at_least=True)
    oracle.keep(blocks)
    times = take_turns({"ours": ours.decode, "Go": lambda: oracle.timed("T")[0]},
                       1 if tiny else DECODE_ROUNDS)
    decode = compared_speed("s2", f"decode {what}", times, "ours", "Go", megabytes=decoded / 1e6,
                            target=DECODE_MIN, at_least=True)
    have = sum(map(len, blocks))
    return [encode, Line("s2", f"size {what}", have / 1e6, "MB", size / 1e6, "Go", have / size,
                         size_max), decode]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--margin", type=float, default=0.0, metavar="PERCENT",
                        help="what --check lets pass below a target of speed (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--tiny", action="store_true", help="one short pass, to see that it runs")
    parser.add_argument("--only", action="append", choices=SETS, help="may be repeated")
    parser.add_argument("--tier", action="append", choices=list(GO_TIERS), help="may be repeated")
    return parser.parse_args()


def report(lines: list[Line], as_json: bool) -> str:
    if as_json:
        return json.dumps({"machine": machine.describe(),
                           "lines": [line.as_dict() for line in lines]}, indent=1)
    return f"{machine.describe()}; one thread\n\n{as_table(lines)}"


def missed(lines: list[Line], margin: float) -> list[str]:
    """Names of the lines that are worse than their target, speeds by more than ``margin`` %."""
    eased = [replace(line, target=line.target * (1 - margin / 100))
             if line.at_least and line.target is not None else line for line in lines]
    return [line.name for line in eased if line.met is False]


def main() -> int:
    chosen = options()
    if (reason := missing()) is not None:
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="blockpack-s2-") as folder, \
            Oracle(build(Path(folder) / "go")) as oracle:
        for name, sources in all_sets(chosen.tiny).items():
            for tier in GO_TIERS:
                if name in (chosen.only or SETS) and tier in (chosen.tier or GO_TIERS):
                    print(f"{name}, {tier} ...", file=sys.stderr)
                    lines += measured(oracle, name, sources, tier, chosen.tiny)
    print(report(lines, chosen.json))
    worse = missed(lines, chosen.margin)
    if worse:
        print(f"{len(worse)} targets missed: {'; '.join(worse)}", file=sys.stderr)
    return 1 if worse and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
