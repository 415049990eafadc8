"""FORMAT.md says what the code does: its tables against segment/layout.py, its examples against
the kernels."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from blockpack._native.group import GROUP_VARINT_MAX, Group, pack
from blockpack.segment import layout
from blockpack.segment.codecs import CODECS, TIER_IDS
from blockpack.segment.digest import DIGEST_BYTES
from blockpack.segment.grouping import Grouping

TEXT = (Path(layout.__file__).parent.parent / "FORMAT.md").read_text()
SEGMENT = TEXT[TEXT.index("# Sealed segment"):]


def rows(heading: str, nth: int = 0) -> list[list[str]]:
    """The cells of the n-th table below a heading, without its title row."""
    start = SEGMENT.index(f"\n{heading}\n")
    following = re.search(r"\n#+ ", SEGMENT[start + len(heading) + 2:])
    end = len(SEGMENT) if following is None else start + len(heading) + 2 + following.start()
    tables = re.findall(r"((?:^\|.*\n)+)", SEGMENT[start:end], re.MULTILINE)
    lines = tables[nth].strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def fields(form: struct.Struct) -> list[tuple[int, int]]:
    """(offset, size) of each field of a struct without padding of its own."""
    sizes = {"B": 1, "H": 2, "I": 4, "Q": 8}
    found, offset = [], 0
    for count, code in re.findall(r"(\d*)([sBHIQ])", form.format):
        pieces = [int(count)] if code == "s" else [sizes[code]] * int(count or 1)
        for size in pieces:
            found.append((offset, size))
            offset += size
    assert offset == form.size
    return found


@pytest.mark.parametrize(("heading", "nth", "form"), [
    ("## Header", 0, layout.HEADER),
    ("### Frame index (kind 1)", 0, layout.INDEX_ENTRY),
    ("### First ordinals (kind 3)", 0, layout.INDEX_FIRST),
    ("### First frames (kind 4)", 0, layout.INDEX_FIRST),
    ("### Meta (kind 2)", 0, layout.META),
    ("### Meta (kind 2)", 1, layout.LANE),
    ("## Directory", 0, layout.DIRECTORY_ENTRY),
    ("## Footer", 0, layout.FOOTER),
])
def test_offsets_and_sizes(heading: str, nth: int, form: struct.Struct) -> None:
    assert form.format.startswith("<")
    assert [(int(row[0]), int(row[1])) for row in rows(heading, nth)] == fields(form)


@pytest.mark.parametrize(("heading", "magic"), [("## Header", layout.HEADER_MAGIC),
                                                ("## Footer", layout.FOOTER_MAGIC)])
def test_magics(heading: str, magic: bytes) -> None:
    assert rows(heading)[0][3] == f"`{magic.hex(' ')}`"


def test_version() -> None:
    assert int(rows("## Header")[1][3]) == layout.VERSION
    assert TEXT.startswith(f"# The blockpack format\n\nVersion {layout.VERSION}: ")


def test_limits() -> None:
    limits = {row[0]: number(row[1]) for row in rows("## Frames")}
    assert limits == {
        "content of a frame of several records": layout.GROUP_BYTES_MAX,
        "content of a frame of one record": layout.SINGLE_BYTES_MAX,
        "record": layout.RECORD_BYTES_MAX,
        "records in a frame, and in a group": layout.GROUP_SIZE_MAX,
        "records in a segment": layout.SEGMENT_RECORDS_MAX}
    assert f"over {layout.GROUP_BYTES_MAX:,}" in SEGMENT
    assert f"{GROUP_VARINT_MAX} x (records + 1)" in SEGMENT
    assert layout.TABLE_BYTES_A_RECORD == GROUP_VARINT_MAX
    assert f"1 to {layout.SECTIONS_MAX:,}" in SEGMENT
    assert f"1 to {layout.GROUP_SIZE_MAX:,}" in SEGMENT


def test_codecs_and_tiers() -> None:
    assert {int(row[0]): row[1] for row in rows("### Codecs") if row[1]} == {
        codec.id: codec.name for codec in CODECS.values()}
    tiers = ", ".join(f"{number} {name}" for name, number in TIER_IDS.items())
    assert rows("## Header")[4][3].startswith(tiers)


def test_section_kinds() -> None:
    kinds = {row[1]: number(row[0]) for row in rows("## Sections") if row[1] != "never used"}
    assert kinds == {"frame index": layout.KIND_FRAMES, "meta": layout.KIND_META,
                     "first ordinals": layout.KIND_FIRSTS,
                     "first frames": layout.KIND_FIRST_FRAMES,
                     "hash index": layout.KIND_HASHES}
    unused = {number(row[0]) for row in rows("## Sections") if row[1] == "never used"}
    assert unused == {layout.KIND_FRAME, layout.KIND_DIRECTORY}
    assert layout.SECTION_REQUIRED == 1


def test_seeds() -> None:
    assert layout.place_seed(0, 3, 2, 1) == 3 * 2**48 + 2 * 2**32 + 1
    assert layout.place_seed(5, 0, 0, 4) == 5 ^ 4
    seeds = {row[0]: row[2] for row in rows("## Checksums")}
    assert seeds["directory"] == f"identity XOR place({layout.KIND_DIRECTORY:,}, 0, 0)"


def test_example_of_a_keyed_group() -> None:
    example = re.search(
        r"in groups of (\d) with (\d) keys, stride (\d) and frame records (\d), the first frame "
        r"holds the positions (.*), the next ones (.*)\.", SEGMENT)
    assert example is not None
    grouping = Grouping(*map(int, example.groups()[:4]))
    frames = [[int(i) for i in frame.split(" and ")]
              for frame in [example[5], *example[6].split(", ")]]
    assert [list(frame) for frame in grouping.frames(grouping.group_size)] == frames
    assert "0..4 are the low half of the frame's and bytes 4..8 the high half of the" in SEGMENT
    assert layout.prefixed_checksum(0x1122334455667788, 0x99AABBCCDDEEFF00) == 0x99AABBCC55667788


def test_lane_kinds() -> None:
    kinds = {row[2]: row[3] for row in rows("### Meta (kind 2)", 1)}
    assert f"{layout.PREFIX_NONE} none: a plain lane; {layout.PREFIX_KEYS} keys" in kinds["prefix"]
    assert f"{layout.TRANSFORM_NONE} none; {layout.TRANSFORM_LINKS} links" in kinds["transform"]


def test_digest_size() -> None:
    assert f"{DIGEST_BYTES} bytes, are the digest" in SEGMENT


def test_examples_of_a_content() -> None:
    example = re.search(r"^    ((?:[0-9a-f]{2} ?)+)$", SEGMENT, re.MULTILINE)
    assert example is not None
    content = bytes.fromhex(example[1])
    assert content == pack([b"abc", None, b"", b"xy"])
    group = Group(content, 4)
    assert [group.record(i) for i in range(4)] == [b"abc", None, b"", b"xy"]
    start = re.search(r"600 and 603 bytes start with `([0-9a-f ]+)`", SEGMENT)
    assert start is not None
    assert pack([bytes(600), bytes(603)]).startswith(bytes.fromhex(start[1]))
