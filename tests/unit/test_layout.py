"""Header, footer, directory and meta section: round trips, and every field's refusal."""

from __future__ import annotations

import struct

import pytest

from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.segment import layout
from blockpack.segment.digest import Digest
from blockpack.segment.layout import Footer, Header, Lane, Meta, Section

HEADER = Header(table=2, codec=1, tier=3, group_size=64, first=2**64 - 1, chain_id=2**63)
FOOTER = Footer(sections=2, file_bytes=10_000, tail_offset=9_000, directory_offset=9_800,
                directory_checksum=5, identity=6)
META = Meta(HEADER.pack(), 100, 90, Digest(2**128 - 1, 2**63), (Lane(1, 3, 64, 2**40),))


def test_sizes() -> None:
    assert (layout.HEADER.size, layout.FOOTER.size) == (64, 64)
    assert layout.DIRECTORY_ENTRY.size == 32
    assert layout.INDEX_ENTRY.size == layout.INDEX_ENTRY_BYTES == 16
    assert layout.INDEX_FIRST.size == layout.INDEX_FIRST_BYTES == 4
    assert layout.META.size == 104
    assert layout.LANE.size == 32


def test_magics_show_a_text_mode_copy() -> None:
    for magic in (layout.HEADER_MAGIC, layout.FOOTER_MAGIC):
        assert magic[0] > 0x7F
        assert b"\r\n" in magic
        assert magic.endswith(b"\n")
        assert magic != magic.replace(b"\r\n", b"\n")
    assert layout.HEADER_MAGIC != layout.FOOTER_MAGIC


def test_round_trips() -> None:
    assert Header.unpack(HEADER.pack(), "f") == HEADER
    footer = Footer.unpack(FOOTER.pack(), "f", 0)
    assert footer.seal == int.from_bytes(FOOTER.pack()[-8:], "little")
    assert footer.pack() == FOOTER.pack()
    assert Meta.unpack(META.pack(), 1, "f", 0) == META
    section = Section(1, 0, 1, 64, 48, 7)
    assert layout.DIRECTORY_ENTRY.unpack(section.pack()) == (1, 0, 1, 0, 64, 48, 7)


def resealed(data: bytes, at: int, value: bytes) -> bytes:
    """The structure with some bytes changed and its own checksum made valid again."""
    changed = bytearray(data)
    changed[at:at + len(value)] = value
    changed[-8:] = layout.checksum(changed[:-8]).to_bytes(8, "little")
    return bytes(changed)


@pytest.mark.parametrize(("at", "value"), [
    (0, b"\x00" * 8), (13, b"\x00"), (14, b"\x01\x00"), (32, b"\x00" * 4),
    (32, struct.pack("<I", layout.GROUP_SIZE_MAX + 1)), (36, b"\x01\x00\x00\x00"),
    (48, b"\x01" + bytes(7)),
], ids=["magic", "no lanes", "reserved a", "group size 0", "group size above the limit",
        "reserved b", "reserved c"])
def test_a_header_that_breaks_the_format(at: int, value: bytes) -> None:
    with pytest.raises(CorruptError):
        Header.unpack(resealed(HEADER.pack(), at, value), "f")


def test_every_flipped_bit_of_a_header_or_footer_is_noticed() -> None:
    for data, unpack in ((HEADER.pack(), lambda d: Header.unpack(d, "f")),
                         (FOOTER.pack(), lambda d: Footer.unpack(d, "f", 0))):
        for position in range(len(data) * 8):
            flipped = bytearray(data)
            flipped[position // 8] ^= 1 << position % 8
            with pytest.raises((CorruptError, UnsupportedVersionError)):
                unpack(bytes(flipped))


def test_all_zero_is_nothing() -> None:
    with pytest.raises(CorruptError):
        Header.unpack(bytes(64), "f")
    with pytest.raises(CorruptError):
        Footer.unpack(bytes(64), "f", 0)
    with pytest.raises(CorruptError):
        Meta.unpack(bytes(layout.META.size + layout.LANE.size), 1, "f", 0)


def test_a_later_version_is_named_before_anything_else_is_believed() -> None:
    later = HEADER.pack()[:8] + b"\x07\x00" + b"\xff" * 54    # its checksum is wrong as well
    with pytest.raises(UnsupportedVersionError, match=r"f was written by format version 7.*"):
        Header.unpack(later, "f")
    with pytest.raises(UnsupportedVersionError, match="version 9"):
        Footer.unpack(FOOTER.pack()[:8] + b"\x09\x00" + b"\xff" * 54, "f", 0)


def test_unknown_required_features_are_named_and_optional_ones_accepted() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"feature bits 0, 31\b"):
        Header.unpack(resealed(HEADER.pack(), 16, struct.pack("<I", 1 | 1 << 31)), "f")
    header = Header.unpack(resealed(HEADER.pack(), 20, struct.pack("<I", 5)), "f")
    assert header.features_optional == 5


@pytest.mark.parametrize(("at", "value"), [
    (10, b"\x01\x00"), (12, bytes(4)), (12, struct.pack("<I", layout.SECTIONS_MAX + 1)),
], ids=["reserved", "no sections", "too many sections"])
def test_a_footer_that_breaks_the_format(at: int, value: bytes) -> None:
    with pytest.raises(CorruptError):
        Footer.unpack(resealed(FOOTER.pack(), at, value), "f", 0)


@pytest.mark.parametrize(("at", "value"), [
    (64, bytes(8)), (64, struct.pack("<Q", 2**32)), (72, struct.pack("<Q", 101)),
    (124, b"\x01"), (108, bytes(4)), (112, b"\x01"), (116, b"\x01"), (120, b"\x01"),
    (106, b"\x01"), (106, b"\x01\0\x40\0\0\0" + struct.pack("<III", 4, 0, 1)),
    (106, b"\x01\0\x40\0\0\0" + struct.pack("<III", 4, 4, 65537)),
], ids=["no records", "too many records", "more present than there are", "reserved",
        "group size 0", "keys in a plain lane", "stride in a plain lane", "frames in a plain lane",
        "keyed lane without keys", "stride 0", "frames too large"])
def test_a_meta_section_that_breaks_the_format(at: int, value: bytes) -> None:
    data = bytearray(META.pack())
    data[at:at + len(value)] = value
    with pytest.raises(CorruptError):
        Meta.unpack(bytes(data), 1, "f", 0)


def test_a_keyed_lane_comes_back() -> None:
    lane = layout.Lane(2, 2, 64, 10**9, 16, 4, 1)
    meta = Meta(META.header, 100, 50, META.digest, (lane,))
    assert Meta.unpack(meta.pack(), 1, "f", 0) == meta


@pytest.mark.parametrize(("at", "what"), [(106, "prefix 9 and transform 0"),
                                          (107, "prefix 0 and transform 9")])
def test_a_lane_of_a_later_version_is_named(at: int, what: str) -> None:
    data = bytearray(META.pack())
    data[at] = 9
    with pytest.raises(UnsupportedVersionError, match=what):
        Meta.unpack(bytes(data), 1, "f", 0)


def test_a_meta_section_of_another_size() -> None:
    for data in (META.pack()[:-1], META.pack() + b"\0", b""):
        with pytest.raises(CorruptError, match="wrong size"):
            Meta.unpack(data, 1, "f", 0)


def test_seeds_differ_by_place() -> None:
    places = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (2, 0, 0), (0xFFFF, 0, 0),
              (0, 0, 2**32 - 1), (0, 255, 0)]
    assert len({layout.place_seed(12345, *place) for place in places}) == len(places)
    assert layout.place_seed(2**64 - 1, 0xFFFF, 255, 2**32 - 1) < 2**64


def test_padding() -> None:
    assert [layout.padding(n) for n in (0, 1, 7, 8, 9)] == [0, 7, 1, 0, 7]


def test_limits() -> None:
    assert layout.GROUP_BYTES_MAX == 32 << 20
    assert layout.RECORD_BYTES_MAX == 1 << 30
    assert layout.SINGLE_BYTES_MAX == (1 << 30) + 6
