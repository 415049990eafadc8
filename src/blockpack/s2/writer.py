"""Writing .s2 streams: a file object, and all at once."""

from __future__ import annotations

import io
from typing import IO

from blockpack._native.s2 import TIERS
from blockpack.s2.chunks import S2_CONTENT_MAX, S2_IDENTIFIER, Buffer, chunk

BLOCK_SIZE = 1 << 20
BLOCK_SIZE_MIN = 4 << 10


def check_options(tier: str, block_size: int) -> None:
    """ValueError for a tier that there is not, or a block size outside of 4 KiB to 4 MiB."""
    if tier not in TIERS:
        raise ValueError(f"S2 has the tiers {', '.join(TIERS)}, not {tier!r}")
    if not BLOCK_SIZE_MIN <= block_size <= S2_CONTENT_MAX:
        raise ValueError(f"a block size is {BLOCK_SIZE_MIN} to {S2_CONTENT_MAX} bytes,"
                         f" not {block_size}")


def compress_stream(data: Buffer, tier: str = "fastest", block_size: int = BLOCK_SIZE) -> bytes:
    """Compress to a whole .s2 stream, in chunks of ``block_size`` bytes.

    ``tier`` is "fastest", "better" or "best"; ``block_size`` is 4 KiB to 4 MiB, else ValueError.
    """
    check_options(tier, block_size)
    parts: list[Buffer] = [S2_IDENTIFIER]
    with memoryview(data) as given, given.cast("B") as view:
        for start in range(0, len(view), block_size):
            parts += chunk(view[start:start + block_size], tier)
        return b"".join(parts)


class StreamWriter(io.BufferedIOBase):
    """A writable binary file that compresses to another one; made by ``blockpack.s2.open``.

    Holds at most one block of content. Not for two threads at once.
    """

    def __init__(self, file: IO[bytes], tier: str = "fastest", block_size: int = BLOCK_SIZE, *,
                 closes: bool = False) -> None:
        """Write to ``file``, which needs only ``write``; ``closes``: close it with this one."""
        check_options(tier, block_size)
        self._file, self._tier, self._block_size, self._closes = file, tier, block_size, closes
        self._pending = bytearray()
        self._started = False
        self._position = 0

    def writable(self) -> bool:
        """Return True."""
        self._check_open()
        return True

    def write(self, data: Buffer, /) -> int:  # type: ignore[override]
        """Take the bytes of any contiguous buffer; returns how many. Whole blocks are written."""
        self._check_open()
        with memoryview(data) as given, given.cast("B") as view:
            self._take(view)
            self._position += len(view)
            return len(view)

    def tell(self) -> int:
        """Return the bytes taken so far."""
        self._check_open()
        return self._position

    def flush(self) -> None:
        """Write what is held as a chunk, however short: often flushed files are larger."""
        self._check_open()
        self._start()
        if self._pending:
            self._put(self._pending)
            self._pending = bytearray()
        if hasattr(self._file, "flush"):
            self._file.flush()

    def close(self) -> None:
        """Flush, and close the file below if it was opened here."""
        if self.closed:
            return
        try:
            super().close()    # flushes
        finally:
            if self._closes:
                self._file.close()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on a closed file")

    def _take(self, view: memoryview) -> None:
        start = 0
        if self._pending:
            start = min(self._block_size - len(self._pending), len(view))
            self._pending += view[:start]
            if len(self._pending) < self._block_size:
                return
            self._put(self._pending)
            self._pending = bytearray()
        while len(view) - start >= self._block_size:    # from the caller's memory, not copied
            self._put(view[start:start + self._block_size])
            start += self._block_size
        self._pending += view[start:]

    def _start(self) -> None:
        if not self._started:
            self._send(S2_IDENTIFIER)
            self._started = True

    def _put(self, data: Buffer) -> None:
        self._start()
        for part in chunk(data, self._tier):
            self._send(part)

    def _send(self, part: Buffer) -> None:
        # A raw file may take less than all; a buffered one never does.
        view = memoryview(part)
        while view:
            done = self._file.write(view)
            if done is None:
                raise BlockingIOError("the file below is not ready for writing")
            view = view[done:]
