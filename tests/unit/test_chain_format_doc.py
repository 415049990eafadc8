"""FORMAT.md, section Chain records: what it says of each table's records, against the code."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

import chainmaker
import pytest

import blockpack
from blockpack._native.rlp import BLOCK_SIZE_MAX, outer_prefix, split_block
from blockpack.chain.records import (
    DIFFICULTY_BYTES,
    FORM_IDS,
    encode_difficulty,
    encode_receipts,
    join,
    split,
)
from blockpack.store import tables

TEXT = files("blockpack").joinpath("FORMAT.md").read_text().split("\n# Chain records\n", 1)[1]


def rows(title: str) -> list[list[str]]:
    """The cells of the table whose title row starts with this word."""
    table = TEXT[TEXT.index(f"\n| {title} |"):].lstrip().split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.splitlines()[2:]]


def test_tables_and_widths() -> None:
    assert [row[0] for row in rows("table")] == [
        f"{number} `{name}`" for number, name in tables.NAMES.items()]
    assert int(rows("table")[-1][2]) == DIFFICULTY_BYTES
    assert encode_difficulty(0x0102)[:3] == b"\x02\x01\x00"
    assert f"at most 2^{BLOCK_SIZE_MAX.bit_length() - 1} bytes" in TEXT


def test_forms() -> None:
    forms = {row[1]: int(row[0]) for row in rows("form")}
    assert forms.pop("never used") == 0
    assert forms == FORM_IDS
    for name, number in forms.items():
        assert encode_receipts(b"\xc1\x80", name) == bytes((number,)) + b"\xc1\x80"


@pytest.mark.parametrize("size", [0, 55, 56, 255, 256, 65_535, 65_536])
def test_the_join_rule(size: int) -> None:
    assert "`c0` + n where n is at most 55, else the byte `f7` + width" in TEXT
    width = (size.bit_length() + 7) // 8
    expected = (bytes((0xC0 + size,)) if size <= 55
                else bytes((0xF7 + width,)) + size.to_bytes(width, "big"))
    assert outer_prefix(size) == expected
    header, body = bytes(size // 2), bytes(size - size // 2)
    assert join(header, body) == expected + header + body


def test_the_example_and_the_smallest_records() -> None:
    assert "a header of 500 bytes" in TEXT
    assert f"`{outer_prefix(502).hex(' ')}`" in TEXT
    header = chainmaker.rlp([bytes(32)] + [b""] * 14)
    block = chainmaker.rlp([[bytes(32)] + [b""] * 14, [], []])
    assert [bytes(part) for part in split(block, split_block(block))] == [header, b"\xc0\xc0"]
    assert rows("table")[0][2] == f"{len(header)} or more"


def test_the_digest_of_a_store(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        for block in chainmaker.chain(5):
            store.append(block, b"\xc0", 7)
        parts = [bytes((number,)) + bytes(store.records.digest(number)) for number in tables.IDS]
        assert store.digest() == hashlib.sha256(b"".join(parts)).digest()
