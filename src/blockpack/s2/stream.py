"""Opening .s2 files."""

from __future__ import annotations

import io
import os
from typing import IO, Literal, overload

from blockpack.s2.reader import StreamReader
from blockpack.s2.writer import BLOCK_SIZE, StreamWriter, check_options

READ_BUFFER_BYTES = 64 << 10
_WRITING = ("w", "wb", "a", "ab", "x", "xb")
Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@overload
def open_stream(file: Path | IO[bytes], mode: Literal["r", "rb"] = "rb", *, tier: str = "fastest",
                block_size: int = BLOCK_SIZE) -> io.BufferedReader: ...
@overload
def open_stream(file: Path | IO[bytes], mode: Literal["w", "wb", "a", "ab", "x", "xb"], *,
                tier: str = "fastest", block_size: int = BLOCK_SIZE) -> StreamWriter: ...
def open_stream(file: Path | IO[bytes], mode: str = "rb", *, tier: str = "fastest",
                block_size: int = BLOCK_SIZE) -> io.BufferedReader | StreamWriter:
    """Open a stream of S2 for reading ("rb"), or to write ("wb", "xb") or extend ("ab") one.

    ``file`` is a path, or a binary file object, which stays open. Streams of Snappy are read too.
    ``tier`` ("fastest", "better", "best") and ``block_size``, 4 KiB to 4 MiB, are for writing: a
    larger block compresses better, and is what a reader holds in memory.

    A file that is cut or corrupt raises CorruptError where reading comes to it, naming the offset.
    """
    if mode in ("r", "rb"):
        return io.BufferedReader(_reader(file), READ_BUFFER_BYTES)
    if mode not in _WRITING:
        raise ValueError(f"mode is 'rb', 'wb', 'ab' or 'xb', not {mode!r}")
    check_options(tier, block_size)     # before a file is made, or cut
    if isinstance(file, (str, bytes, os.PathLike)):
        return StreamWriter(_open(file, mode[0] + "b"), tier, block_size, closes=True)
    return StreamWriter(file, tier, block_size)


def _reader(file: Path | IO[bytes]) -> StreamReader:
    if isinstance(file, (str, bytes, os.PathLike)):
        return StreamReader(_open(file, "rb"), closes=True)
    return StreamReader(file)


def _open(path: Path, mode: str) -> IO[bytes]:
    return open(path, mode)
