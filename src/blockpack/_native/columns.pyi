from collections.abc import Iterable
from typing import Self, final

from typing_extensions import Buffer

from blockpack._native.group import Group

FIELDS: dict[str, int]
KINDS: dict[str, int]
ROWS: dict[str, int]
SOURCES: tuple[str, ...]

def has_storage_form(group: Group, low: int, high: int) -> bool: ...
@final
class Builder:
    def __new__(
        cls,
        rows: int,
        columns: Iterable[tuple[str, int, int, int, int, bool, str | None]],
        *,
        constant: int | None = None,
        blocks: int = 0,
    ) -> Self: ...
    @property
    def rows(self) -> int: ...
    @property
    def sources(self) -> tuple[int, ...]: ...
    @property
    def nbytes(self) -> int: ...
    def use_bodies(self) -> None: ...
    def add(self, first: int, blocks: int, groups: list[tuple[Group, int] | None]) -> None: ...
    def finish(self) -> list[tuple[int, tuple[Buffer, ...]]]: ...
