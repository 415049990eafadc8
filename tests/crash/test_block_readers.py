"""Readers in other processes, while the writer appends, seals, cuts and takes another fork.

Each fork has its own headers and bodies, and a reader must always get both parts of one block of
one fork, in point reads and in ranges, and must never miss a block that was there throughout.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path

from blockrace import COMMON, FIRST, FORKS, FOUND_MIN, TRUNK, read

import blockpack

# The race goes on for SECONDS, and on a slow machine until all sides had their turns.
SECONDS, SECONDS_MAX = 4.0, 90.0
ROUNDS_MIN = 3


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
