"""zstd frames: what they declare, against zstandard's own reading, and what is refused."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard

from blockpack._native.zstd import Keep, ZstdInflater, content_size
from blockpack.errors import CorruptError

UNLIMITED = 2**63 - 1


def declared(frame: bytes) -> int | None:
    """What the frame declares, or None."""
    try:
        return content_size(frame, UNLIMITED)
    except CorruptError:
        return None


def library(frame: bytes) -> int | None:
    """As ``declared``, by libzstd; a skippable frame has no content, and no size is over 2^63."""
    try:
        size = zstandard.frame_content_size(frame)
    except zstandard.ZstdError:
        return None
    return None if not 0 <= size <= UNLIMITED or frame[1:4] == b"\x2a\x4d\x18" else size


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 65_791, 65_792, 70_000, 1 << 20])
@pytest.mark.parametrize("level", [1, 19])
def test_the_declared_size(size: int, level: int) -> None:
    frame = zstandard.ZstdCompressor(level).compress(bytes(size))
    assert declared(frame) == size
    assert ZstdInflater().inflate(frame, size) == bytes(size)


def test_every_header_is_read_as_the_library_does() -> None:
    rnd = random.Random(5)
    for descriptor in range(256):
        for size in (0, 5, 6, 7, 9, 13, 18, 30):
            frame = (b"\x28\xb5\x2f\xfd" + bytes([descriptor]) + rnd.randbytes(20))[:size]
            # A reserved bit, or a window above what libzstd takes, is its decoder's to refuse.
            if library(frame) is not None:
                assert declared(frame) == library(frame)
            elif declared(frame) is not None:
                with pytest.raises(CorruptError):
                    ZstdInflater().inflate(frame, 1 << 20)


@pytest.mark.parametrize("frame", [
    b"", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\x00\x00\x00\x00", bytes(20)])
def test_no_frame_declares_nothing(frame: bytes) -> None:
    with pytest.raises(CorruptError, match=r"wrong size .*found none"):
        content_size(frame, 100)


def test_a_size_above_the_limit_is_refused_before_it_is_allocated() -> None:
    huge = b"\x28\xb5\x2f\xfd\xe0" + (1 << 62).to_bytes(8, "little") + b"\x01\x00\x00"
    for read in (content_size, ZstdInflater().inflate):
        with pytest.raises(CorruptError, match=r"at most 1000, found 4611686018427387904"):
            read(huge, 1000)


def test_an_inflater_goes_on_after_a_bad_frame() -> None:
    inflater = ZstdInflater()
    frame = zstandard.ZstdCompressor().compress(b"good" * 100)
    for bad in (frame[:-1], frame + frame, frame + b"x"):
        with pytest.raises(CorruptError, match="zstd frame: "):
            inflater.inflate(bad, 1000)
        assert inflater.inflate(frame, 1000) == b"good" * 100


def test_threads_share_an_inflater() -> None:
    inflater = ZstdInflater()
    contents = [random.Random(i).randbytes(1000) * 100 for i in range(16)]
    frames = [zstandard.ZstdCompressor().compress(content) for content in contents]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda i: inflater.inflate(frames[i % 16], 1 << 20), range(400))
        assert all(content == contents[i % 16] for i, content in enumerate(found))


def test_frames_after_a_prefix() -> None:
    prefix = random.Random(5).randbytes(5000)
    dictionary = zstandard.ZstdCompressionDict(prefix,
                                               dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    content = prefix[100:4000] + b"and more"
    frame = zstandard.ZstdCompressor(dict_data=dictionary).compress(content)
    assert len(frame) < 100
    inflater = ZstdInflater(prefix)
    assert inflater.prefix() == prefix
    assert inflater.nbytes > len(prefix)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: inflater.inflate(frame, len(content)), range(50)))
    assert found == [content] * 50
    with pytest.raises(CorruptError, match="wrong size"):
        inflater.inflate(frame, len(content) - 1)
    assert ZstdInflater(random.Random(6).randbytes(5000)).inflate(frame, len(content)) != content


def test_many_prefixes_share_a_few_decompressors() -> None:
    """Idle ones for each of 1,000 prefixes would be 160 MB; without any, each frame costs 5 us."""
    keep = Keep(2)
    prefixes = [bytes([i]) * 300 for i in range(5)]
    inflaters = [ZstdInflater(prefix, keep) for prefix in prefixes]
    frames = [zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(
        prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT)).compress(prefix + b"x")
        for prefix in prefixes]
    for _ in range(3):
        for inflater, frame, prefix in zip(inflaters, frames, prefixes, strict=True):
            assert inflater.inflate(frame, 301) == prefix + b"x"
