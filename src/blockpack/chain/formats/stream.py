"""A window over a byte stream: big reads, slices of what was read, and where each slice was.

Files, pipes and gzip streams all end up here. A block is handed out as a view of the chunk that
it was read in, so a stream costs one system call a chunk and no copy, except for the block that
lies across two chunks. Chunks are ``bytes``: views stay valid for as long as someone holds them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import BinaryIO, Protocol

# One read. 1 MiB is within 2 % of the speed of 16 MiB on a warm file, and what a slow consumer
# of views keeps alive stays small.
CHUNK_BYTES = 1 << 20


class Reader(Protocol):
    """What a stream reads from."""

    @property
    def bytes_left(self) -> int | None:
        """Bytes up to the end of the input, where that is known."""
        ...

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes as soon as there are any; none at the end of the input."""
        ...


class FileReader:
    """Counts what was read of a binary file, pipe or standard input."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self.bytes_read = 0
        self.bytes_total = _size_left(file)
        # read1 gives what a pipe has; read() would wait until a whole chunk has come.
        self._read: Callable[[int], bytes | None] = getattr(file, "read1", file.read)

    @property
    def bytes_left(self) -> int | None:
        return None if self.bytes_total is None else max(self.bytes_total - self.bytes_read, 0)

    def read(self, size: int, /) -> bytes:
        data = self._read(size) or b""
        self.bytes_read += len(data)
        return data


class ByteStream:
    """Bytes of ``reader`` in order, with look-ahead.

    ``offset`` is the position of the next byte in the stream (for compressed input: in the
    decompressed stream). Errors name ``name``.
    """

    def __init__(self, reader: Reader, name: str) -> None:
        self.name = name
        self.offset = 0
        self._reader = reader
        self._chunk = memoryview(b"")
        self._start = 0
        self._ended = False

    @property
    def left(self) -> int:
        """Bytes from the position on that are known to be there, in the window or in the file."""
        return len(self._chunk) - self._start + (self._reader.bytes_left or 0)

    def window(self) -> tuple[memoryview, int]:
        """The current chunk, and where in it the next byte is."""
        return self._chunk, self._start

    def fill(self, size: int) -> bool:
        """Have at least ``size`` bytes in the window; False when the input ends before.

        A size that a file does not have is not even read for; from a pipe it costs the memory of
        what the pipe gives.
        """
        missing = size - (len(self._chunk) - self._start)
        if missing <= 0:
            return True
        bytes_left = self._reader.bytes_left
        if self._ended or (bytes_left is not None and missing > bytes_left):
            return False
        self._read_on(missing)
        return len(self._chunk) >= size

    def _read_on(self, missing: int) -> None:
        """Start a new chunk with what is left of this one and at least ``missing`` bytes more."""
        rest = self._chunk[self._start:]
        parts = [rest] if rest else []
        while missing > 0 and not self._ended:
            part = self._reader.read(CHUNK_BYTES)
            self._ended = not part
            if part:
                parts.append(memoryview(part))
            missing -= len(part)
        self._chunk = parts[0] if len(parts) == 1 else memoryview(b"".join(parts))
        self._start = 0

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer at the end of the input; the position stays."""
        if not self.fill(size):
            self._read_on(size)
        return bytes(self._chunk[self._start:self._start + size])

    def skip(self, size: int) -> None:
        """Go past ``size`` bytes, which the window must hold."""
        self._start += size
        self.offset += size


def _size_left(file: BinaryIO) -> int | None:
    """Bytes between the position and the end of a regular file; None where unknown."""
    try:
        status = os.fstat(file.fileno())
        return status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else None
    except (OSError, ValueError, AttributeError):
        return None
