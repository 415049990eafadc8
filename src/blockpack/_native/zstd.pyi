from typing import Self, final

from typing_extensions import Buffer

DECOMPRESSOR_BYTES: int

@final
class ZstdInflater:
    def __new__(cls, prefix: Buffer | None = None) -> Self: ...
    def inflate(self, frame: bytes | bytearray | memoryview, size_max: int) -> bytes: ...

def content_size(frame: bytes | bytearray | memoryview, size_max: int) -> int: ...
