"""Readers in other processes, while the writer appends, seals, cuts and takes another fork.

Each fork has its own headers and bodies, and a reader must always get both parts of one block of
one fork, in point reads and in ranges, and must never miss a block that was there throughout.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import chainmaker

import blockpack
from blockpack import BlockStore, NotYetError

FIRST, COMMON, COUNT = 5, 20, 60
# The race goes on for SECONDS, and on a slow machine until all sides had their turns.
SECONDS, SECONDS_MAX = 4.0, 90.0
ROUNDS_MIN, FOUND_MIN = 3, 100
TRUNK = chainmaker.chain(COMMON, FIRST, tx_bytes=600)
FORKS = [chainmaker.chain(COUNT - COMMON, FIRST + COMMON, seed=seed, tx_bytes=100 * seed, txs=2,
                          parent=chainmaker.hash_of(TRUNK[-1])) for seed in (1, 2, 3)]
BLOCKS = set(TRUNK).union(*FORKS)


def write(path: Path, readers_had_enough: Callable[[], bool]) -> int:
    rounds = 0
    began = time.monotonic()

    def over() -> bool:
        seconds = time.monotonic() - began
        had_enough = rounds >= ROUNDS_MIN and readers_had_enough()
        return seconds > SECONDS_MAX or (seconds > SECONDS and had_enough)

    with blockpack.open(path, mode="a") as store:
        while not over():
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


def read(path: Path, mmap: bool, enough: Event, done: Event, reads: Any) -> None:
    source = random.Random(mmap)
    found = past = 0
    with blockpack.open(path, mmap=mmap) as store:
        while not done.is_set():
            store.refresh()
            try:
                found += look(store, source)
                if found > FOUND_MIN:
                    enough.set()
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
    enough = [context.Event(), context.Event()]
    readers = [context.Process(target=read, args=(path, mmap, had, done, reads))
               for mmap, had in zip((True, False), enough, strict=True)]
    for reader in readers:
        reader.start()
    rounds = write(path, lambda: all(had.is_set() for had in enough)
                   or any(reader.exitcode is not None for reader in readers))
    done.set()
    for reader in readers:
        reader.join(timeout=60)
        assert reader.exitcode == 0
    assert rounds >= ROUNDS_MIN
    assert all(found > FOUND_MIN for found, _ in (reads.get(timeout=60) for _ in readers))
