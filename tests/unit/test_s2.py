"""The S2 kernel on cases made by hand: every operation, every border, every refusal."""

from __future__ import annotations

import array
import mmap
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cramjam
import pytest
from reference import s2 as reference

from blockpack._native import s2
from blockpack.errors import CorruptError, LimitError

LIMIT = 1 << 30
TWENTY = bytes(range(20))


def literal(data: bytes) -> bytes:
    return bytes([(len(data) - 1) << 2]) + data


# name, block, decoded bytes
VALID = [
    ("empty", b"\x00", b""),
    ("size in five bytes, not minimal", b"\x81\x80\x80\x80\x00" + literal(b"x"), b"x"),
    ("literal", b"\x03" + literal(b"abc"), b"abc"),
    ("literal, size in 1 byte", b"\x03\xf0\x02abc", b"abc"),
    ("literal, size in 2 bytes", b"\x03\xf4\x02\x00abc", b"abc"),
    ("literal, size in 3 bytes", b"\x03\xf8\x02\x00\x00abc", b"abc"),
    ("literal, size in 4 bytes", b"\x03\xfc\x02\x00\x00\x00abc", b"abc"),
    ("copy1", b"\x07" + literal(b"abc") + b"\x01\x03", b"abcabca"),
    ("copy1, longest", b"\x0c" + literal(b"a") + b"\x1d\x01", b"a" * 12),
    ("copy1, offset of 11 bits", b"\x84\x10\xf4\xff\x07" + bytes(2048) + b"\xe1\xff", bytes(2052)),
    ("copy2", b"\x04" + literal(b"abc") + b"\x02\x03\x00", b"abca"),
    ("copy2, longest", b"\x41" + literal(b"a") + b"\xfe\x01\x00", b"a" * 65),
    ("copy4, one byte, near", b"\x04" + literal(b"abc") + b"\x03\x02\x00\x00\x00", b"abcb"),
    ("copy from the very start", b"\x28" + literal(TWENTY) + b"\x4e\x14\x00", TWENTY * 2),
    ("repeat, 4", b"\x0b" + literal(b"abc") + b"\x01\x03\x01\x00", b"abcabcabcab"),
    ("repeat, 8", b"\x0f" + literal(b"abc") + b"\x01\x03\x11\x00", b"abcabcabcabcabc"),
    ("repeat, 8 with a byte", b"\x0d" + literal(b"a") + b"\x01\x01\x15\x00\x00", b"a" * 13),
    ("repeat, 260", b"\x89\x02" + literal(b"a") + b"\x01\x01\x19\x00\x00\x00", b"a" * 265),
    ("repeat, 65540", b"\x89\x80\x04" + literal(b"a") + b"\x01\x01\x1d\x00\x00\x00\x00",
     b"a" * 65545),
    ("repeat after a literal",
     b"\x0d" + literal(b"abc") + b"\x01\x03" + literal(b"xy") + b"\x01\x00", b"abcabcaxyaxya"),
    ("repeat of a copy2's offset", b"\x0a" + literal(b"ab") + b"\x0e\x02\x00\x01\x00", b"ab" * 5),
]

# name, block, kernel's code, offset of the operation at fault
REFUSED = [
    ("nothing", b"", "TRUNCATED", 0),
    ("header does not end", b"\x80\x80", "TRUNCATED", 0),
    ("header of six bytes", b"\x81\x80\x80\x80\x80\x00" + literal(b"x"), "MALFORMED", 0),
    ("size of 33 bits", b"\xff\xff\xff\xff\x1f", "MALFORMED", 0),
    ("nothing after the header", b"\x03", "TRUNCATED", 1),
    ("fewer bytes than declared", b"\x04" + literal(b"abc"), "TRUNCATED", 5),
    ("literal cut", b"\x03\x08ab", "TRUNCATED", 1),
    ("literal's size cut", b"\x03\xf4\x02", "TRUNCATED", 1),
    ("literal past the size", b"\x02" + literal(b"abc"), "MALFORMED", 1),
    ("literal of 2^32 bytes", b"\x03\xfc\xff\xff\xff\xffabc", "TRUNCATED", 1),
    ("copy1 cut", b"\x07" + literal(b"abc") + b"\x01", "TRUNCATED", 5),
    ("copy2 cut", b"\x07" + literal(b"abc") + b"\x0e\x03", "TRUNCATED", 5),
    ("copy4 cut", b"\x07" + literal(b"abc") + b"\x0f\x03\x00\x00", "TRUNCATED", 5),
    ("repeat's length cut", b"\xff\x02" + literal(b"a") + b"\x01\x01\x19\x00\x00", "TRUNCATED", 6),
    ("copy past the size", b"\x06" + literal(b"abc") + b"\x01\x03", "MALFORMED", 5),
    ("copy2 with offset 0", b"\x07" + literal(b"abc") + b"\x0e\x00\x00", "BAD_OFFSET", 5),
    ("copy4 with offset 0", b"\x07" + literal(b"abc") + b"\x0f\x00\x00\x00\x00", "BAD_OFFSET", 5),
    ("repeat before any copy", b"\x07" + literal(b"abc") + b"\x01\x00", "BAD_OFFSET", 5),
    ("copy first", b"\x04\x01\x01", "BAD_OFFSET", 1),
    ("offset one too far", b"\x07" + literal(b"abc") + b"\x01\x04", "BAD_OFFSET", 5),
    ("offset of 2^32 - 1", b"\x04" + literal(b"abc") + b"\x03\xff\xff\xff\xff", "BAD_OFFSET", 5),
    ("literal after an empty block", b"\x00" + literal(b"x"), "TRAILING", 1),
    ("literal after the end", b"\x03" + literal(b"abc") + literal(b"x"), "TRAILING", 5),
    ("copy after the end", b"\x03" + literal(b"abc") + b"\x01\x03", "TRAILING", 5),
    ("zstd frame", b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00", "BAD_OFFSET", 1),
]

MESSAGES = {
    "TRUNCATED": "ends before", "TRAILING": "do not belong to it", "MALFORMED": "grammar",
    "BAD_OFFSET": "refers back",
}


@pytest.mark.parametrize(("block", "data"), [v[1:] for v in VALID], ids=[v[0] for v in VALID])
def test_decodes_every_operation(block: bytes, data: bytes) -> None:
    assert reference.decompress(block) == data
    assert s2.decompressed_size(block) == len(data)
    assert s2.decompress(block, LIMIT) == data
    # And again in the middle of a block, where the decoder has slack to copy past an operation.
    padded = with_slack(block, data)
    assert s2.decompress(padded, LIMIT) == reference.decompress(padded)


def with_slack(block: bytes, data: bytes) -> bytes:
    """The block's operations followed by 600 bytes of literals, under a header that says so."""
    _, start = reference.header(block)
    size = len(data) + 600
    header = bytearray()
    while size >= 0x80:
        header.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(header) + bytes([size]) + block[start:] + literal(bytes(60)) * 10


@pytest.mark.parametrize(("block", "code", "offset"), [v[1:] for v in REFUSED],
                         ids=[v[0] for v in REFUSED])
def test_refuses(block: bytes, code: str, offset: int) -> None:
    with pytest.raises(reference.Refused, match=code):
        reference.decompress(block)
    with pytest.raises(CorruptError, match=MESSAGES[code]) as caught:
        s2.decompress(block, LIMIT)
    assert caught.value.offset == offset


def test_a_size_over_the_limit_is_refused_before_allocating() -> None:
    with pytest.raises(LimitError, match="4294967295 bytes, over the limit of 1000"):
        s2.decompress(b"\xff\xff\xff\xff\x0f\x00x", 1000)
    with pytest.raises(LimitError):
        s2.decompress_until(b"\xff\xff\xff\xff\x0f\x00x", 1, 1000)
    assert s2.decompress(b"\x01" + literal(b"x"), 1) == b"x"


@pytest.mark.parametrize("tier", s2.TIERS)
@pytest.mark.parametrize("make", [
    bytes,
    lambda n: b"abcdefghi" * (n // 9) + b"abcdefghi"[:n % 9],
    lambda n: random.Random(n).randbytes(n),
    lambda n: bytes(random.Random(n).choices(b"ab", k=n)),
    lambda n: (random.Random(n).randbytes(n // 2 + 1) * 2)[:n],
], ids=["zeros", "period 9", "random", "two symbols", "random twice"])
def test_round_trip_of_every_small_size(tier: str, make: object) -> None:
    assert callable(make)
    for size in [*range(300), *(2**k + d for k in range(9, 18) for d in (-1, 0, 1))]:
        data = make(size)
        block = s2.compress(data, tier)
        assert len(block) <= size + 10
        assert s2.decompress(block, LIMIT) == data
        if size < 300:
            assert reference.decompress(block) == data


def far_repeats(distance: int) -> bytes:
    """Random bytes, and parts of them again that far later."""
    noise = random.Random(distance).randbytes(distance)
    return noise + noise[:200] + b"-" + noise[300:304] + b"-" + noise[400:466]


@pytest.mark.parametrize("tier", s2.TIERS)
@pytest.mark.parametrize("distance", [
    8, 2046, 2047, 2048, 2049, 65534, 65535, 65536, 65537, 2**24 - 1, 2**24, 2**24 + 1,
])
def test_round_trip_at_the_borders_of_offsets(tier: str, distance: int) -> None:
    data = far_repeats(distance)
    assert s2.decompress(s2.compress(data, tier), LIMIT) == data


@pytest.mark.parametrize("tier", s2.TIERS)
@pytest.mark.parametrize("length", [
    4, 11, 12, 60, 64, 65, 67, 68, 72, 263, 264, 265, 65795, 65796, 65807, 16842755, 16842763,
    16842764, 16842820, 2 * 16842755 + 70,
])
def test_round_trip_at_the_borders_of_lengths(tier: str, length: int) -> None:
    data = b"head" + bytes(length) + b"tail, long enough to leave the margin"
    block = s2.compress(data, tier)
    assert s2.decompress(block, LIMIT) == data
    assert len(block) < 100


def test_data_that_does_not_shrink_is_one_literal() -> None:
    data = random.Random(1).randbytes(100_000)
    found = list(reference.operations(s2.compress(data)))
    assert [(op.kind, op.length) for op in found] == [("literal", 100_000)]


def test_repeats_are_used() -> None:
    row = random.Random(2).randbytes(300)
    changed = bytearray(row)
    changed[::30] = bytes(10)
    data = row + changed
    for tier in s2.TIERS:
        kinds = [op.kind for op in reference.operations(s2.compress(data, tier))]
        assert kinds.count("repeat") >= 5


def test_stops_early() -> None:
    data = b"".join(b"record %d of a thousand;" % i for i in range(1000))
    block = s2.compress(data)
    for stop in [0, 1, 2, 30, 31, 32, 33, 500, 20_000, len(data) - 1, len(data), len(data) + 9]:
        assert s2.decompress_until(block, stop, LIMIT) == data[:stop]


def test_what_follows_an_early_stop_is_not_checked() -> None:
    data = random.Random(3).randbytes(1000)
    block = bytearray(b"\xd0\x0f\xf4\xe7\x03" + data + b"\xfe\x00\x00")     # then offset 0
    with pytest.raises(CorruptError):
        s2.decompress(block, LIMIT)
    assert s2.decompress_until(block, 1000, LIMIT) == data
    with pytest.raises(CorruptError):
        s2.decompress_until(block, 1001, LIMIT)


def test_a_cut_operation_past_the_declared_size_is_still_refused() -> None:
    with pytest.raises(CorruptError, match="grammar"):
        s2.decompress_until(b"\x02" + literal(b"abc"), 1, LIMIT)


def test_into_buffers_of_the_callers() -> None:
    data = b"0123456789" * 100
    target = bytearray(b"\xee" * (s2.compress_bound(len(data)) + 8))
    size = s2.compress_into(data, memoryview(target)[:-8])
    assert target[-8:] == b"\xee" * 8
    assert target[:size] == s2.compress(data)
    output = bytearray(b"\xee" * 1008)
    assert s2.decompress_into(memoryview(target)[:size], memoryview(output)[:1000]) == 1000
    assert output == data + b"\xee" * 8
    with pytest.raises(ValueError, match="does not fit"):
        s2.decompress_into(memoryview(target)[:size], bytearray(999))
    with pytest.raises(ValueError, match="does not fit"):
        s2.compress_into(data, bytearray(s2.compress_bound(1000) - 1))
    with pytest.raises(BufferError):
        s2.decompress_into(memoryview(target)[:size], bytes(1000))


def test_any_contiguous_buffer(tmp_path: Path) -> None:
    data = array.array("I", range(1000))
    block = s2.compress(data)
    path = tmp_path / "block"
    path.write_bytes(b"pad" + block + b"pad")
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped)[3:3 + len(block)] as part,
    ):
        assert s2.decompress(part, LIMIT) == data.tobytes()
        assert s2.decompressed_size(part) == 4000
    with pytest.raises(BufferError):
        s2.compress(memoryview(b"abcdef")[::2])
    with pytest.raises(TypeError):
        s2.compress("text")     # type: ignore[arg-type]


def test_unknown_tier_and_sizes_that_no_block_can_have() -> None:
    with pytest.raises(ValueError, match="fastest, better, best, not 'fast'"):
        s2.compress(b"", "fast")
    assert s2.compress_bound(0) >= 1
    assert s2.compress_bound(s2.SIZE_MAX) > s2.SIZE_MAX
    with pytest.raises(LimitError, match="at most 4294967285 bytes"):
        s2.compress_bound(s2.SIZE_MAX + 1)


@pytest.mark.parametrize("size", [0, 1, 59, 60, 61, 1000, 70_000, 200_000])
def test_reads_snappy(size: int) -> None:
    data = bytes(random.Random(size).choices(b"abcd", k=size))
    assert s2.decompress(bytes(cramjam.snappy.compress_raw(data)), LIMIT) == data


def test_real_blocks(testdata: Path) -> None:
    for path in sorted((testdata / "singles").glob("*.rlp")):
        data = path.read_bytes()
        for tier in s2.TIERS:
            block = s2.compress(data, tier)
            assert s2.decompress(block, LIMIT) == data
        assert reference.decompress(block) == data


def far_and_near(prefix: bytes) -> tuple[bytes, bytes]:
    """A block after a prefix of 1000 bytes and more, and what it decodes to."""
    body = (
        b"\xfe" + (1000).to_bytes(2, "little")     # 64 from deep inside of the prefix
        + b"\x11\x00"                              # a repeat of 8, still from there
        + literal(b"abc")
        + b"\x0e" + (79).to_bytes(2, "little")      # 4 from the prefix's last 4 on
        + b"\xfe" + (81).to_bytes(2, "little")      # 64, of which the first 2 are the prefix's
    )
    output = bytearray(prefix)
    for offset, length in ((1000, 72), (0, 0), (79, 4), (81, 64)):
        if not offset:
            output += b"abc"
        for _ in range(length):
            output.append(output[-offset])
    data = bytes(output[len(prefix):])
    return bytes([len(data) | 0x80, 1]) + body, data


def test_copies_from_a_prefix_and_across_its_end() -> None:
    prefix = random.Random(5).randbytes(5000)
    block, data = far_and_near(prefix)
    assert reference.decompress(block, prefix=prefix) == data
    padded = with_slack(block, data)
    whole = data + bytes(600)
    for held in (prefix, bytearray(prefix), memoryview(b"x" + prefix)[1:]):
        assert s2.decompress(block, LIMIT, held) == data
        assert s2.decompress(padded, LIMIT, prefix=held) == whole
        target = bytearray(b"\xee" * (len(data) + 16))
        with memoryview(target)[8:-8] as inner:
            assert s2.decompress_into(block, inner, held) == len(data)
        assert target == b"\xee" * 8 + data + b"\xee" * 8
    for stop in range(len(data) + 2):
        assert s2.decompress_until(block, stop, LIMIT, prefix) == data[:stop]
        assert s2.decompress_range(padded, 5, stop, LIMIT, prefix) == whole[5:stop]


def test_offsets_end_at_the_start_of_the_prefix() -> None:
    prefix = random.Random(6).randbytes(1000)
    block, data = far_and_near(prefix)
    assert s2.decompress(block, LIMIT, prefix) == data
    for shorter in (prefix[1:], b""):
        with pytest.raises(CorruptError, match="refers back") as caught:
            s2.decompress(block, LIMIT, shorter)
        assert caught.value.offset == 2
    with pytest.raises(CorruptError, match="refers back"):
        s2.decompress(b"\x04\x01\x00", LIMIT, prefix)      # a repeat first, even so
    with pytest.raises(TypeError):
        s2.decompress(block, LIMIT, "text")     # type: ignore[arg-type]


def test_every_distance_from_the_end_of_a_prefix() -> None:
    with mmap.mmap(-1, mmap.PAGESIZE) as mapped:
        mapped[:] = prefix = random.Random(7).randbytes(len(mapped))
        with memoryview(mapped) as view:
            for back in range(1, 200):
                block = b"\xc0\x05\xfe" + back.to_bytes(2, "little") + b"\xf4\x7f\x02" + bytes(640)
                assert s2.decompress(block, LIMIT, view) == reference.decompress(
                    block, prefix=prefix)


@pytest.mark.parametrize(("start", "stop"), [
    (0, 0), (0, 10), (3, 3), (3, 200), (17_000, 17_001), (0, 1 << 40), (22_000, 1 << 40),
    (1 << 40, 1 << 41), (50, 20)])
def test_ranges(start: int, stop: int) -> None:
    data = b"".join(b"record %d of a thousand;" % i for i in range(1000))
    block = s2.compress(data)
    assert s2.decompress_range(block, start, stop, LIMIT) == data[start:stop]
    with pytest.raises(LimitError):
        s2.decompress_range(block, start, stop, len(data) - 1)


def test_new_bytes_filled_in_place() -> None:
    def fill(view: memoryview) -> None:
        view[:3] = b"abc"
        view[3:] = b"de"

    assert s2.filled(5, fill) == b"abcde"
    assert s2.filled(0, lambda view: None) == b""
    kept: list[memoryview] = []
    with pytest.raises(BufferError):
        s2.filled(5, lambda view: kept.append(view[:]))
    with pytest.raises(ZeroDivisionError):
        s2.filled(5, lambda view: 1 // 0)


@pytest.mark.parametrize("tier", s2.TIERS)
def test_a_prefix_saves_what_it_holds(tier: str) -> None:
    source = random.Random(1)
    content = source.randbytes(300_000)
    prefix = s2.Prefix(content, tier)
    assert (prefix.tier, prefix.content) == (tier, content)
    rest = content[1000:9000] + source.randbytes(100) + content[250_000:259_000]
    block = prefix.compress(rest)
    assert len(block) < 200
    assert prefix.decompress(block, len(rest)) == rest
    with pytest.raises(CorruptError):
        s2.decompress(block, len(rest))
    with pytest.raises(LimitError):
        prefix.decompress(block, len(rest) - 1)


@pytest.mark.parametrize("tier", s2.TIERS)
@pytest.mark.parametrize("prefix_size", [0, 1, 7, 8, 9, 31, 64, 2048, 65_535, 65_536, 70_000])
def test_sizes_of_prefix_and_source(tier: str, prefix_size: int) -> None:
    content = random.Random(prefix_size).randbytes(prefix_size)
    prefix = s2.Prefix(content, tier)
    for size in (0, 1, 31, 32, 33, 48, 64, 500):
        for rest in ((content * 2 + bytes(size))[:size], bytes(size), content[-size:] or b""):
            block = prefix.compress(rest)
            assert reference.decompress(block, prefix=content) == rest


def test_one_prefix_for_many_threads() -> None:
    source = random.Random(3)
    content = source.randbytes(200_000)
    rests = [content[i * 900:i * 900 + 5000] + bytes(i * 300) for i in range(60)]
    for tier in s2.TIERS:
        expected = [s2.Prefix(content, tier).compress(rest) for rest in rests]
        prefix = s2.Prefix(content, tier)
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(prefix.compress, rests)) == expected


def test_prefixes_that_there_are_not() -> None:
    with pytest.raises(ValueError, match="S2 has the tiers"):
        s2.Prefix(b"abc", "quick")
    with pytest.raises(TypeError):
        s2.Prefix(None)    # type: ignore[arg-type]
