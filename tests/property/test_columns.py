"""Columns of made-up and damaged blocks: what the views say, or an error where they have one."""

from __future__ import annotations

from typing import Any

import pytest
from columnkit import built, check, expected_rows, made_block, names_of
from hypothesis import given
from hypothesis import strategies as st
from txkit import KINDS, in_block, made

from blockpack import Block
from blockpack.errors import CorruptError, LimitError

NUMBERS = st.one_of(st.integers(0, 300), st.sampled_from(
    [2**53 + 1, 2**64 - 1, 2**64, 2**128, 10**57, 2**255, 2**256 - 1]))
BYTES = st.one_of(st.binary(max_size=70), st.sampled_from([b"", bytes(200), b"\x80", b"\xc0"]))


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """A block of transactions of every type, with odd values."""
    raws = [made(kind, value=draw(NUMBERS), input=draw(BYTES),
                 nonce=draw(st.integers(0, 2**64 - 1)),
                 to=draw(st.sampled_from([b"", b"\x22" * 20])))
            for kind in draw(st.lists(st.sampled_from(list(KINDS)), max_size=6))]
    return made_block(7, in_block(*raws).body)


def rows_or_none(table: str, block: Block) -> list[dict[str, Any]] | None:
    """What the views give; None where they refuse a field."""
    try:
        return expected_rows(table, [block])
    except (CorruptError, LimitError, AttributeError, OverflowError, ValueError):
        return None


@pytest.mark.parametrize("table", ["transactions", "blocks", "withdrawals"])
@given(block=blocks())
def test_every_column_is_what_the_views_say(table: str, block: Block) -> None:
    expected = rows_or_none(table, block)
    assert expected is not None
    names = names_of(table)
    check(built(table, names, [block]), expected, names)


@pytest.mark.parametrize("table", ["transactions", "blocks", "withdrawals"])
@given(block=blocks(), at=st.integers(0, 3000), value=st.integers(0, 255))
def test_a_damaged_body_is_refused_or_read_as_the_views_do(table: str, block: Block, at: int,
                                                           value: int) -> None:
    body = bytearray(block.body)
    body[at % len(body)] = value
    damaged = Block(block.header.raw, bytes(body))
    names = names_of(table)
    try:
        found = built(table, names, [damaged])
    except (CorruptError, LimitError):
        return
    expected = rows_or_none(table, damaged)
    if expected is not None:
        check(found, expected, names)
