from typing import final

from typing_extensions import Buffer

INDEX_ENTRY_BYTES: int

@final
class FrameIndex:
    def __init__(
        self,
        buffer: Buffer,
        count: int,
        *,
        records: int,
        group_size: int,
        offset_min: int,
        offset_max: int,
        group_bytes_max: int,
        single_bytes_max: int,
    ) -> None: ...
    @property
    def records(self) -> int: ...
    @property
    def group_size(self) -> int: ...
    @property
    def decoded_size_max(self) -> int: ...
    def __len__(self) -> int: ...
    def find(self, ordinal: int) -> int: ...
    def entry(self, i: int) -> tuple[int, int, int, int, int, int, int]: ...
    def locate(self, ordinal: int) -> tuple[int, int, int, int, int, int, int]: ...
