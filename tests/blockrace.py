"""The reading side of test_block_readers, in a module that a spawned process can import."""

from __future__ import annotations

import random
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import chainmaker

import blockpack
from blockpack import BlockStore, NotYetError

FIRST, COMMON, COUNT = 5, 20, 60
FOUND_MIN = 100
TRUNK = chainmaker.chain(COMMON, FIRST, tx_bytes=600)
FORKS = [chainmaker.chain(COUNT - COMMON, FIRST + COMMON, seed=seed, tx_bytes=100 * seed, txs=2,
                          parent=chainmaker.hash_of(TRUNK[-1])) for seed in (1, 2, 3)]
BLOCKS = set(TRUNK).union(*FORKS)


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
