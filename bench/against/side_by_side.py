"""Ours beside LMDB, rocksdict and SQLite with a zstd value per block: one row a store."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import blockpack
from against.pairs import Line, Picks, read_in_turns, take_turns, timed
from against.peers import Peer, installed
from against.stores import Bench, folder_bytes, remove
from blockpack.chain.importer import import_blocks

OURS = (("zstd", 64), ("zstd", 1), ("s2", 64), ("s2", 1))
READS_CHUNK = 8


@dataclass(frozen=True, slots=True)
class Side:
    """One store with all blocks in it, open for reading."""

    name: str
    import_seconds: float
    folder: Path
    get: Callable[[int], bytes]
    scan: Callable[[], Iterator[bytes]]
    close: Callable[[], None]


def lines(bench: Bench) -> list[Line]:
    """Four lines a store; they carry no target: the table is for information."""
    sides = [*(peer(bench, kind) for kind in installed()),
             *(ours(bench, codec, group) for codec, group in OURS)]
    try:
        return measured(bench, sides)
    finally:
        for side in sides:
            side.close()
            remove(side.folder)


def measured(bench: Bench, sides: list[Side]) -> list[Line]:
    rounds = max(1, bench.sizes.rounds // 3)
    by_name = {side.name: side for side in sides}
    groups = [[number] for number in range(0, len(bench.blocks), 2)]
    reads = read_in_turns({name: side.get for name, side in by_name.items()},
                          Picks(groups, seed=9), 1, READS_CHUNK)
    scans = take_turns({name: timed(lambda side=side: deque(side.scan(), maxlen=0))
                        for name, side in by_name.items()}, rounds)
    found = []
    for name, side in by_name.items():
        found += [
            Line("stores", name, bench.megabytes / side.import_seconds, "MB/s", note="import"),
            Line("stores", name, len(bench.block_file) / folder_bytes(side.folder), "x",
                 note="raw bytes / sum of file sizes"),
            Line("stores", name, median(reads[name]) * 1e3, "ms", note="random read"),
            Line("stores", name, len(bench.blocks) / median(scans[name]), "blocks/s",
                 note="scan")]
    return found


def peer(bench: Bench, kind: Callable[[Path], Peer]) -> Side:
    folder = bench.new_path()
    store = kind(folder)
    start = perf_counter()
    store.load(bench.blocks)
    seconds = perf_counter() - start
    return Side(f"{store.name}, zstd-3 a block", seconds, folder, store.get, store.scan,
                store.close)


def ours(bench: Bench, codec: str, group: int) -> Side:
    """Import through the open log, until the last block is sealed."""
    folder = bench.new_path()
    start = perf_counter()
    with blockpack.create(folder, compression=codec, block_group_size=group, seal_lag=0,
                          segment_blocks=bench.sizes.segment_blocks) as made:
        import_blocks(made, io.BytesIO(bench.block_file))
        made.seal()
    seconds = perf_counter() - start
    store = blockpack.open(folder)
    return Side(f"blockpack {codec}, group {group}", seconds, folder, store.raw,
                lambda: store.raw_range(0, len(store)), store.close)
