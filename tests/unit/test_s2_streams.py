"""Streams of S2: what is written, what is read, and what is refused where."""

from __future__ import annotations

import io
import mmap
import random
from pathlib import Path

import cramjam
import pytest

from blockpack import s2
from blockpack._native.crc32c import masked
from blockpack.errors import CorruptError, LimitError

LIMIT = 1 << 30
S2_START = b"\xff\x06\x00\x00S2sTwO"
SNAPPY_START = b"\xff\x06\x00\x00sNaPpY"


def content(size: int) -> bytes:
    """Half of it compresses."""
    words = [random.Random(i).randbytes(20) for i in range(50)]
    generator = random.Random(size)
    text = b"".join(generator.choices(words, k=size // 40 + 1))[:size // 2]
    return text + generator.randbytes(size - len(text))


def chunk(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + len(body).to_bytes(3, "little") + body


def plain(data: bytes) -> bytes:
    return chunk(1, masked(data).to_bytes(4, "little") + data)


def block(data: bytes) -> bytes:
    return chunk(0, masked(data).to_bytes(4, "little") + s2.compress(data))


def read_in_every_way(stream: bytes) -> bytes:
    """At once, through a file in one go, in pieces, and from a file that gives one byte a time."""
    whole = s2.decompress_stream(stream, LIMIT)
    with s2.open(io.BytesIO(stream)) as file:
        assert file.read() == whole
    with s2.open(io.BytesIO(stream), "rb") as file:
        pieces = iter(lambda: file.read(1000), b"")
        assert b"".join(pieces) == whole
    if len(stream) < 5000:
        with s2.open(Dripping(stream)) as file:     # type: ignore[call-overload]
            assert not file.seekable()
            assert file.read() == whole
    return whole


class Dripping:
    """A file with nothing but ``read``, and that in small pieces."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, 3))


@pytest.mark.parametrize("size", [0, 1, 5, 4095, 4096, 4097, 65536, 300_000])
@pytest.mark.parametrize("tier", s2.TIERS)
def test_round_trip(size: int, tier: str) -> None:
    data = content(size)
    stream = s2.compress_stream(data, tier, block_size=4096)
    assert stream.startswith(S2_START)
    assert read_in_every_way(stream) == data
    target = io.BytesIO()
    with s2.open(target, "wb", tier=tier, block_size=4096) as file:
        for start in range(0, size, 777):
            assert file.write(data[start:start + 777]) == len(data[start:start + 777])
        assert file.tell() == size
    assert target.getvalue() == stream


def test_files_by_path_are_made_extended_and_not_overwritten(tmp_path: Path) -> None:
    path, data = tmp_path / "content.s2", content(200_000)
    with s2.open(path, "wb", tier="better") as file:
        file.write(memoryview(data)[:150_000])
    with s2.open(str(path), "ab", block_size=4 << 10) as file:
        file.write(data[150_000:])
    with s2.open(path) as reading:
        assert reading.read() == data
    with pytest.raises(FileExistsError):
        s2.open(path, "xb")
    with pytest.raises(ValueError, match="tiers"):
        s2.open(path, "wb", tier="fast")
    with pytest.raises(ValueError, match="4096 to 4194304"):
        s2.open(path, "wb", block_size=4 << 20 | 1)
    with pytest.raises(ValueError, match="mode"):
        s2.open(path, "rw")     # type: ignore[call-overload]
    assert s2.decompress_stream(path.read_bytes(), LIMIT) == data    # none of them cut it


def test_lines_and_small_reads() -> None:
    lines = [b"line %d\n" % i for i in range(5000)]
    stream = s2.compress_stream(b"".join(lines), block_size=4096)
    with s2.open(io.BytesIO(stream)) as file:
        assert list(file) == lines
        file.seek(0)
        assert file.peek(4)[:4] == b"line"
        assert file.readline() == lines[0]


def test_any_buffer(tmp_path: Path) -> None:
    data = content(70_000)
    path = tmp_path / "file"
    path.write_bytes(b"pad" + s2.compress_stream(bytearray(data)))
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped)[3:] as part,
    ):
        assert s2.decompress_stream(part, LIMIT) == data
        assert read_in_every_way(bytes(part)) == data


def test_flush_makes_all_written_so_far_readable() -> None:
    target = io.BytesIO()
    with s2.open(target, "wb") as file:
        file.flush()
        assert target.getvalue() == S2_START
        file.write(b"some")
        assert target.getvalue() == S2_START
        file.flush()
        assert s2.decompress_stream(target.getvalue(), LIMIT) == b"some"
    assert not target.closed
    with pytest.raises(ValueError, match="closed"):
        file.write(b"more")


@pytest.mark.parametrize(("name", "stream", "data"), [
    ("nothing", b"", b""),
    ("identifier alone", S2_START, b""),
    ("plain", S2_START + plain(b"abc"), b"abc"),
    ("block", S2_START + block(b"a" * 100), b"a" * 100),
    ("empty chunks", S2_START + block(b"") + plain(b"") + block(b"x"), b"x"),
    ("padding, a seek index, unknown but skippable",
     S2_START + chunk(0xFE, bytes(70_000)) + block(b"ab") + chunk(0x80, b"?") + plain(b"cd")
     + chunk(0x99, b"s2idx\0"), b"abcd"),
    ("streams in a row", S2_START + plain(b"ab") + SNAPPY_START + plain(b"cd") + S2_START
     + plain(bytes(70_000)), b"abcd" + bytes(70_000)),
    ("Snappy's largest chunk", SNAPPY_START + block(bytes(65536)), bytes(65536)),
    ("S2's largest chunk", S2_START + block(bytes(4 << 20)), bytes(4 << 20)),
])
def test_reads(name: str, stream: bytes, data: bytes) -> None:
    assert read_in_every_way(stream) == data, name


@pytest.mark.parametrize("size", [1, 65_536, 65_537, 300_000])
def test_reads_snappy_streams(size: int) -> None:
    data = content(size)
    assert read_in_every_way(bytes(cramjam.snappy.compress(data))) == data


HUGE = (4 << 20) + 1
# name, stream, what the message says, offset
REFUSED = [
    ("a block", s2.compress(bytes(100)), "no stream of S2", 0),
    ("data before the identifier", plain(b"x") + S2_START, "no stream of S2", 0),
    ("padding before the identifier", chunk(0xFE, b"") + S2_START, "no stream of S2", 0),
    ("another identifier", b"\xff\x06\x00\x00S2sTw0", "unknown stream identifier", 0),
    ("identifier of 7 bytes", chunk(0xFF, b"S2sTwO!"), "wrong length", 0),
    ("header cut", S2_START + b"\x01\x05", "inside of a chunk", 10),
    ("body cut", S2_START + plain(b"abc")[:-1], "inside of a chunk", 10),
    ("padding cut", S2_START + chunk(0xFE, bytes(100))[:-1], "inside of a chunk", 10),
    ("identifier cut", S2_START[:-1], "inside of a chunk", 0),
    ("unknown type", S2_START + chunk(0x02, b""), "may not be skipped", 10),
    ("unknown type, the last", S2_START + plain(b"a") + chunk(0x7F, b""), "may not be skipped", 19),
    ("no room for a checksum", S2_START + chunk(1, b"abc"), "impossible size", 10),
    ("checksum", S2_START + chunk(1, b"\0\0\0\0abc"), "does not hold", 10),
    ("checksum of a block", S2_START + chunk(0, b"\0\0\0\0" + s2.compress(b"abc")),
     "does not hold", 10),
    ("no block", S2_START + chunk(0, b"\0\0\0\0"), "ends before", 18),
    ("bad block", S2_START + chunk(0, b"\0\0\0\0\x03\x08ab"), "ends before", 19),
    ("Snappy chunk too large", SNAPPY_START + plain(bytes(65537)), "than its stream allows", 10),
    ("Snappy block too large", SNAPPY_START + block(bytes(65537)), "than its stream allows", 10),
    ("S2 chunk too large", S2_START + plain(bytes(HUGE)), "than its stream allows", 10),
    ("S2 block too large", S2_START + block(bytes(HUGE)), "than its stream allows", 10),
    ("chunk longer than any", S2_START + b"\x00\xff\xff\xff", "inside of|impossible size", 10),
]


@pytest.mark.parametrize(("stream", "message", "offset"), [v[1:] for v in REFUSED],
                         ids=[v[0] for v in REFUSED])
def test_refuses(stream: bytes, message: str, offset: int, tmp_path: Path) -> None:
    with pytest.raises(CorruptError, match=message) as caught:
        s2.decompress_stream(stream, LIMIT)
    assert caught.value.offset == offset
    path = tmp_path / "bad.s2"
    path.write_bytes(stream)
    with s2.open(path) as file, pytest.raises(CorruptError, match=message) as caught:
        file.read()
    assert (caught.value.offset, caught.value.file) == (offset, str(path))


def test_a_limit_is_checked_before_anything_is_decoded() -> None:
    bomb = S2_START + block(bytes(4 << 20)) * 100
    with pytest.raises(LimitError, match=f"declares {400 << 20} bytes"):
        s2.decompress_stream(bomb, 1 << 20)
    assert s2.decompress_stream(S2_START + plain(b"abc"), 3) == b"abc"


def test_every_cut_is_an_error_or_the_end_of_a_chunk() -> None:
    data = content(9000)
    stream = s2.compress_stream(data, block_size=4096)
    whole = 0
    for size in range(len(stream)):
        try:
            got = s2.decompress_stream(stream[:size], LIMIT)
        except CorruptError:
            with s2.open(io.BytesIO(stream[:size])) as file, pytest.raises(CorruptError):
                file.read()
            continue
        whole += 1
        assert got == data[:len(got)]
        assert len(got) in (0, 4096, 8192)
    assert whole == 4


def test_mutated_streams_give_an_error_or_the_bytes_of_whole_chunks() -> None:
    data = content(6000)
    good = bytearray(s2.compress_stream(data, block_size=4096))
    generator, refused = random.Random(8), 0
    for _ in range(3000):
        stream = bytearray(good)
        stream[generator.randrange(len(good))] ^= 1 << generator.randrange(8)
        try:
            got = s2.decompress_stream(stream, LIMIT)
        except CorruptError:
            refused += 1
        else:
            assert got in (b"", data[:4096], data[4096:])   # a type that now may be skipped
    assert refused > 2900


def test_seeks_forward_backward_and_from_the_end(tmp_path: Path) -> None:
    data = content(50_000)
    path = tmp_path / "file.s2"
    path.write_bytes(s2.compress_stream(data[:30_000], block_size=4096)
                     + chunk(0xFE, bytes(100))
                     + bytes(cramjam.snappy.compress(data[30_000:])))
    generator = random.Random(9)
    with s2.open(path) as file:
        assert file.seekable()
        assert file.seek(0, io.SEEK_END) == len(data)
        assert file.read() == b""
        for _ in range(300):
            at, size = generator.randrange(len(data) + 1), generator.randrange(9000)
            assert file.seek(at) == at
            assert file.read(size) == data[at:at + size]
            assert file.tell() == min(at + size, len(data))
        assert file.seek(10) + file.seek(5, io.SEEK_CUR) == 25
        assert file.seek(-4, io.SEEK_END) == len(data) - 4
        assert file.read() == data[-4:]
        assert file.seek(len(data) + 100) == len(data)
        assert file.read(1) == b""
        with pytest.raises(ValueError, match="negative"):
            file.seek(-1)


def test_seeks_where_the_stream_starts_later_in_its_file() -> None:
    data = content(20_000)
    below = io.BytesIO(b"head" + s2.compress_stream(data, block_size=4096))
    below.seek(4)
    with s2.open(below) as file:
        assert file.read(10) == data[:10]
        file.seek(15_000)
        assert file.read() == data[15_000:]
        file.seek(0)
        assert file.read() == data
    assert not below.closed


def test_a_chunk_that_is_passed_over_is_not_decoded() -> None:
    data = content(16_384)
    stream = bytearray(s2.compress_stream(data, block_size=4096))
    stream[40] ^= 1
    with s2.open(io.BytesIO(stream)) as file:
        file.seek(5000)
        assert file.read() == data[5000:]
        file.seek(0)
        with pytest.raises(CorruptError):
            file.read()


def test_memory_is_bounded_by_a_chunk() -> None:
    stream = S2_START + block(bytes(1 << 20)) * 2
    reader = s2.StreamReader(io.BytesIO(stream))
    target = bytearray(3 << 20)
    assert reader.readinto(target) == 1 << 20       # no more than one chunk at a time
    assert not reader.writable()
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.readinto(target)
