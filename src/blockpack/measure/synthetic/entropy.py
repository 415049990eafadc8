"""The synthetic chain's own random bits, and the tables that turn them into choices.

The stream is SHAKE-128 (FIPS 202) over key and counter, so the same bytes come out on every
platform and Python version; no libm, no NumPy, no ``random``. Tables are made of integers, or of
operations that IEEE 754 rounds exactly.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

Item = TypeVar("Item")

CHUNK_BYTES = 1 << 16
DRAW_BITS = 16
DRAW_RANGE = 1 << DRAW_BITS
SLOTS = 4096  # of a choice table; indexed by the low 12 bits of a draw
SLOT_MASK = SLOTS - 1


class Entropy:
    """An endless deterministic stream, as 16-bit numbers (``draw``) and as bytes (``take``)."""

    __slots__ = ("_buffer", "_bytes", "_position", "draw")

    def __init__(self, key: bytes) -> None:
        self.draw: Callable[[], int] = chain.from_iterable(
            struct.unpack(f"<{CHUNK_BYTES // 2}H", chunk) for chunk in chunks(key + b"/numbers")
        ).__next__
        self._bytes = chunks(key + b"/bytes")
        self._buffer = b""
        self._position = 0

    def take(self, size: int) -> bytes:
        """Return the next ``size`` random bytes."""
        start = self._position
        self._position = end = start + size
        if end > len(self._buffer):
            return self._refill(start, size)
        return self._buffer[start:end]

    def _refill(self, start: int, size: int) -> bytes:
        parts = [self._buffer[start:]]
        while sum(map(len, parts)) < size:
            parts.append(next(self._bytes))
        self._buffer = b"".join(parts)
        self._position = size
        return self._buffer[:size]

    def below(self, limit: int) -> int:
        """Return a number in [0, limit), limit at most 65,536."""
        return self.draw() * limit >> DRAW_BITS

    def chance(self, share: float) -> bool:
        """Return True for about ``share`` of the calls."""
        return self.draw() < share * DRAW_RANGE


def chunks(key: bytes) -> Iterator[bytes]:
    """Yield the stream in pieces of CHUNK_BYTES."""
    counter = 0
    while True:
        yield hashlib.shake_128(key + counter.to_bytes(8, "little")).digest(CHUNK_BYTES)
        counter += 1


def weighted(items: Sequence[tuple[Item, float]], slots: int = SLOTS) -> list[Item]:
    """Return ``slots`` entries in which each item has its share of the weights."""
    total = sum(weight for _, weight in items)
    table: list[Item] = []
    upto = 0.0
    for item, weight in items:
        upto += weight
        table += [item] * (round(upto / total * slots) - len(table))
    return table


def popularity(count: int, flat: float) -> list[int]:
    """Return SLOTS ranks below ``count`` in proportion to 1 / (rank + flat): Zipf-Mandelbrot."""
    return weighted([(rank, 1.0 / (rank + flat)) for rank in range(count)])


def log_uniform(low: int, high: int) -> list[int]:
    """Return SLOTS distances from ``low`` to ``high``, each doubling of them equally likely."""
    step = high / low
    for _ in range(DRAW_BITS - 4):
        step = math.sqrt(step)  # the SLOTS-th root, rounded exactly at every step
    distances, value = [], float(low)
    for _ in range(SLOTS):
        distances.append(min(int(value), high))
        value *= step
    return distances
