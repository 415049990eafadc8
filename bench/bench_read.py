"""Random reads of single blocks: every read a cache miss on another group than the last."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from data import GROUP_BLOCKS

import blockpack


def distinct_groups(store: blockpack.BlockStore, seed: int) -> Iterator[int]:
    """Numbers without end, no two in a row from the same group."""
    numbers = list(range(store.first or 0, (store.head or 0) + 1))
    shuffle = random.Random(seed)
    last = -1
    while True:
        number = shuffle.choice(numbers)
        if number // GROUP_BLOCKS != last // GROUP_BLOCKS:
            yield number
            last = number


@pytest.mark.parametrize("read", ["raw", "view", "header"])
def bench_random(benchmark: Callable[..., object], store: blockpack.BlockStore, read: str) -> None:
    method = getattr(store, read)
    numbers = distinct_groups(store, seed=7)
    assert benchmark(lambda: method(next(numbers))) is not None
