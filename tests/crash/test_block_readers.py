"""Readers in other processes, while the writer appends, seals, cuts and takes another fork.

Each fork has its own headers and bodies, and a reader must always get both parts of one block of
one fork, in point reads and in ranges, and must never miss a block that was there throughout.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import chainmaker

import blockpack
from blockpack import BlockStore, NotYetError

FIRST, COMMON, COUNT = 5, 20, 60
SECONDS = 4.0
TRUNK = chainmaker.chain(COMMON, FIRST, tx_bytes=600)
FORKS = [chainmaker.chain(COUNT - COMMON, FIRST + COMMON, seed=seed, tx_bytes=100 * seed, txs=2,
                          parent=chainmaker.hash_of(TRUNK[-1])) for seed in (1, 2, 3)]
BLOCKS = set(TRUNK).union(*FORKS)


def write(path: Path, stop_at: float) -> int:
    rounds = 0
    with blockpack.open(path, mode="a") as store:
        while time.monotonic() < stop_at:
            for index, block in enumerate(FORKS[rounds % len(FORKS)]):
                store.append(block)
                if index % 7 == 0:
                    store.sync()
            if rounds % 2:
                store.seal()
            store.sync()
            store.truncate(FIRST + COMMON - 1)
            rounds += 1
    return rounds


def read(path: Path, seed: int, mmap: bool, done: Event, reads: Any) -> None:
    source = random.Random(seed)
    found = past = 0
    with blockpack.open(path, mmap=mmap) as store:
        while not done.is_set():
            store.refresh()
            try:
                found += look(store, source)
            except NotYetError:
                past += 1
    reads.put((found, past))


def look(store: BlockStore, source: random.Random) -> int:
    """One point read and one range; what was there throughout must be there."""
    trunk = source.randrange(COMMON)
    assert store.raw(FIRST + trunk) == TRUNK[trunk]
    number = FIRST + source.randrange(COUNT)
    assert store.raw(number) in BLOCKS
    start = FIRST + source.randrange(COUNT)
    stop = min(start + source.randrange(1, 30), FIRST + COUNT)
    blocks = list(store.raw_range(start, stop))
    assert len(blocks) == stop - start
    assert BLOCKS.issuperset(blocks)
    return len(blocks)


def test_readers_never_see_half_of_another_block(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with blockpack.create(path, block_group_size=4, segment_blocks=12, seal_lag=0) as store:
        for block in TRUNK:
            store.append(block)
    context = multiprocessing.get_context("spawn")
    done, reads = context.Event(), context.Queue()
    readers = [context.Process(target=read, args=(path, seed, mmap, done, reads))
               for seed, mmap in ((1, True), (2, False))]
    for reader in readers:
        reader.start()
    rounds = write(path, time.monotonic() + SECONDS)
    done.set()
    counts = [reads.get(timeout=60) for _ in readers]
    for reader in readers:
        reader.join()
        assert reader.exitcode == 0
    assert rounds >= 3
    assert all(found > 100 for found, _ in counts)
