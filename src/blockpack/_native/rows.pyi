from collections.abc import Iterable, Iterator
from typing import Self, final

from blockpack._native.group import Group

@final
class Rows:
    def __new__(cls, tables: Iterable[Iterator[tuple[int, Group, int, int]]]) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[memoryview | None, ...]: ...
