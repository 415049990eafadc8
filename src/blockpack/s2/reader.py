"""Reading streams of S2 and Snappy: a file object, and all at once."""

from __future__ import annotations

import io
from bisect import bisect_right
from typing import IO, TYPE_CHECKING, NamedTuple

from blockpack._native.s2 import filled
from blockpack.errors import CorruptError, LimitError
from blockpack.s2 import chunks
from blockpack.s2.chunks import BLOCK_HEADER_MAX, CHECKSUM_BYTES, HEADER_BYTES, IDENTIFIER, PLAIN

if TYPE_CHECKING:
    from typing_extensions import Buffer as WritableBuffer

_SKIP_BYTES = 64 << 10


class _Place(NamedTuple):
    """Where a chunk is: in the content, in the stream, and what its stream allows."""

    position: int
    offset: int
    content_max: int


def decompress_stream(data: chunks.Buffer, max_size: int) -> bytes:
    """Decode streams of S2 or Snappy, one or several that follow each other; checks every CRC.

    LimitError, before anything is decoded, when the chunks declare more than ``max_size`` bytes.
    CorruptError, with the offset in ``data``, for what is not valid or is cut. No data is an
    empty stream, as it is for the tools that write them.
    """
    with memoryview(data) as given, given.cast("B") as view:
        plan = _plan(view)
        total = sum(size for _, size in plan)
        if total > max_size:
            raise LimitError(f"S2 stream declares {total} bytes, over the limit of {max_size}")
        return filled(total, lambda target: _decode_all(view, plan, target))


def _decode_all(view: memoryview, plan: list[tuple[_Place, int]], target: memoryview) -> None:
    for (position, offset, _), size in plan:
        with target[position:position + size] as part:
            chunks.decode_into(view[offset], _body(view, offset), part, offset)


def _body(view: memoryview, offset: int) -> memoryview:
    size = int.from_bytes(view[offset + 1:offset + HEADER_BYTES], "little")
    return view[offset + HEADER_BYTES:offset + HEADER_BYTES + size]


def _plan(view: memoryview) -> list[tuple[_Place, int]]:
    """The data chunks and the sizes that they declare."""
    plan: list[tuple[_Place, int]] = []
    position = offset = content_max = 0
    while offset < len(view):
        if len(view) - offset < HEADER_BYTES:
            raise _cut(offset)
        kind, size = view[offset], int.from_bytes(view[offset + 1:offset + HEADER_BYTES], "little")
        chunks.check_kind(kind, size, content_max, offset)
        body = _body(view, offset)
        if len(body) < size:
            raise _cut(offset)
        if kind == IDENTIFIER:
            content_max = chunks.identified(body, offset)
        elif kind <= PLAIN:
            declared = chunks.content_size(kind, body, size, content_max, offset)
            plan.append((_Place(position, offset, content_max), declared))
            position += declared
        offset += HEADER_BYTES + size
    return plan


def _cut(offset: int) -> CorruptError:
    return CorruptError("the stream ends inside of a chunk", offset=offset)


class StreamReader(io.RawIOBase):
    """A readable binary file of the content of another; ``blockpack.s2.open`` puts a buffer on it.

    Holds one chunk at a time, compressed and decoded: at most about 8 MiB. Seeks when the file
    below can: a chunk that is passed over is not decoded, and so not checked. Errors are
    CorruptError with the name of the file and the offset in it. Not for two threads at once.
    """

    def __init__(self, file: IO[bytes], *, closes: bool = False) -> None:
        """Read from ``file``, which needs only ``read``; ``closes``: close it with this one."""
        self._file, self._closes = file, closes
        name = getattr(file, "name", None)
        self._name = name if isinstance(name, str) else None
        self._base = file.tell() if self.seekable() else 0
        self._next = _Place(0, 0, 0)        # the chunk that is read next
        self._memory = bytearray()          # holds the content of one chunk
        self._content = memoryview(b"")     # of the chunk before it
        self._used = 0                      # bytes of the content that were given out
        self._places = [self._next]         # data chunks seen, and the start: where to seek from

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether the file below can seek."""
        return bool(getattr(self._file, "seekable", bool)())

    def close(self) -> None:
        """Let go of the content, and close the file below if it was opened here."""
        if not self.closed:
            self._content, self._memory = memoryview(b""), bytearray()
            super().close()
            if self._closes:
                self._file.close()

    def readinto(self, target: WritableBuffer, /) -> int:
        """Fill a buffer with what comes next, up to the end of a chunk; 0 is the end."""
        self._check_open()
        with memoryview(target) as given, given.cast("B") as view:
            if not view or not self._fill():
                return 0
            part = self._content[self._used:self._used + len(view)]
            view[:len(part)] = part
            self._used += len(part)
            return len(part)

    def readall(self) -> bytes:
        """Return all that is left."""
        self._check_open()
        parts = []
        while self._fill():
            parts.append(bytes(self._content[self._used:]))
            self._used = len(self._content)
        return b"".join(parts)

    def tell(self) -> int:
        """Return the position in the content."""
        self._check_open()
        return self._next.position - len(self._content) + self._used

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a position in the content, or to its end if that comes first; returns it."""
        self._check_open()
        if not self.seekable():
            raise io.UnsupportedOperation("the file below cannot seek")
        if whence == io.SEEK_END:
            offset += self._end()
        elif whence == io.SEEK_CUR:
            offset += self.tell()
        elif whence != io.SEEK_SET:
            raise ValueError(f"whence is 0, 1 or 2, not {whence}")
        if offset < 0:
            raise ValueError(f"negative position {offset}")
        self._go(offset)
        return self.tell()

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on a closed file")

    def _fill(self) -> bool:
        """Have content to give; False at the end."""
        while self._used == len(self._content):
            try:
                if not self._advance(decode=True):
                    return False
            except CorruptError as error:
                error.file = self._name
                raise
        return True

    def _advance(self, decode: bool) -> bool:
        """Pass one chunk, and take its content or leave it; False at the end of the file."""
        position, offset, content_max = self._next
        header = self._read(HEADER_BYTES, offset, may_end=True)
        if not header:
            return False
        kind, size = header[0], int.from_bytes(header[1:], "little")
        chunks.check_kind(kind, size, content_max, offset)
        if kind == IDENTIFIER:
            content_max = chunks.identified(self._read(size, offset), offset)
        elif kind <= PLAIN:
            self._remember()
            position += (self._decode if decode else self._pass)(kind, size)
        else:
            self._skip(size, offset)
        self._next = _Place(position, offset + HEADER_BYTES + size, content_max)
        return True

    def _remember(self) -> None:
        if self._next.offset > self._places[-1].offset:
            self._places.append(self._next)

    def _decode(self, kind: int, size: int) -> int:
        _, offset, content_max = self._next
        body = memoryview(self._read(size, offset))
        declared = chunks.content_size(kind, body, size, content_max, offset)
        if declared > len(self._memory):
            self._memory = bytearray(declared)
        # The memory of the chunk before, all of which has been given out.
        self._content, self._used = memoryview(b""), 0
        content = memoryview(self._memory)[:declared]
        chunks.decode_into(kind, body, content, offset)
        self._content = content
        return declared

    def _pass(self, kind: int, size: int) -> int:
        _, offset, content_max = self._next
        start = self._read(min(size, CHECKSUM_BYTES + BLOCK_HEADER_MAX), offset)
        declared = chunks.content_size(kind, start, size, content_max, offset)
        self._skip(size - len(start), offset)
        self._content, self._used = memoryview(b""), 0
        return declared

    def _read(self, size: int, offset: int, may_end: bool = False) -> bytes:
        """Exactly ``size`` bytes of the file, which a raw one may give in pieces."""
        data = self._file.read(size)
        while data is not None and 0 < len(data) < size:
            more = self._file.read(size - len(data))
            if not more:
                break
            data += more
        if data is None:
            raise BlockingIOError("the file below has no data yet")
        if len(data) < size and (data or not may_end):
            raise _cut(offset)
        return data

    def _skip(self, size: int, offset: int) -> None:
        while size > 0:
            size -= len(self._read(min(size, _SKIP_BYTES), offset))

    def _end(self) -> int:
        self._rewind(self._places[-1])
        return self._walk(None)

    def _go(self, position: int) -> None:
        start = self._next.position - len(self._content)
        if not start <= position <= self._next.position or self._content.nbytes == 0:
            index = bisect_right(self._places, position, key=lambda place: place.position)
            self._rewind(self._places[max(index - 1, 0)])
            self._walk(position)
            if position > self._next.position:
                self._fill()    # inside of a chunk
            start = self._next.position - len(self._content)
        self._used = min(position - start, len(self._content))

    def _rewind(self, place: _Place) -> None:
        self._file.seek(self._base + place.offset)
        self._next, self._content, self._used = place, memoryview(b""), 0

    def _walk(self, position: int | None) -> int:
        """Pass whole chunks before the one that holds ``position``; None: all. Returns the end."""
        try:
            place = self._next
            while self._advance(decode=False):
                if position is not None and self._next.position > position:
                    self._rewind(place)
                    break
                place = self._next
        except CorruptError as error:
            error.file = self._name
            raise
        return self._next.position
