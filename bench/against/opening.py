"""Opening a store of many sealed segments and a half-full open log."""

from __future__ import annotations

import os
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter

import blockpack
from against.pairs import Line, quiet
from against.stores import Bench, remove
from blockpack._native.rlp import split_block
from blockpack.chain.records import split
from blockpack.store.fs import FileSystem
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore
from blockpack.store.tables import BODIES, HEADERS

OPEN_MILLISECONDS = 10.0
SEGMENT_BLOCKS = 2
FULL_SEGMENT_BLOCKS = 50_000
DISTINCT = 256      # blocks in the log before they come again: their numbers are not looked at


class NoSync(FileSystem):
    """A store that is only made to be opened need not survive a crash."""

    def fsync(self, fd: int) -> None:
        """Leave it to the end."""

    def fsync_dir(self, path: str) -> None:
        """Leave it to the end."""


def lines(bench: Bench) -> list[Line]:
    path = bench.new_path()
    build(path, bench)
    found = [opened(path, bench, mode) for mode in ("r", "a")]
    remove(path)
    return found


def build(path: Path, bench: Bench) -> None:
    """The sealed segments are small, the log is as dense as a real one."""
    sealed = SEGMENT_BLOCKS * bench.sizes.sealed_segments
    records = [dict(zip((HEADERS, BODIES), map(bytes, split(block, split_block(block))),
                        strict=True)) for block in bench.blocks[:DISTINCT]]
    small = {HEADERS: records[0][HEADERS], BODIES: b"\xc0\xc0"}
    with RecordStore.create(path, Knobs(segment_blocks=SEGMENT_BLOCKS), first=0,
                            fs=NoSync()) as store, store.direct_writer(1) as writer:
        for number in range(sealed):
            writer.append(number, small)
    with RecordStore.open(path, "a", segment_blocks=FULL_SEGMENT_BLOCKS, fs=NoSync()) as store:
        for number, record in enumerate(islice(cycle(records), bench.sizes.log_blocks), sealed):
            store.append(number, record)
    os.sync()


def opened(path: Path, bench: Bench, mode: str) -> Line:
    """Median time of an open; the page cache is warm after the first ones."""
    sizes = bench.sizes
    head = SEGMENT_BLOCKS * sizes.sealed_segments + sizes.log_blocks - 1
    seconds = []
    with quiet():
        for _ in range(5 + 5 * sizes.rounds):
            start = perf_counter()
            store = blockpack.open(path, mode=mode)
            seconds.append(perf_counter() - start)
            segments = len(store.records._state.manifest.segments)
            if (store.head, segments) != (head, sizes.sealed_segments):
                raise AssertionError(f"opened {segments} segments and head {store.head}")
            store.close()
    name = "reading" if mode == "r" else "writing"
    return Line("opening", f"open for {name}: {sizes.sealed_segments} segments and "
                f"{sizes.log_blocks} dense blocks in the log", median(seconds[5:]) * 1e3, "ms",
                target=OPEN_MILLISECONDS)
