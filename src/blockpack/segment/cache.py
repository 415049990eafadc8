"""Decoded groups in memory, least recently used out first, within a budget of bytes."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict

from blockpack._native.group import Group

# Touched frames that are remembered even while the cache is empty.
TOUCHED_MIN = 4


class GroupCache:
    """Groups by key, shared by the readers of a store and safe for their threads.

    ``budget`` is in bytes of content and tables; None allows the largest group seen of each
    table, summed, so that a scan by single reads inflates each group once.
    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self.nbytes = 0
        self._groups: OrderedDict[int, Group] = OrderedDict()
        self._largest: dict[int, int] = {}
        self._touched: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()
        self._bases = itertools.count(1)

    def new_base(self) -> int:
        """Return a number that sets one reader's keys apart: key = base + frame (< 2^40)."""
        return next(self._bases) << 40

    def get(self, key: int) -> Group | None:
        """Return the group, as the most recently used one from now on, or None."""
        with self._lock:
            group = self._groups.get(key)
            if group is not None:
                self._groups.move_to_end(key)
            return group

    def touched_before(self, key: int) -> bool:
        """Note a read in this frame; True when there was one a short while ago.

        How long depends on how many groups the cache holds: remembering more than twice as many
        would take a random read for a local one and inflate a whole group for nothing.
        """
        with self._lock:
            if key in self._touched:
                self._touched.move_to_end(key)
                return True
            self._touched[key] = None
            while len(self._touched) > max(TOUCHED_MIN, 2 * len(self._groups)):
                self._touched.popitem(last=False)
            return False

    def put(self, key: int, table: int, group: Group) -> None:
        """Keep a whole group of ``table``, unless it is larger than the budget."""
        size = group.nbytes
        with self._lock:
            if size > self._largest.get(table, 0):
                self._largest[table] = size
            budget = self.budget if self.budget is not None else sum(self._largest.values())
            if size > budget:
                return
            old = self._groups.pop(key, None)
            self.nbytes += size - (old.nbytes if old is not None else 0)
            self._groups[key] = group
            while self.nbytes > budget:
                _, oldest = self._groups.popitem(last=False)
                self.nbytes -= oldest.nbytes

    def drop(self, base: int) -> None:
        """Forget the groups of one reader."""
        with self._lock:
            for key in [key for key in self._groups if key >> 40 == base >> 40]:
                self.nbytes -= self._groups.pop(key).nbytes
            for key in [key for key in self._touched if key >> 40 == base >> 40]:
                del self._touched[key]

    def __len__(self) -> int:
        return len(self._groups)
