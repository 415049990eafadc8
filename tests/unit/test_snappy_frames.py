"""Framed snappy: sizes by the chunk headers, and many streams in one call."""

from __future__ import annotations

import random

import cramjam
import pytest

from blockpack.chain.formats.snappy_frames import (
    IDENTIFIER,
    StreamError,
    decoded_size,
    deflate,
    inflate,
)
from blockpack.errors import CorruptError


def content(size: int) -> bytes:
    return random.Random(size).randbytes(size // 2) + bytes(size - size // 2)


@pytest.mark.parametrize("size", [0, 1, 3, 65_535, 65_536, 65_537, 300_000])
def test_size_and_bytes_of_a_stream(size: int) -> None:
    data = content(size)
    stream = memoryview(deflate(data))
    assert decoded_size(stream) == size
    assert inflate([stream], [size]) == [data]


def test_streams_one_after_the_other_with_skippable_chunks() -> None:
    first, second = content(100), content(70_000)
    stream = deflate(first) + b"\xfe\x03\0\0pad" + b"\x80\0\0\0" + deflate(second)
    assert decoded_size(memoryview(stream)) == 70_100
    assert inflate([memoryview(stream)], [70_100]) == [first + second]


def test_many_streams_in_one_call() -> None:
    parts = [content(size) for size in (5, 0, 600, 90_000, 1)]
    streams = [memoryview(deflate(part)) for part in parts]
    assert inflate(streams, [len(part) for part in parts]) == parts
    assert inflate([], []) == []


@pytest.mark.parametrize("bad", [0, 2, 4])
def test_the_bad_one_of_many_is_named(bad: int) -> None:
    parts = [content(500 + index) for index in range(5)]
    streams = [deflate(part) for part in parts]
    hurt = bytearray(streams[bad])
    hurt[-1] ^= 1  # the checksum of the chunk no longer holds
    streams[bad] = bytes(hurt)
    with pytest.raises(StreamError) as caught:
        inflate([memoryview(stream) for stream in streams], [len(part) for part in parts])
    assert caught.value.index == bad


def test_raw_snappy_is_named() -> None:
    with pytest.raises(CorruptError, match="no framed snappy"):
        decoded_size(memoryview(bytes(cramjam.snappy.compress_raw(content(100)))))


@pytest.mark.parametrize(("tail", "offset", "match"), [
    (b"\x00", 10, "outside"),
    (b"\x00\xff\xff\xff", 10, "outside"),
    (b"\x01\x05\0\0abcde\x00\x09\0\0ab", 19, "outside"),
    (b"\x02\0\0\0", 10, "may not be skipped"),
    (b"\x00\x07\0\0crcc\x80\x80\x04", 10, "impossible size"),  # 65,536 bytes out of 7
    (b"\x00\x07\0\0crcc\xff\xff\xff", 10, "impossible size"),  # a length that does not end
    (b"\x01\x03\0\0abc", 10, "impossible size"),
], ids=range(7))
def test_hostile_chunks(tail: bytes, offset: int, match: str) -> None:
    with pytest.raises(CorruptError, match=match) as caught:
        decoded_size(memoryview(IDENTIFIER + tail))
    assert caught.value.offset == offset


def test_a_stream_that_lies_about_its_size() -> None:
    stream = bytearray(deflate(bytes(100)))
    stream[18] += 1
    assert decoded_size(memoryview(stream)) == 101
    with pytest.raises(StreamError):
        inflate([memoryview(stream)], [101])
