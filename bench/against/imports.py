"""Appending at level 1: against bare compression and a buffered write, and beside a seal."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

import zstandard

import blockpack
from against.pairs import Line, compared_speed, take_turns
from against.stores import Bench, folder_bytes, remove
from blockpack._native import s2
from blockpack.chain.importer import import_blocks

APPEND, SEALING = 1.3, 0.60
NEVER = 1 << 32     # a seal lag that no test reaches
BUFFER_BYTES = 1 << 20


def lines(bench: Bench) -> list[Line]:
    return [line for codec in ("s2", "zstd")
            for line in (append(bench, codec), beside_seal(bench, codec),
                         *end_to_end(bench, codec))]


def bare_compress(codec: str) -> Callable[[bytes], bytes]:
    """The codec's own call at level 1, for a block as it comes."""
    return s2.compress if codec == "s2" else zstandard.ZstdCompressor(level=1).compress


def append(bench: Bench, codec: str) -> Line:
    """Blocks into an open log until they are durable; the peer writes the same blocks to a file."""
    blocks = bench.blocks[:bench.sizes.append_blocks]
    compress = bare_compress(codec)

    def ours() -> float:
        path = bench.new_path()
        store = blockpack.create(path, compression=codec, seal_lag=NEVER)
        start = perf_counter()
        for block in blocks:
            store.append(block)
        store.sync()
        seconds = perf_counter() - start
        store.close()
        remove(path)
        return seconds

    def peer() -> float:
        path = bench.new_path()
        start = perf_counter()
        with path.open("wb", buffering=BUFFER_BYTES) as file:
            for block in blocks:
                file.write(compress(block))
            file.flush()
            os.fsync(file.fileno())
            seconds = perf_counter() - start
        path.unlink()
        return seconds

    times = take_turns({"append": ours, "compress and write": peer}, bench.sizes.rounds)
    return compared_speed("imports", f"append, {codec} level 1, synced at the end", times,
                          "append", "compress and write", megabytes=megabytes(blocks),
                          target=APPEND, note="ratio of times")


def megabytes(blocks: Sequence[bytes]) -> float:
    return sum(map(len, blocks)) / 1e6


def beside_seal(bench: Bench, codec: str) -> Line:
    """Two segments appended while the one before is being sealed, against no seal at all.

    The backlog holds them, so no append waits; the seal runs from the first block to the last.
    """
    count = bench.sizes.append_blocks
    blocks = bench.blocks[:3 * count]
    sealing: list[bool] = []

    def run(lag: int) -> float:
        path = bench.new_path()
        store = blockpack.create(path, compression=codec, segment_blocks=count, seal_lag=lag)
        for block in blocks[:count + 1]:    # the first block past the border starts the seal
            store.append(block)
        start = perf_counter()
        for block in blocks[count + 1:]:
            store.append(block)
        seconds = perf_counter() - start
        if lag != NEVER:
            sealing.append(store.info()["sealing"]["running"])
        if store.counters.backlog_waits:
            raise AssertionError("an append waited for the sealer: the backlog was full")
        store.records.close(wait=False)
        remove(path)
        return seconds

    times = take_turns({"with a seal": lambda: run(0), "without": lambda: run(NEVER)},
                       bench.sizes.rounds)
    ran = sum(sealing)
    return compared_speed("imports", f"append beside a seal, {codec}", times, "with a seal",
                          "without", megabytes=megabytes(blocks[count + 1:]), target=SEALING,
                          at_least=True, note=f"seal still running at the end in {ran} of "
                          f"{len(sealing)} rounds; ratio of speeds")


def end_to_end(bench: Bench, codec: str) -> list[Line]:
    """Everything imported and sealed, through the open log and directly."""
    def run(direct: bool) -> float:
        path = bench.new_path()
        source = io.BytesIO(bench.block_file)
        store = blockpack.create(path, compression=codec, seal_lag=0,
                                 segment_blocks=bench.sizes.segment_blocks)
        start = perf_counter()
        import_blocks(store, source, direct=direct)
        store.seal()
        store.close()
        seconds = perf_counter() - start
        sizes.append(folder_bytes(path))
        remove(path)
        return seconds

    sizes: list[int] = []
    times = take_turns({"log": lambda: run(False), "direct": lambda: run(True)},
                       max(1, bench.sizes.rounds // 3))
    what = "import with the last seal"
    part = f"{sum(sizes) / len(sizes) / len(bench.block_file):.3f} of the size"
    return [Line("imports", f"{what}, {codec}, {name}", bench.megabytes / median(times[side]),
                 "MB/s", note=part)
            for side, name in (("log", "open log"), ("direct", "direct"))]
