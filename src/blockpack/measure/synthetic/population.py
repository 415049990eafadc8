"""Things that occur again: popular ones for good, others for a while, the rest once.

This is where a synthetic chain gets its locality from. A pool hands out an item from one of four
sources: a fixed set with Zipf popularity; a *burst*, what was handed out a moment ago, as in the
same block; the *recent* past, at a distance whose every doubling is equally likely, from a 128th
of ``reach`` up to it; or a new one. So what a longer look back finds grows by the same amount per
doubling of the group and stops growing at the reach, as it does in real chains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from blockpack.measure.synthetic.entropy import (
    DRAW_RANGE,
    SLOT_MASK,
    Entropy,
    log_uniform,
    popularity,
)

Item = TypeVar("Item")

BURST_ITEMS = 16
REACH_DOUBLINGS = 7


class Pool(Generic[Item]):
    """Items of one kind.

    ``popular``, ``burst`` and ``recent`` are the shares of the sources of known items, ``count``
    the size of the popular set and ``flat`` the flatness of its head; ``reach`` is a distance in
    items handed out.
    """

    __slots__ = ("_burst_below", "_bursts", "_distances", "_draw", "_fresh", "_head", "_mask",
                 "_popular", "_popular_below", "_ranks", "_recent_below", "_ring")

    def __init__(self, entropy: Entropy, fresh: Callable[[], Item], *, popular: float = 0.0,
                 burst: float = 0.0, recent: float = 0.0, count: int = 1, flat: float = 1.0,
                 reach: int = 64) -> None:
        self._draw = entropy.draw
        self._fresh = fresh
        self._popular_below = int(popular * DRAW_RANGE)
        self._burst_below = self._popular_below + int(burst * DRAW_RANGE)
        self._recent_below = self._burst_below + int(recent * DRAW_RANGE)
        self._popular: list[Item | None] = [None] * count
        self._ranks = popularity(count, flat)
        self._bursts = log_uniform(1, BURST_ITEMS)
        self._distances = log_uniform(max(reach >> REACH_DOUBLINGS, 1), reach)
        size = 1 << reach.bit_length()
        self._mask = size - 1
        self._ring: list[Item | None] = [None] * size
        self._head = 0

    def pick(self) -> Item:
        """Return the next item."""
        source = self._draw()
        if source < self._popular_below:
            rank = self._ranks[self._draw() & SLOT_MASK]
            item = self._popular[rank]
            if item is None:
                self._popular[rank] = item = self._fresh()
            return item
        head, mask = self._head, self._mask
        item = None
        if source < self._recent_below:
            far = self._bursts if source < self._burst_below else self._distances
            item = self._ring[head - far[self._draw() & SLOT_MASK] & mask]
        if item is None:
            item = self._fresh()
        self._ring[head & mask] = item
        self._head = head + 1
        return item

    def peek(self, draw: int) -> Item:
        """Return a known item for a 16-bit number, without handing it out."""
        item = self._popular[self._ranks[draw & SLOT_MASK]] if draw & 0x8000 else None
        if item is None:
            item = self._ring[self._head - self._bursts[draw & SLOT_MASK] & self._mask]
        return self._fresh() if item is None else item
