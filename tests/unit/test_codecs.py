"""The codecs: levels, equal bytes whatever came before, parts, and frames that lie."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard

from blockpack.errors import CorruptError, KnobError, LimitError
from blockpack.segment import codecs
from blockpack.segment.codecs import (
    CODECS,
    LEVELS,
    TIER_IDS,
    ZstdCodec,
    codec_of_id,
    get_codec,
    parse_level,
    tier_of_id,
)

PAIRS = [(codec, tier) for codec, tiers in LEVELS.items() for tier in tiers]
each_pair = pytest.mark.parametrize(("name", "tier"), PAIRS)
each_codec = pytest.mark.parametrize("name", list(CODECS))


def text(size: int, seed: int = 1) -> bytes:
    """Bytes that compress about as blocks do: a few words over and over, and noise."""
    rnd = random.Random(seed)
    words = [rnd.randbytes(20) for _ in range(50)]
    pieces = [rnd.choice(words) + rnd.randbytes(10) + bytes(12) for _ in range(size // 42 + 1)]
    return b"".join(pieces)[:size]


LEVEL_CASES = [
    ("s2", 1, "fastest"), ("s2", 5, "fastest"), ("s2", 6, "better"), ("s2", 9, "better"),
    ("s2", 10, "best"), ("s2", 99, "best"), ("s2", "7", "better"), ("s2", "best", "best"),
    ("zstd", 1, "fastest"), ("zstd", 2, "fastest"), ("zstd", 3, "default"),
    ("zstd", 5, "default"), ("zstd", 6, "better"), ("zstd", 9, "better"), ("zstd", 10, "best"),
    ("zstd", 19, "best"), ("zstd", "default", "default"),
    ("snappy", 1, "fastest"), ("snappy", 6, "fastest"), ("snappy", "fastest", "fastest"),
]


@pytest.mark.parametrize(("codec", "level", "tier"), LEVEL_CASES)
def test_levels_select_tiers(codec: str, level: int | str, tier: str) -> None:
    assert parse_level(codec, level) == tier


@pytest.mark.parametrize(("codec", "level"), [
    ("s2", "default"), ("snappy", "better"), ("zstd", 0), ("zstd", -1), ("zstd", "fast"),
    ("s2", ""), ("s2", True), ("zstd", "1.5"),
])
def test_a_tier_that_the_codec_lacks_is_refused_naming_those_it_has(codec: str,
                                                                    level: int | str) -> None:
    with pytest.raises(KnobError) as caught:
        parse_level(codec, level)
    assert ", ".join(LEVELS[codec]) in str(caught.value)


def test_an_unknown_codec_is_refused_naming_the_others() -> None:
    for call in (lambda: get_codec("lz4"), lambda: parse_level("lz4", 1)):
        with pytest.raises(KnobError, match="s2, zstd, snappy"):
            call()


def test_ids() -> None:
    assert {codec.name: codec.id for codec in CODECS.values()} == {"s2": 1, "zstd": 2, "snappy": 3}
    assert TIER_IDS == {"fastest": 1, "default": 2, "better": 3, "best": 4}
    for codec in CODECS.values():
        assert codec_of_id(codec.id) is codec
    for tier, number in TIER_IDS.items():
        assert tier_of_id(number) == tier
    assert codec_of_id(0) is None
    assert tier_of_id(0) is None


@each_pair
@pytest.mark.parametrize("size", [1, 5, 1000, 100_000, 400_000])
def test_round_trip(name: str, tier: str, size: int) -> None:
    content = text(size)
    codec = get_codec(name)
    frame = codec.compress(content, tier)
    assert codec.decompress(frame, size) == content
    assert codec.decompress(memoryview(b"-" + frame + b"-")[1:-1], size) == content


@each_pair
def test_the_same_bytes_whatever_was_compressed_before(name: str, tier: str) -> None:
    codec = get_codec(name)
    contents = [text(size, seed) for seed, size in enumerate((300, 70_000, 1500, 200_000, 9))]
    alone = [codec.compress(content, tier) for content in contents]
    for _ in range(2):
        again = [codec.compress(content, tier) for content in reversed(contents)]
        assert again[::-1] == alone
    with ThreadPoolExecutor(3) as pool:
        threaded = list(pool.map(lambda content: codec.compress(content, tier), contents * 3))
    assert threaded == alone * 3
    fresh = type(codec)()    # type: ignore[misc]
    assert [fresh.compress(content, tier) for content in contents] == alone


@pytest.mark.parametrize(("low", "high"), [("fastest", "default"), ("default", "better"),
                                           ("better", "best")])
def test_a_higher_zstd_tier_is_smaller(testdata: Path, low: str, high: str) -> None:
    content = (testdata / "mainnet-18090205-18090218.rlp").read_bytes()[:500_000]
    assert len(get_codec("zstd").compress(content, high)) < len(
        get_codec("zstd").compress(content, low))


def test_zstd_parameters() -> None:
    codec = ZstdCodec()
    for tier, level in codec.NATIVE_LEVELS.items():
        for size in (1, 600, 90_000, 6 << 20, 32 << 20, 1 << 30):
            found = codec._parameters(tier, size)
            plain = zstandard.ZstdCompressionParameters.from_level(level, source_size=size)
            assert found.window_log == 25
            assert found.chain_log == min(plain.chain_log, 23)
            for name in ("hash_log", "search_log", "min_match", "target_length", "strategy"):
                assert getattr(found, name) == getattr(plain, name)
            assert not found.write_checksum
            assert found.write_content_size
            # 120 MB a compressor, of which up to 32 are the compressed group.
            if size <= 32 << 20:
                assert found.estimated_compression_context_size() < 88 << 20


def test_the_zstd_window_covers_a_whole_group() -> None:
    # 12 MB of noise twice: the second half is found only by a window over both.
    noise = random.Random(3).randbytes(12 << 20)
    frame = get_codec("zstd").compress(noise + noise, "fastest")
    assert len(frame) < len(noise) * 1.6
    assert get_codec("zstd").decompress(frame, 24 << 20) == noise + noise


@each_codec
@pytest.mark.parametrize("size", [3000, 600_000])
def test_parts(name: str, size: int) -> None:
    content = text(size)
    codec = get_codec(name)
    frame = memoryview(codec.compress(content, "fastest"))
    spans = [(0, size), (0, 10), (0, size // 2), (9, 11), (10, 10), (3, size), (size, size),
             (size - 1, size), (size // 3, size // 2)]
    for span in spans:
        probes: list[bytes] = []

        def locate(probe: bytes, whole: int, span: tuple[int, int] = span,
                   probes: list[bytes] = probes) -> tuple[int, int]:
            assert whole == size
            probes.append(probe)
            return span

        part = codec.extract(frame, size, 10, locate)
        assert part == content[span[0]:span[1]]
        assert isinstance(part, bytes)
        assert probes == [content[:10]]
    assert codec.extract(frame, size, 10, lambda probe, whole: None) is None
    assert codec.extract(frame, size, size + 5, lambda probe, whole: (0, len(probe))) == content


@each_codec
def test_parts_on_several_threads(name: str) -> None:
    content = text(500_000)
    codec = get_codec(name)
    frame = codec.compress(content, "fastest")
    wrong: list[int] = []

    def work(seed: int) -> None:
        rnd = random.Random(seed)
        for _ in range(20):
            start = rnd.randrange(len(content))
            end = rnd.randrange(start, len(content) + 1)
            if codec.extract(frame, len(content), 9,
                             lambda _, whole, a=start, b=end: (a, b)) != content[start:end]:
                wrong.append(start)
            if codec.decompress(frame, len(content)) != content:
                wrong.append(-1)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def refuse(name: str, frame: bytes, size: int) -> None:
    codec = get_codec(name)
    for read in (codec.decompress, codec.inflate):
        with pytest.raises((CorruptError, LimitError)):
            read(frame, size)
    # A part may come out where only what follows it is damaged; never other bytes (see below).
    with pytest.raises((CorruptError, LimitError)):
        codec.extract(frame, size, size, lambda _, whole: (0, size))


@each_codec
@pytest.mark.parametrize("size", [2000, 400_000])
def test_frames_that_lie_are_refused(name: str, size: int) -> None:
    content = text(size)
    frame = get_codec(name).compress(content, "fastest")
    refuse(name, frame, size - 1)
    with pytest.raises(CorruptError):
        get_codec(name).decompress(frame, size + 1)    # an exact size
    assert get_codec(name).inflate(frame, size + 1) == content    # a limit
    refuse(name, frame[:-1], size)
    refuse(name, b"", size)
    with pytest.raises(CorruptError):
        get_codec(name).decompress(frame + b"\0", size)


def test_a_zstd_frame_that_claims_much_allocates_nothing() -> None:
    # Magic, single segment with 8-byte size: 2^62 bytes.
    hostile = bytes.fromhex("28b52ffd e0") + (1 << 62).to_bytes(8, "little") + b"\x01\x00\x00"
    refuse("zstd", hostile, 100)


def test_a_zstd_frame_without_size_and_two_frames_are_refused() -> None:
    content = text(1000)
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(content)
    refuse("zstd", unsized, 1000)
    half = get_codec("zstd").compress(content, "fastest")
    with pytest.raises(CorruptError):
        get_codec("zstd").decompress(half + half, 1000)
    with pytest.raises(CorruptError):
        get_codec("zstd").decompress(half + half, 2000)


def test_a_failed_inflation_spoils_no_pooled_decompressor() -> None:
    codec = ZstdCodec()
    content = text(400_000)
    frame = codec.compress(content, "fastest")
    broken = frame[:-20_000]
    for _ in range(3):
        with pytest.raises(CorruptError):
            codec.decompress(broken, len(content))
        with pytest.raises(CorruptError):
            codec.extract(broken, len(content), 5, lambda _, whole: (0, 400_000))
        assert codec.decompress(frame, len(content)) == content
        assert codec.extract(frame, len(content), 5,
                             lambda _, whole: (7, 300_000)) == content[7:300_000]


def test_wrong_size_names_both() -> None:
    with pytest.raises(CorruptError, match=r"expected 3, found 4"):
        codecs.wrong_size("zstd", 3, 4)
