"""The window over a byte stream."""

from __future__ import annotations

import io
import os
from pathlib import Path

from blockpack.chain.formats.stream import CHUNK_BYTES, ByteStream, FileReader


def take(stream: ByteStream, size: int) -> memoryview:
    assert stream.fill(size)
    chunk, start = stream.window()
    stream.skip(size)
    return chunk[start:start + size]


class Dribble(io.RawIOBase):
    """Gives one to three bytes a read, as a slow pipe may."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._source = io.BytesIO(data)
        self._reads = 0

    def read(self, size: int = -1, /) -> bytes:
        self._reads += 1
        return self._source.read(min(size, 1 + self._reads % 3))


def test_every_byte_comes_once_and_in_order_whatever_the_reads() -> None:
    data = os.urandom(1000)
    stream = ByteStream(FileReader(Dribble(data), "dribble"), "dribble")  # type: ignore[arg-type]
    taken = b""
    for size in (0, 1, 7, 300, 2, 690):
        assert stream.offset == len(taken)
        taken += take(stream, size)
    assert taken == data
    assert not stream.fill(1)


def test_views_outlive_later_reads() -> None:
    data = os.urandom(3 * CHUNK_BYTES)
    stream = ByteStream(FileReader(io.BytesIO(data), "bytes"), "bytes")
    size = CHUNK_BYTES // 3
    views = [take(stream, size) for _ in range(9)]
    assert b"".join(views) == data[:9 * size]


def test_peek_leaves_the_position_and_stops_at_the_end() -> None:
    stream = ByteStream(FileReader(io.BytesIO(b"abc"), "bytes"), "bytes")
    assert (stream.peek(2), stream.peek(10), stream.offset) == (b"ab", b"abc", 0)
    assert take(stream, 3) == b"abc"


def test_a_size_that_the_file_does_not_have_is_not_read_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(3 * CHUNK_BYTES))
    with path.open("rb", buffering=0) as file:
        reader = FileReader(file, "file")
        stream = ByteStream(reader, "file")
        assert stream.fill(10)
        assert not stream.fill(1 << 40)
        assert reader.bytes_read == CHUNK_BYTES
        assert stream.left == 3 * CHUNK_BYTES


def test_one_read_a_chunk() -> None:
    class Counted(io.BytesIO):
        reads = 0

        def read1(self, size: int | None = -1, /) -> bytes:
            self.reads += 1
            return super().read1(size)

    source = Counted(bytes(4 * CHUNK_BYTES))
    stream = ByteStream(FileReader(source, "bytes"), "bytes")
    while stream.fill(100):
        stream.skip(100)
    assert source.reads <= 6  # four chunks, the joins at their borders, and the end


def test_total_is_known_for_files_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    with path.open("rb") as file:
        file.read(2)
        assert FileReader(file, "file").bytes_total == 3
    assert FileReader(io.BytesIO(b"12345"), "bytes").bytes_total is None
