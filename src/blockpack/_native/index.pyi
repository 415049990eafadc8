from typing import Self, final

from typing_extensions import Buffer

INDEX_ENTRY_BYTES: int
INDEX_FIRST_BYTES: int

@final
class FrameIndex:
    def __new__(
        cls,
        entries: Buffer,
        firsts: Buffer | None,
        *,
        records: int,
        group_size: int,
        start: int,
        end: int,
    ) -> Self: ...
    @property
    def records(self) -> int: ...
    @property
    def group_size(self) -> int: ...
    def __len__(self) -> int: ...
    def find(self, ordinal: int) -> int: ...
    def entry(self, i: int) -> tuple[int, int, int, int, int, int]: ...
    def locate(self, ordinal: int) -> tuple[int, int, int, int, int, int]: ...
