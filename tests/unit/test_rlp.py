"""The RLP range decoder on hand-made input: each rule, each error, each way to pass bytes."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any

import pytest
from blocks import PARENT, block, header, kernel_outcome, legacy, reference_outcome, typed
from reference.rlp import encode, integer

from blockpack._native import rlp
from blockpack.errors import CorruptError, LimitError

SMALL = block([legacy(37), typed(2, 1)], uncles=[header()], extra=[[b"withdrawal"]], fields=17)


def prefixed(first: int, width: int, length: int) -> bytes:
    return bytes([first + width]) + length.to_bytes(width, "big")


def test_spans_of_a_block() -> None:
    spans = rlp.split_block(SMALL)
    assert (spans.number, spans.timestamp, spans.parent_hash) == (7, 1_600_000_000, PARENT)
    assert SMALL[spans.header_start : spans.header_end] == encode(header(fields=17))
    assert spans.end == len(SMALL)
    assert spans.chain_id == 1


def test_block_inside_of_a_longer_buffer() -> None:
    stream = b"before" + SMALL + b"after"
    spans, alone = rlp.split_block(stream, 6), rlp.split_block(SMALL)
    assert (spans.header_start, spans.header_end, spans.end) == (
        alone.header_start + 6, alone.header_end + 6, alone.end + 6)
    assert spans.parent_hash == alone.parent_hash


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_split_and_join_any_buffer(wrap: Any) -> None:
    spans = rlp.split_block(wrap(SMALL))
    header_record = wrap(SMALL[spans.header_start : spans.header_end])
    assert rlp.join_block(header_record, wrap(SMALL[spans.header_end : spans.end])) == SMALL
    fields = rlp.header_fields(header_record)
    assert (fields.number, fields.timestamp, fields.parent_hash) == (
        spans.number, spans.timestamp, spans.parent_hash)


def test_mapped_file_can_be_closed_after() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(SMALL)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        assert rlp.split_block(mapped).end == len(SMALL)
        mapped.close()


@pytest.mark.parametrize("number", [0, 1, 127, 128, 2**32, 2**64 - 1])
def test_numbers_up_to_64_bits(number: int) -> None:
    assert rlp.split_block(block(number=number, timestamp=number)).number == number
    assert rlp.header_fields(encode(header(number, number))).timestamp == number


@pytest.mark.parametrize(("transactions", "chain_id"), [
    ([], -1),
    ([legacy(27), legacy(28)], -1),
    ([legacy(27), legacy(37), legacy(59144 * 2 + 35)], 1),
    ([legacy(35), typed(2, 5)], 0),
    ([legacy(2**64 - 1)], -1),
    ([legacy(2 * (2**63 - 37) + 36)], 2**63 - 37),
    ([legacy(2**64 + 35), typed(1, 8)], 8),
    ([typed(1, 10)], 10),
    ([typed(2, 11155111)], 11155111),
    ([typed(3, 17000)], 17000),
    ([typed(4, 100)], 100),
    ([typed(2, 2**63 - 36), typed(2, 3)], 3),
    ([typed(2, 2**64), typed(2, 3)], 3),
    ([typed(0x7E, 99), typed(2, 10)], 10),
    ([typed(5, 99), typed(0, 99), b"", b"\x7e"], -1),
    ([[b"celo"] * 12, [b"short"] * 8, [], typed(1, 42220)], 42220),
    ([[*legacy(27)[:6], [], *legacy(27)[7:]], legacy(38)], 1),
])
def test_chain_id_of_the_first_transaction_that_carries_one(
    transactions: list[Any], chain_id: int
) -> None:
    assert rlp.split_block(block(transactions)).chain_id == chain_id
    assert kernel_outcome(block(transactions)) == reference_outcome(block(transactions))


def test_nothing_is_read_past_the_transaction_with_the_chain_id() -> None:
    broken = b"\x02\xff garbage"
    assert rlp.split_block(block([typed(2, 9), broken])).chain_id == 9
    with pytest.raises(CorruptError, match="field of a transaction runs past the end"):
        rlp.split_block(block([broken, typed(2, 9)]))


PAD = encode([b"x" * 100])
LONG_OUTER = b"\xfa\x00" + (len(SMALL) - 3).to_bytes(2, "big") + SMALL[3:]
BAD_BLOCKS = {
    "empty": (b"", "block ends before", 0),
    "a string": (encode(b"block" * 20), "block is a string where", 0),
    "outer length with a leading zero": (LONG_OUTER, "block is not in the canonical", 0),
    "outer long form of a short length": (b"\xf8\x03\xc0\xc0\xc0", "is not in the canonical", 0),
    "length of 2^63": (prefixed(0xF7, 8, 2**63) + PAD, "block ends before", 0),
    "length of 2^64 - 1": (prefixed(0xF7, 8, 2**64 - 1) + PAD, "block ends before", 0),
    "inner length of 2^64 - 1": (b"\xc9" + prefixed(0xF7, 8, 2**64 - 1),
                                 "block header runs past the end", 1),
    "inner string of 2^63": (b"\xc9" + prefixed(0xB7, 8, 2**63),
                             "block header runs past the end", 1),
    "nothing inside": (b"\xc0", "block header is missing", 1),
    "header is a string": (encode([b"header", [], []]), "block header is a string", 1),
    "14 fields": (encode([header()[:14], [], []]), "field of the block header is missing", None),
    "header alone": (encode([header()]), "list of transactions is missing", None),
    "transactions are a string": (encode([header(), b"", []]), "transactions is a string", None),
    "no uncles": (encode([header(), []]), "list of uncles is missing", None),
    "uncles are a string": (encode([header(), [], b"uncles"]), "uncles is a string", None),
    "prefix alone": (block()[:3], "block ends before", 0),
    "half a prefix": (block()[:2], "block ends before", 0),
    "number with a leading zero": (encode([[*header()[:8], b"\x00\x01", *header()[9:]], [], []]),
                                   "number in the block header is an integer with", None),
    "number of 2^64": (block(number=2**64), "number in the block header is an integer", None),
    "time stamp of 2^64": (block(timestamp=2**64), "time stamp in the block header is", None),
    "number is a list": (encode([[*header()[:8], [], *header()[9:]], [], []]),
                         "number in the block header is a list", None),
    "parent hash of 31 bytes": (encode([header(parent=bytes(31)), [], []]),
                                "parent hash in the block header is not of the width", 6),
    "transaction of its type alone": (block([b"", b"\2"]), "field of a transaction is missing",
                                      None),
    "parent hash is a list": (encode([[[b"x"], *header()[1:]], [], []]),
                              "parent hash in the block header is a list", None),
}


@pytest.mark.parametrize("name", BAD_BLOCKS)
def test_bad_block_has_its_own_text_and_offset(name: str) -> None:
    data, text, offset = BAD_BLOCKS[name]
    with pytest.raises(CorruptError, match=text) as caught:
        rlp.split_block(data)
    assert offset is None or caught.value.offset == offset
    assert kernel_outcome(data) == reference_outcome(data)
    with pytest.raises(CorruptError) as shifted:
        rlp.split_block(b"12345" + data, 5)
    assert shifted.value.offset == (caught.value.offset or 0) + 5


@pytest.mark.parametrize(("tail", "text"), [
    (b"\xc2\x83x\xc0", "transaction runs past"),
    (b"\xc2\x81\x05\xc0", "transaction is not in the canonical encoding"),
    (b"\xc0\xc2\x83x", "uncle runs past"),
    (b"\xc0\xc0\x83x", "item after the block's uncles runs past"),
    (b"\xc0\xc0\xc0\xf8\x01\x01", "item after the block's uncles is not in the canonical"),
])
def test_lists_are_filled_exactly(tail: bytes, text: str) -> None:
    data = rlp.join_block(encode(header()), tail)
    with pytest.raises(CorruptError, match=text):
        rlp.split_block(data)
    assert kernel_outcome(data) == reference_outcome(data)


def test_header_record_is_one_list_and_nothing_more() -> None:
    record = encode(header())
    with pytest.raises(CorruptError, match="block header is followed by bytes") as caught:
        rlp.header_fields(record + b"\0")
    assert caught.value.offset == len(record)
    with pytest.raises(CorruptError, match="block header ends before"):
        rlp.header_fields(record[:-1])
    with pytest.raises(CorruptError, match="block header is a string"):
        rlp.header_fields(b"\x80")


def test_block_size_tells_what_is_missing() -> None:
    assert rlp.block_size(b"") == -1
    assert rlp.block_size(b"\xc5") == 6
    assert rlp.block_size(b"\xf9") == -2
    assert rlp.block_size(b"\xf9\x12") == -1
    assert rlp.block_size(b"\xff\1\2") == -6
    assert rlp.block_size(SMALL[:3]) == len(SMALL)
    assert rlp.block_size(b"xx" + SMALL, 2) == len(SMALL)
    assert rlp.block_size(b"xx", 2) == -1


@pytest.mark.parametrize("length", [2**30, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 9, 2**64 - 1])
def test_block_size_above_the_limit(length: int) -> None:
    data = rlp.outer_prefix(length)
    with pytest.raises(LimitError, match="at most 1073741824 bytes"):
        rlp.block_size(data)


def test_block_size_up_to_the_limit() -> None:
    assert rlp.block_size(rlp.outer_prefix(2**30 - 5)) == rlp.BLOCK_SIZE_MAX
    assert rlp.block_size(rlp.outer_prefix(95), limit=97) == 97
    with pytest.raises(LimitError):
        rlp.block_size(rlp.outer_prefix(96), limit=97)
    with pytest.raises(LimitError):
        rlp.block_size(b"\xc0", limit=0)
    with pytest.raises(ValueError, match="limit"):
        rlp.block_size(b"\xc0", limit=2**30 + 1)


@pytest.mark.parametrize(("data", "text"), [
    (b"\x00", "is a string where a list must be"),
    (b"\xb8\x40", "is a string where a list must be"),
    (b"\xf8\x37", "is not in the canonical encoding"),
    (b"\xf9\x00\xff", "is not in the canonical encoding"),
])
def test_block_size_where_no_list_begins(data: bytes, text: str) -> None:
    with pytest.raises(CorruptError, match=text) as caught:
        rlp.block_size(b"....." + data, 5)
    assert caught.value.offset == 5


@pytest.mark.parametrize("size", [0, 1, 55, 56, 255, 256, 65_535, 65_536, 2**24, 2**32, 2**56 - 1,
                                  2**56, 2**63, 2**64 - 1])
def test_outer_prefix_is_the_shortest(size: int) -> None:
    prefix = rlp.outer_prefix(size)
    if size <= 55:
        assert prefix == bytes([0xC0 + size])
    else:
        length = integer(size)
        assert prefix == bytes([0xF7 + len(length)]) + length


def test_items_and_payloads() -> None:
    data = b"?" + encode([b"\x05", b"dog", [b"a", []], b"", b"z" * 60])
    spans = rlp.list_items(data, 1)
    assert [data[a:b] for a, b in spans] == [
        b"\x05", b"\x83dog", b"\xc2a\xc0", b"\x80", b"\xb8\x3c" + b"z" * 60]
    payloads = [rlp.item_span(data, start) for start, _ in spans]
    assert [data[a:b] for a, b in payloads] == [b"\x05", b"dog", b"a\xc0", b"", b"z" * 60]
    assert rlp.list_items(b"\xc0") == []


def test_list_items_are_counted_before_anything_is_allocated() -> None:
    data = rlp.outer_prefix(2**20 + 1) + bytes(2**20 + 1)
    with pytest.raises(LimitError, match="list of 1048577 items"):
        rlp.list_items(data)
    assert len(rlp.list_items(data, items_max=2**21)) == 2**20 + 1
    with pytest.raises(CorruptError, match="RLP item is a string"):
        rlp.list_items(b"\x80")


@pytest.mark.parametrize("function", [rlp.split_block, rlp.block_size, rlp.item_span,
                                      rlp.list_items])
def test_offset_outside_of_the_buffer(function: Any) -> None:
    for offset in (-1, len(SMALL) + 1, 2**62):
        with pytest.raises(IndexError, match="no such position"):
            function(SMALL, offset)


def test_spans_are_made_by_the_kernel_alone() -> None:
    for kind in (rlp.BlockSpans, rlp.HeaderFields):
        with pytest.raises(TypeError, match="made by"):
            kind()


def test_nesting_as_deep_as_the_block_is_long() -> None:
    nest = b""
    for _ in range(20_000):
        nest = rlp.outer_prefix(len(nest)) + nest
    data = rlp.join_block(encode(header()), b"\xc0\xc0" + nest)
    assert rlp.split_block(data).end == len(data)


def test_a_block_so_large_that_the_gil_is_let_go_of() -> None:
    large = block(extra=[bytes(4 << 20)])
    assert kernel_outcome(large) == reference_outcome(large)
    refused = kernel_outcome(large[:-1])
    assert refused == reference_outcome(large[:-1])
    assert str(refused).startswith("CorruptError: block ends before")
