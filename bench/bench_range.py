"""Ranges read end to end: bytes, views, and the headers alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

import blockpack


@pytest.mark.parametrize("views", [False, True], ids=["bytes", "views"])
def bench_range(benchmark: Callable[..., object], store: blockpack.BlockStore,
                views: bool) -> None:
    start, stop = store.first or 0, (store.head or 0) + 1
    last = benchmark(lambda: deque(store.raw_range(start, stop, views=views), maxlen=1))
    assert isinstance(last, deque)
    assert len(last) == 1
