"""Where blocks come from: a file, a pipe, standard input, or a directory of files.

A source is opened by content and read once, front to back. A directory is read in the order of the
first block number inside of each file, because names do not sort (``geth export`` lets users
choose them, era1 names carry a hash).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from blockpack.chain.formats import era1, era1_reader, rlp_stream
from blockpack.chain.formats.block import SourceBlock
from blockpack.chain.formats.detect import E2STORE, GZIP, PREFIX_BYTES, detect
from blockpack.chain.formats.gzip_stream import GzipReader
from blockpack.chain.formats.stream import ByteStream, FileReader, Reader
from blockpack.errors import CorruptError, UnsupportedVersionError

STDIN = "-"
# In a directory, files of these suffixes that are no chain files are passed over: the lists,
# sums and notes that come with published archives. Everything else must be readable.
_NOTE_SUFFIXES = {".txt", ".md", ".json", ".tsv", ".csv", ".sha256", ".html", ".log", ".yaml"}


class FileSource(AbstractContextManager["FileSource"]):
    """The blocks of one open file.

    ``bytes_read`` and ``bytes_total`` count bytes of the file itself, compressed or not;
    ``bytes_total`` is None for a pipe. ``name`` is what errors call it.
    """

    def __init__(self, file: BinaryIO, name: str, *, owned: bool = True,
                 epoch_blocks: int = era1.EPOCH_BLOCKS) -> None:
        self.name = name
        self.batch_bytes = era1_reader.BATCH_BYTES
        self._file = file
        self._owned = owned
        self._epoch_blocks = epoch_blocks
        self._reader = FileReader(file, name)
        self.bytes_total = self._reader.bytes_total

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def __iter__(self) -> Iterator[SourceBlock]:
        """The blocks, once; errors as in the readers, all with the file and the byte offset."""
        stream, kind = self._detected(self._reader)
        if kind == GZIP:
            prefix = stream
            stream, kind = self._detected(GzipReader(_Unread(prefix, self._reader), self.name))
            if kind == GZIP:
                raise UnsupportedVersionError(f"{self.name}: gzip inside of gzip; decompress it"
                                              " once first")
        if kind == E2STORE:
            return era1_reader.read_blocks(stream, self._epoch_blocks, self.batch_bytes)
        return rlp_stream.read_blocks(stream)

    def _detected(self, reader: Reader) -> tuple[ByteStream, str]:
        stream = ByteStream(reader, self.name)
        return stream, detect(stream.peek(PREFIX_BYTES), self.name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._owned:
            self._file.close()


class _Unread:
    """A reader with the chunk in front of it that detection took."""

    def __init__(self, stream: ByteStream, reader: Reader) -> None:
        self._chunk = bytes(stream.window()[0])
        self._reader = reader

    @property
    def bytes_left(self) -> int | None:
        left = self._reader.bytes_left
        return None if left is None else left + len(self._chunk)

    def read(self, size: int, /) -> bytes:
        if not self._chunk:
            return self._reader.read(size)
        data, self._chunk = self._chunk[:size], self._chunk[size:]
        return data


Opener = Callable[[], FileSource]


def open_file(path: str | Path, epoch_blocks: int = era1.EPOCH_BLOCKS) -> FileSource:
    """A source over one file or named pipe, which it will close."""
    return FileSource(open(path, "rb", buffering=0), str(path),
                      epoch_blocks=epoch_blocks)


class Sources:
    """Files to read one after the other; ``bytes_total`` is their size, None where unknown.

    ``broken`` are those of a directory whose first block cannot be read: they come last.
    ``skipped`` are its files that hold no chain.
    """

    def __init__(self, openers: Iterable[Opener], bytes_total: int | None,
                 broken: Iterable[Opener] = (), skipped: Iterable[Path] = ()) -> None:
        self._openers = list(openers)
        self._broken = list(broken)
        self.bytes_total = bytes_total
        self.skipped = list(skipped)

    def __iter__(self) -> Iterator[FileSource]:
        return (opener() for opener in self._openers + self._broken)

    def raise_broken(self) -> None:
        """Raise the error of the first broken file, if there is one.

        For a chain that does not go on: the file that should continue it may be the broken one.
        """
        for opener in self._broken:
            with opener() as source:
                next(iter(source))


def open_sources(where: str | Path | BinaryIO, epoch_blocks: int = era1.EPOCH_BLOCKS) -> Sources:
    """Sources of a path, of ``"-"`` (standard input), of a directory, or of an open binary file."""
    if where == STDIN:
        return _borrowed(sys.stdin.buffer, "standard input", epoch_blocks)
    if not isinstance(where, (str, Path)):
        return _borrowed(where, str(getattr(where, "name", "stream")), epoch_blocks)
    path = Path(where)
    if path.is_dir():
        return _directory(path, epoch_blocks)
    size = path.stat().st_size if path.is_file() else None
    return Sources([_opener(path, epoch_blocks)], size)


def _borrowed(file: BinaryIO, name: str, epoch_blocks: int) -> Sources:
    source = FileSource(file, name, owned=False, epoch_blocks=epoch_blocks)
    return Sources([lambda: source], source.bytes_total)


def _directory(folder: Path, epoch_blocks: int) -> Sources:
    """The chain files of a folder in the order of their first blocks."""
    found: list[tuple[int, Path]] = []
    broken: list[Path] = []
    skipped: list[Path] = []
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        try:
            found.append((_first_number(path, epoch_blocks), path))
        except (CorruptError, UnsupportedVersionError):
            is_note = path.suffix.lower() in _NOTE_SUFFIXES
            (skipped if is_note else broken).append(path)
    if not found and not broken:
        raise CorruptError("the directory holds no chain files", file=str(folder),
                           expected="block RLP (plain or gzip) or era1 files",
                           found=f"{len(skipped)} other files")
    ordered = [path for _, path in sorted(found)]
    return Sources([_opener(path, epoch_blocks) for path in ordered],
                   sum(path.stat().st_size for path in ordered + broken),
                   [_opener(path, epoch_blocks) for path in broken], skipped)


def _opener(path: Path, epoch_blocks: int) -> Opener:
    return lambda: open_file(path, epoch_blocks)


def _first_number(path: Path, epoch_blocks: int) -> int:
    with open_file(path, epoch_blocks) as source:
        source.batch_bytes = 1  # one block is enough
        return next(iter(source)).spans.number
