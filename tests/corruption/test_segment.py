"""Damaged and hostile segments: every fault is an error or harmless, never other records."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from segments import FIRST, Parts, build, contents, open_reader, scan

from blockpack._native import s2
from blockpack._native.group import pack
from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.segment import layout
from blockpack.segment.cache import GroupCache
from blockpack.segment.codecs import get_codec
from blockpack.segment.grouping import Grouping

RECORDS: list[bytes | None] = [b"alpha", None, b"", b"beta" * 30, b"gamma", b"delta" * 9, b"z"]
REFUSALS = (CorruptError, UnsupportedVersionError)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.seg"


def reads(path: Path, data: bytes, *, mmap: bool = True) -> str:
    """What a reader makes of these bytes: "refused", "faulty" or "whole".

    Every record that it gives back, by any path, must be the right one.
    """
    path.write_bytes(data)
    try:
        reader = open_reader(path, cache=GroupCache(), mmap=mmap)
    except REFUSALS:
        return "refused"
    faults = 0
    for i, record in enumerate(RECORDS):
        for read in (reader.record, reader.view):
            try:
                assert read(FIRST + i) == record
            except CorruptError as error:
                faults += 1 if error.file == str(path) else 1000
    try:
        assert scan(reader, FIRST, FIRST + len(RECORDS)) == RECORDS
    except CorruptError:
        faults += 1
    found = reader.verify()
    assert bool(found) == bool(faults)
    reader.close()
    assert faults < 1000, "an error does not name its file"
    return "faulty" if faults else "whole"


@pytest.mark.parametrize("codec", ["zstd", "s2", "snappy"])
@pytest.mark.parametrize("group_size", [1, 3])
def test_every_byte_flipped_in_turn(path: Path, codec: str, group_size: int) -> None:
    build(path, list(RECORDS), codec=codec, group_size=group_size)
    flip_every_byte(path)


@pytest.mark.parametrize("codec", ["zstd", "s2"])
@pytest.mark.parametrize("grouping", [Grouping(7, 2, 2, 1), Grouping(4, 1, 1, 2)], ids=str)
def test_every_byte_of_keyed_groups_flipped_in_turn(path: Path, codec: str,
                                                    grouping: Grouping) -> None:
    build(path, list(RECORDS), codec=codec, grouping=grouping)
    flip_every_byte(path)


def flip_every_byte(path: Path) -> None:
    data = path.read_bytes()
    assert reads(path, data) == "whole"
    for position in range(len(data)):
        for mask in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= mask
            # No byte of the file is without effect.
            assert reads(path, bytes(damaged)) != "whole", position


@pytest.mark.parametrize("codec", ["zstd", "s2"])
def test_a_whole_prefix_that_is_another_one_is_noticed(path: Path, codec: str) -> None:
    """Its frame is valid, and what follows it decodes without a fault: to other bytes."""
    source = random.Random(1)
    keys, others = ([source.randbytes(300) for _ in range(4)] for _ in range(2))
    grouping = Grouping(4, 2, 2, 1)
    follows = [keys[0][50:200] + b"1", keys[1][10:250] + b"2"]
    build(path, [others[0], follows[0], others[1], follows[1]], codec=codec, grouping=grouping)
    other = Parts(path.read_bytes())
    build(path, [keys[0], follows[0], keys[1], follows[1]], codec=codec, grouping=grouping)
    parts = Parts(path.read_bytes())
    assert len(parts.frame(0)) == len(other.frame(0))
    rows = parts.index
    rows[0][1] = other.index[0][1]
    parts.frames = other.frame(0) + parts.frames[len(other.frame(0)):]
    parts.index = rows
    path.write_bytes(parts.join())
    reader = open_reader(path)
    assert reader.record(FIRST) == others[0]
    for i in (1, 3):
        with pytest.raises(CorruptError, match=r"does not decode after its key group, frame 0"):
            reader.record(FIRST + i)
    assert len(reader.verify()) == 2


@pytest.mark.parametrize("mmap", [True, False])
def test_truncation_at_every_byte(path: Path, mmap: bool) -> None:
    build(path, list(RECORDS))
    data = path.read_bytes()
    for size in range(len(data)):
        assert reads(path, data[:size], mmap=mmap) == "refused"


def test_bytes_after_the_footer(path: Path) -> None:
    build(path, list(RECORDS))
    data = path.read_bytes()
    for more in (b"\0", b"\n", bytes(4096), data):
        assert reads(path, data + more) == "refused"


def test_a_zero_filled_tail(path: Path) -> None:
    build(path, list(RECORDS))
    data = path.read_bytes()
    for kept in range(0, len(data), 7):
        assert reads(path, data[:kept] + bytes(len(data) - kept)) != "whole"
    assert reads(path, bytes(len(data))) == "refused"


def test_a_zero_filled_frame_is_named(path: Path) -> None:
    build(path, list(RECORDS), group_size=3)
    data = bytearray(path.read_bytes())
    rows = Parts(bytes(data)).index
    data[rows[1][0]:rows[2][0]] = bytes(rows[2][0] - rows[1][0])
    path.write_bytes(data)
    reader = open_reader(path)
    assert [reader.record(FIRST + i) for i in (0, 1, 2, 6)] == [b"alpha", None, b"", b"z"]
    with pytest.raises(CorruptError) as caught:
        reader.record(FIRST + 4)
    assert (caught.value.file, caught.value.offset) == (str(path), rows[1][0])
    assert "frame 1: checksum mismatch" in str(caught.value)
    faults = reader.verify()
    assert [fault.offset for fault in faults] == [rows[1][0]]


def test_a_text_mode_copy_is_refused(path: Path) -> None:
    build(path, list(RECORDS))
    data = path.read_bytes()
    assert reads(path, data.replace(b"\r\n", b"\n")) == "refused"
    assert reads(path, data.replace(b"\n", b"\r\n")) == "refused"
    assert reads(path, bytes(byte & 0x7F for byte in data)) == "refused"


def test_swapped_frames_are_caught_even_with_their_index_entries(path: Path) -> None:
    records = [b"first " * 9, b"other " * 9]    # equal sizes: only the places differ
    build(path, list(records), group_size=1, codec="snappy")
    parts = Parts(path.read_bytes())
    one, other = parts.frame(0), parts.frame(1)
    assert len(one) == len(other)
    rows = parts.index
    rows[0][1], rows[1][1] = rows[1][1], rows[0][1]
    parts.index = rows
    parts.frames = other + one
    path.write_bytes(parts.join())
    reader = open_reader(path)
    for number in (FIRST, FIRST + 1):
        with pytest.raises(CorruptError, match="checksum"):
            reader.record(number)
    assert len(reader.verify()) == 2


@pytest.mark.parametrize("changed", [{"table": 3}, {"first": FIRST + 64}, {"chain_id": 5},
                                     {"group_size": 9}, {"tier": "default"}])
def test_parts_of_another_segment(path: Path, changed: dict[str, int]) -> None:
    build(path, list(RECORDS))
    own = path.read_bytes()
    build(path, list(RECORDS), **changed)    # type: ignore[arg-type]
    other = path.read_bytes()
    assert reads(path, other[:64] + own[64:]) == "refused"
    if len(own) == len(other):
        assert reads(path, own[:-64] + other[-64:]) == "refused"
    # A frame of the other file, in the same place and with its own checksum in the index.
    parts, foreign = Parts(own), Parts(other)
    if len(parts.index) == len(foreign.index):
        rows = parts.index
        rows[0][1] = foreign.index[0][1]
        parts.index = rows
        assert reads(path, parts.join()) == "faulty"


def reseal(change: Callable[[Parts], None]) -> Callable[[Path], bytes]:
    def make(path: Path) -> bytes:
        build(path, list(RECORDS), group_size=3)
        parts = Parts(path.read_bytes())
        change(parts)
        return parts.join()
    return make


def set_header(**fields: int) -> Callable[[Parts], None]:
    return lambda parts: parts.header.update(fields)


def set_offset(frame: int, value: int) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        rows = parts.index
        rows[frame][0] = value
        parts.index = rows
    return change


def add_firsts(*firsts: int, lane: int = 0) -> Callable[[Parts], None]:
    """First ordinals of the three frames and the closing one; right are 0, 3, 6, 7."""
    section = [layout.KIND_FIRSTS, lane, layout.SECTION_REQUIRED,
               b"".join(map(layout.INDEX_FIRST.pack, firsts))]
    return lambda parts: parts.sections.append(section)


def set_meta(at: int, form: str, value: int) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        section = parts.section(layout.KIND_META)
        meta = bytearray(section[3])
        struct.pack_into(form, meta, at, value)
        section[3] = bytes(meta)
    return change


def set_footer(at: int, form: str, value: int) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        def patch(footer: bytearray) -> None:
            struct.pack_into(form, footer, at, value)
        parts.patch_footer = patch
    return change


def set_directory(at: int, form: str, value: int) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        def patch(directory: bytearray) -> None:
            struct.pack_into(form, directory, at, value)
        parts.patch_directory = patch
    return change


HOSTILE = {
    "codec 0": set_header(codec=0),
    "unknown codec": set_header(codec=200),
    "unknown tier": set_header(tier=9),
    "two lanes": set_header(lanes=2),
    "group size 0": set_header(group_size=0),
    "group size huge": set_header(group_size=2**32 - 1),
    "required feature": set_header(required=1 << 7),
    "reserved a": set_header(zero_a=1),
    "reserved b": set_header(zero_b=1),
    "reserved c": set_header(zero_c=1),
    "later version": set_header(version=1),
    "offset before the frames": set_offset(0, 0),
    "offset past the frames": set_offset(2, 2**62),
    "frames do not reach the tail": set_offset(3, 150),
    "first ordinals too few": add_firsts(0, 3, 7),
    "first ordinals too many": add_firsts(0, 3, 6, 7, 8),
    "first ordinals fall": add_firsts(0, 3, 2, 7),
    "first ordinal huge": add_firsts(0, 2**32 - 1, 6, 7),
    "first ordinals past the end": add_firsts(0, 3, 6, 8),
    "first ordinals make a group too large": add_firsts(0, 4, 6, 7),
    "first ordinals of another lane": add_firsts(0, 3, 6, 7, lane=1),
    "record count differs": set_meta(64, "<Q", 10),
    "record count too small": set_meta(64, "<Q", 6),
    "record count huge": set_meta(64, "<Q", 2**63),
    "more present than there are": set_meta(72, "<Q", 2**63),
    "lane of another codec": set_meta(104, "<B", 3),
    "lane of another group size": set_meta(108, "<I", 4),
    "directory before the frames": set_footer(32, "<Q", 10),
    "directory past the end": set_footer(32, "<Q", 2**63),
    "tail past the end": set_footer(24, "<Q", 2**63),
    "tail inside of the header": set_footer(24, "<Q", 10),
    "tail inside of the frames": set_footer(24, "<Q", 100),
    "file size": set_footer(16, "<Q", 10),
    "other identity": set_footer(48, "<Q", 10),
    "no sections": set_footer(12, "<I", 0),
    "one section": set_footer(12, "<I", 1),
    "many sections": set_footer(12, "<I", 2**32 - 1),
    "section offset huge": set_directory(8, "<Q", 2**64 - 8),
    "section size huge": set_directory(16, "<Q", 2**64 - 1),
    "section size 0": set_directory(16, "<Q", 0),
    "section not aligned": set_directory(40, "<Q", 301),
    "section flags": set_directory(4, "<H", 3),
    "section reserved": set_directory(6, "<H", 1),
    "section kind 0": set_directory(0, "<H", 0),
    "section kind of the directory": set_directory(0, "<H", 0xFFFF),
    "two indexes": set_directory(32, "<H", layout.KIND_FRAMES),
    "two meta sections": set_directory(0, "<H", layout.KIND_META),
    "index of another lane": set_directory(2, "<H", 1),
}


@pytest.mark.parametrize("mmap", [True, False], ids=["map", "pread"])
@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_segment_with_valid_checksums_is_refused(path: Path, name: str,
                                                           mmap: bool) -> None:
    assert reads(path, reseal(HOSTILE[name])(path), mmap=mmap) == "refused"


def test_an_untouched_reseal_is_whole(path: Path) -> None:
    assert reads(path, reseal(lambda parts: None)(path)) == "whole"
    assert reads(path, reseal(add_firsts(0, 3, 6, 7))(path)) == "whole"


def add_section(kind: int, flags: int) -> Callable[[Parts], None]:
    return lambda parts: parts.sections.append([kind, 0, flags, b"from the future"])


def test_an_unknown_optional_section_is_skipped_and_still_checked(path: Path) -> None:
    data = reseal(add_section(77, 0))(path)
    assert reads(path, data) == "whole"
    damaged = data.replace(b"future", b"futurf")
    path.write_bytes(damaged)
    reader = open_reader(path)
    assert contents(reader) == RECORDS
    faults = reader.verify()
    assert len(faults) == 1
    assert "section of kind 77" in str(faults[0])


def test_an_unknown_required_section_is_refused_by_name(path: Path) -> None:
    path.write_bytes(reseal(add_section(77, layout.SECTION_REQUIRED))(path))
    with pytest.raises(UnsupportedVersionError, match="required section of kind 77"):
        open_reader(path)


def frames_of(*contents: bytes) -> Callable[[Parts], None]:
    """Replace the three frames' contents; the ordinals (3, 3 and 1 records) stay."""
    def change(parts: Parts) -> None:
        frames = [get_codec("zstd").compress(content, "fastest") for content in contents]
        parts.set_frames(frames)
    return change


GOOD = [pack(RECORDS[0:3]), pack(RECORDS[3:6]), pack(RECORDS[6:7])]
HOSTILE_CONTENTS = {
    "all zero": bytes(30),
    "varint of six bytes": b"\xff\xff\xff\xff\xff\x01" + bytes(30),
    "lengths past the end": b"\x7f\x00\x00\x00",
    "record of 4 GiB": b"\xff\xff\xff\xff\x0f\x00\x00\x00",
    "bytes after the last record": GOOD[1] + b"!",
    "too short for a table": b"\x01\x00",
    "base not the smallest": b"\x01\x01\x01\x01abc",
}


@pytest.mark.parametrize("name", list(HOSTILE_CONTENTS))
def test_hostile_contents_are_corrupt_frames(path: Path, name: str) -> None:
    data = reseal(frames_of(GOOD[0], HOSTILE_CONTENTS[name], GOOD[2]))(path)
    assert reads(path, data) == "faulty"
    path.write_bytes(data)
    reader = open_reader(path)
    with pytest.raises(CorruptError, match="frame 1: "):
        reader.record(FIRST + 3)


def test_a_frame_that_claims_another_size_allocates_nothing(path: Path) -> None:
    huge = bytes.fromhex("28b52ffde0") + (1 << 62).to_bytes(8, "little") + b"\x01\x00\x00"

    def change(parts: Parts) -> None:
        frames = [huge, parts.frame(1), parts.frame(2)]
        parts.set_frames(frames)
    assert reads(path, reseal(change)(path)) == "faulty"


@pytest.mark.parametrize("codec", ["s2", "snappy"])
def test_an_s2_frame_that_claims_another_size(path: Path, codec: str) -> None:
    build(path, list(RECORDS), group_size=3, codec=codec)
    parts = Parts(path.read_bytes())
    frames = [b"\xff\xff\xff\xff\x0f" + parts.frame(0)[1:], parts.frame(1), parts.frame(2)]
    parts.set_frames(frames)
    assert reads(path, parts.join()) == "faulty"


def test_bytes_after_a_frame(path: Path) -> None:
    def change(parts: Parts) -> None:
        frames = [parts.frame(i) for i in range(3)]
        frames[2] += b"more"
        parts.set_frames(frames)
    assert reads(path, reseal(change)(path)) == "faulty"


def test_two_frames_in_the_place_of_one(path: Path) -> None:
    def change(parts: Parts) -> None:
        compress = zstandard.ZstdCompressor(write_content_size=True).compress
        halves = compress(GOOD[1][:10]) + compress(GOOD[1][10:])
        parts.set_frames([parts.frame(0), halves, parts.frame(2)])
    assert reads(path, reseal(change)(path)) == "faulty"


def test_other_records_under_valid_checksums_fail_the_digest(path: Path) -> None:
    other = pack([b"alphb", None, b""])
    path.write_bytes(reseal(frames_of(other, GOOD[1], GOOD[2]))(path))
    reader = open_reader(path)
    assert reader.record(FIRST) == b"alphb"    # resealed: only the digest can tell
    faults = reader.verify()
    assert len(faults) == 1
    assert "not those that were sealed" in str(faults[0])


def test_content_bytes_are_verified(path: Path) -> None:
    path.write_bytes(reseal(set_meta(128, "<Q", 12345))(path))
    faults = open_reader(path).verify()
    assert len(faults) == 1
    assert "12345" in str(faults[0])


def test_damage_in_a_large_group_read_in_part(path: Path) -> None:
    """The checksum covers the whole frame, so a part is not served from a damaged one."""
    records = [bytes([i]) * 100_000 for i in range(6)]
    for codec in ("zstd", "s2", "snappy"):
        build(path, list(records), group_size=6, codec=codec)
        data = bytearray(path.read_bytes())
        data[Parts(bytes(data)).index[1][0] - 3] ^= 1    # near the frame's end
        path.write_bytes(data)
        reader = open_reader(path)
        with pytest.raises(CorruptError):
            reader.record(FIRST)
        with pytest.raises(CorruptError):
            scan(reader, FIRST, FIRST + 1)


def test_an_s2_frame_cut_in_a_large_group(path: Path) -> None:
    records = [bytes([i]) * 100_000 for i in range(6)]
    build(path, list(records), group_size=6, codec="s2")
    parts = Parts(path.read_bytes())
    content = pack(records)
    block = s2.compress(content)
    parts.set_frames([block[:len(block) // 2]])
    path.write_bytes(parts.join())
    reader = open_reader(path)
    with pytest.raises(CorruptError, match="frame 0: "):
        reader.record(FIRST + 5)
    assert len(reader.verify()) == 1
