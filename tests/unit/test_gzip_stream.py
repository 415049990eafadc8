"""Gzip members one after the other, and what is saved from a damaged one."""

from __future__ import annotations

import gzip
import io
import random

import pytest

from blockpack.chain.formats.gzip_stream import (
    INPUT_BYTES,
    OUTPUT_BYTES_MAX,
    DamagedMemberError,
    GzipReader,
)
from blockpack.chain.formats.stream import FileReader
from blockpack.errors import CorruptError


def payload(size: int, seed: int = 1) -> bytes:
    """Half noise, half zeros: it compresses about twofold."""
    noise = random.Random(seed).randbytes(size // 2)
    return b"".join(noise[i:i + 50] + bytes(50) for i in range(0, len(noise), 50))


def read_all(data: bytes) -> tuple[bytes, CorruptError | None]:
    """What comes out, and the error that ends it."""
    reader = GzipReader(FileReader(io.BytesIO(data), "a.gz"), "a.gz")
    output = b""
    try:
        while piece := reader.read(1 << 20):
            assert len(piece) <= OUTPUT_BYTES_MAX
            output += piece
    except CorruptError as error:
        with pytest.raises(CorruptError):
            reader.read(1 << 20)
        return output, error
    return output, None


@pytest.mark.parametrize("size", [0, 1, 100_000, 10 * INPUT_BYTES])
@pytest.mark.parametrize("padding", [0, 1, 700])
def test_several_members_and_padding(size: int, padding: int) -> None:
    parts = [payload(size, seed) for seed in range(3)]
    data = b"".join(map(gzip.compress, parts)) + bytes(padding)
    assert read_all(data) == (b"".join(parts), None)


def test_output_is_bounded_however_much_it_expands() -> None:
    content = bytes(20 << 20)
    assert read_all(gzip.compress(content)) == (content, None)


def test_truncated_at_every_byte() -> None:
    content = payload(600)
    data = gzip.compress(content)
    for size in range(1, len(data)):
        output, error = read_all(data[:size])
        assert content.startswith(output)
        assert error is not None
        assert (error.file, error.offset) == ("a.gz", size)
        assert not isinstance(error, DamagedMemberError)
    assert read_all(b"") == (b"", None)


def test_truncated_second_member_keeps_the_first() -> None:
    first, second = payload(5000, 1), payload(5000, 2)
    data = gzip.compress(first) + gzip.compress(second)[:-12]
    output, error = read_all(data)
    assert output.startswith(first)
    assert (first + second).startswith(output)
    assert error is not None


def test_bad_second_header_keeps_the_first_member() -> None:
    first = payload(5000)
    head = gzip.compress(first)
    output, error = read_all(head + b"\x1f\x8b\x09 no such method")
    assert output == first
    assert error is not None
    assert len(head) <= (error.offset or 0) <= len(head) + 3
    assert f"starts at byte {len(head)}" in str(error)
    assert isinstance(error, DamagedMemberError)
    assert error.stream_offset == len(first)


@pytest.mark.parametrize("size", [500, 300_000])
def test_wrong_checksum_keeps_everything_before_it(size: int) -> None:
    content = payload(size)
    data = bytearray(gzip.compress(content))
    data[-5] ^= 0x40
    output, error = read_all(bytes(data))
    assert output == content
    assert error is not None
    assert isinstance(error, DamagedMemberError)
    assert error.stream_offset == 0


def test_garbage_after_a_member() -> None:
    content = payload(1000)
    output, error = read_all(gzip.compress(content) + b"garbage")
    assert output == content
    assert error is not None


def test_every_flipped_byte_ends_in_an_error_or_in_the_same_bytes() -> None:
    content = payload(300)
    data = gzip.compress(content, mtime=0)
    for position in range(len(data)):
        hurt = bytearray(data)
        hurt[position] ^= 0xFF
        output, error = read_all(bytes(hurt))
        assert error is not None or output == content
