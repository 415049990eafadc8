from collections.abc import Callable
from typing import Protocol, Self, final

from blockpack._native.cache import GroupCache
from blockpack._native.counters import Counters
from blockpack._native.group import Group
from blockpack._native.index import FrameIndex
from blockpack.errors import CorruptError

_Inflate = Callable[[bytes | memoryview, int], bytes]

class _Source(Protocol):
    size: int
    window: memoryview | None
    advised_fd: int
    def read(self, offset: int, size: int) -> bytes | memoryview: ...
    def advise(self, offset: int, size: int) -> None: ...

@final
class Prefix:
    @property
    def nbytes(self) -> int: ...

@final
class FrameReader:
    def __new__(
        cls,
        index: FrameIndex,
        source: _Source,
        inflate: _Inflate,
        checksum: Callable[[bytes | memoryview, int], int],
        *,
        path: str,
        identity: int,
        first: int,
        counters: Counters,
        limits: tuple[int, int, int, int],
        cache: GroupCache | None = None,
        table: int = 0,
        inflater_after: Callable[[bytes], tuple[_Inflate, int]] | None = None,
    ) -> Self: ...
    @property
    def index(self) -> FrameIndex: ...
    @property
    def source(self) -> _Source: ...
    def group(self, frame_number: int, prefix: Prefix | None = None) -> Group: ...
    def key_group(self, frame_number: int) -> tuple[Group, Prefix]: ...
    def span(
        self, start: int, stop: int, prefix: Prefix | None = None
    ) -> tuple[Group, Prefix]: ...
    def announce_span(self, start: int, stop: int) -> None: ...
    def data(self, frame_number: int) -> bytes | memoryview: ...
    def unverified(self, frame_number: int) -> bytes | memoryview: ...
    def verify(self, frame_number: int, data: bytes | memoryview) -> None: ...
    def announce(self, frame_number: int) -> None: ...
    def content_max(self, frame_number: int) -> int: ...
    def broken(self, frame_number: int, error: Exception) -> CorruptError: ...
    def forget(self) -> None: ...
