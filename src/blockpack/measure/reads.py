"""Random reads of a sealed store, as a user's would be: a cache that holds a part of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter

from blockpack.store.records import RecordStore

CACHE_PART = 10    # the cache has the decoded bytes divided by this


class UniformReads:
    """Reads of all ``tables`` of numbers at random, after as many that warm the cache up.

    Each call opens the store anew and returns the mean seconds of one of ``count`` reads;
    ``times`` are those of the last call, ``inflated_bytes`` what one of them inflated on average.
    """

    def __init__(self, path: Path, tables: Sequence[int], numbers: Sequence[int],
                 decoded_bytes: int, *, seed: int, count: int) -> None:
        source = random.Random(seed)
        self._path = path
        self._tables = tables
        self._cache_bytes = decoded_bytes // CACHE_PART
        self._numbers = [source.choice(numbers) for _ in range(2 * count)]
        self.times: list[float] = []
        self.inflated_bytes = 0.0

    def __call__(self) -> float:
        count = len(self._numbers) // 2
        self.times = []
        with RecordStore.open(self._path, cache_bytes=self._cache_bytes) as store:
            for number in self._numbers[:count]:
                store.views(self._tables, number)
            before = store.counters.bytes_out
            for number in self._numbers[count:]:
                start = perf_counter()
                store.views(self._tables, number)
                self.times.append(perf_counter() - start)
            self.inflated_bytes = (store.counters.bytes_out - before) / count
        return mean(self.times)

    def error(self) -> float:
        """Standard error of the last mean, in seconds."""
        return float(stdev(self.times) / len(self.times) ** 0.5)


def repeated_reads(path: Path, tables: Sequence[int], numbers: Sequence[int]) -> float:
    """Mean seconds of a read of the number that was just read, all that it needs in the cache."""
    times = []
    with RecordStore.open(path, cache_bytes=1 << 30) as store:
        for number in numbers:
            for _ in range(2):    # what is kept is kept at the second touch
                store.views(tables, number)
            start = perf_counter()
            store.views(tables, number)
            times.append(perf_counter() - start)
    return mean(times)
