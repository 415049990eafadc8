"""A block as records, and back."""

from __future__ import annotations

import chainmaker
import pytest

from blockpack._native.rlp import split_block
from blockpack.chain.records import (
    decode_difficulty,
    decode_receipts,
    encode_difficulty,
    encode_receipts,
    join,
    split,
)
from blockpack.errors import CorruptError


@pytest.mark.parametrize("txs", [0, 1, 40])
def test_split_and_join(txs: int) -> None:
    block = chainmaker.chain(1, txs=txs)[0]
    header, body = split(block, split_block(block))
    assert header == chainmaker.header_of(block)
    assert body == chainmaker.body_of(block)
    assert join(header, body) == block
    assert join(bytes(header), bytearray(body)) == block


@pytest.mark.parametrize(("form", "first_byte"), [("consensus", 1), ("storage", 2), ("slim", 3)])
def test_receipts_keep_their_bytes_and_their_form(form: str, first_byte: int) -> None:
    record = encode_receipts(b"\xc3\x01\x02\x03", form)
    assert record == bytes((first_byte,)) + b"\xc3\x01\x02\x03"
    receipts = decode_receipts(memoryview(record))
    assert receipts == b"\xc3\x01\x02\x03"
    assert receipts.form == form


@pytest.mark.parametrize("receipts", [b"", b"\x80", b"\x01", b"\xc1", b"\xc0\xc0"])
def test_receipts_are_one_list(receipts: bytes) -> None:
    with pytest.raises(CorruptError):
        encode_receipts(receipts, "consensus")


def test_forms_are_named() -> None:
    with pytest.raises(ValueError, match="'network': the forms are consensus, storage, slim"):
        encode_receipts(b"\xc0", "network")
    for record in (b"", b"\x00\xc0", b"\x04\xc0"):
        with pytest.raises(CorruptError, match="unknown form"):
            decode_receipts(record)


@pytest.mark.parametrize("difficulty", [0, 1, 17_179_869_184, (1 << 256) - 1])
def test_difficulty(difficulty: int) -> None:
    record = encode_difficulty(difficulty)
    assert record == difficulty.to_bytes(32, "little")
    assert decode_difficulty(memoryview(record)) == difficulty


def test_difficulty_out_of_range() -> None:
    for difficulty in (-1, 1 << 256):
        with pytest.raises(ValueError, match="256-bit"):
            encode_difficulty(difficulty)
    with pytest.raises(CorruptError):
        decode_difficulty(bytes(31))
