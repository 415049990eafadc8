"""Several tables of a range side by side, group by group: each group inflated once, then let go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from blockpack._native.group import Group
from blockpack.store.state import LOG_GROUP, State

Found = tuple[int, Group, int, int]  # as State.groups yields it

# Numbers of a window that needs no table at all.
_BLANK_NUMBERS = 1 << 16


class Window(NamedTuple):
    """Numbers start..stop-1, whose records lie in one group of each table asked for.

    ``groups`` has (group, position in it of the record of ``start``) for each of them.
    """

    start: int
    stop: int
    groups: list[tuple[Group, int]]


class Windows:
    """The windows of a range, front to back, all tables of one window of one moment.

    Groups of different tables need not begin at the same numbers; a group stays until its last
    number was read. ``require(start, stop)`` gives the state that holds a range, and
    ``refresh_for(state, error)`` looks for a newer one after a file of it was gone.
    """

    def __init__(self, require: Callable[[int, int], State],
                 refresh_for: Callable[[State, FileNotFoundError], None],
                 start: int, stop: int) -> None:
        if start < stop:
            require(start, stop)
        self.at = start
        self.stop = stop
        self._require = require
        self._refresh_for = refresh_for
        self._state: State | None = None
        self._groups: dict[int, Iterator[Found]] = {}
        self._current: dict[int, Found] = {}

    def read(self, table_ids: Sequence[int]) -> Window | None:
        """The window at ``at``, None at the end; reading it again may ask for more tables.

        Whoever is done with it lets go of it, sets ``at`` to its stop and reads the next one.
        """
        while self.at < self.stop:
            state = self._state or self._require(self.at, self.stop)
            self._state = state
            try:
                found = [self._group_at(state, table) for table in table_ids]
            except FileNotFoundError as error:
                self._state = None
                self._groups.clear()
                self._current.clear()
                self._refresh_for(state, error)
                continue
            stop = min([self.stop, *(first + high for first, _, _, high in found)])
            if not found:
                stop = min(stop, self.at + _BLANK_NUMBERS)
            return Window(self.at, stop, [(group, self.at - first) for first, group, _, _ in found])
        return None

    def pieces(self, table: int) -> Iterator[tuple[int, int, int]]:
        """(start, stop, stored bytes) of what the range has of each of the table's groups.

        Nothing is inflated: it is for sharing the range out. Bytes are 0 where nothing is sealed.
        """
        at = self.at
        while at < self.stop:
            state = self._require(at, self.stop)
            try:
                for piece in _pieces(state, table, at, self.stop):
                    at = piece[1]
                    yield piece
            except FileNotFoundError as error:
                self._refresh_for(state, error)

    def _group_at(self, state: State, table: int) -> Found:
        if table not in self._groups:
            self._groups[table] = iter(state.groups(table, self.at, self.stop))
        found = self._current.get(table)
        if found is None or found[0] + found[3] <= self.at:
            # Not one group more in memory: the last one has gone when the next is inflated.
            del found
            self._current.pop(table, None)
            found = self._current[table] = next(self._groups[table])
        return found


def _pieces(state: State, table: int, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    for row, low, high in state.sealed_parts(start, stop):
        reader = state.reader(row, table)
        if reader is None:
            yield low, high, 0
            continue
        yield from reader.pieces(low, high)
    for _, low, high in state.log_parts(max(start, state.sealed_end), stop):
        yield from ((at, min(high, at + LOG_GROUP), 0) for at in range(low, high, LOG_GROUP))
