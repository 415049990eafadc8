"""RLP to nested lists and back."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from blocks import block, header, legacy, typed
from reference.transaction import build
from txkit import FIELDS

from blockpack import CorruptError, LimitError, rlp

NESTED: list[Any] = [b"", b"\x00", b"\x7f", b"\x80", b"dog", [], [[b"x" * 56], b"y" * 300]]


def test_lists_come_back() -> None:
    data = rlp.encode(NESTED)
    assert rlp.decode(data) == NESTED
    assert rlp.decode(memoryview(bytearray(data))) == NESTED
    assert rlp.decode(b"\x83dog") == b"dog"


@pytest.mark.parametrize(("item", "data"), [
    (b"", "80"), ([], "c0"), (0, "80"), (15, "0f"), (1024, "820400"),
    (2**64, "89" + "01" + "0" * 16),
    (bytearray(b"dog"), "83646f67"), ((b"a", [b"b"]), "c361c162"), (memoryview(b"\x7f"), "7f"),
])
def test_what_is_encoded(item: Any, data: str) -> None:
    assert rlp.encode(item).hex() == data


@pytest.mark.parametrize(("item", "error", "text"), [
    ("text", TypeError, "not str"), (None, TypeError, "not NoneType"),
    (True, TypeError, "not bool"),
    ([1.5], TypeError, "not float"), ({}, TypeError, "not dict"), ([-1], ValueError, "negative"),
])
def test_what_is_refused(item: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        rlp.encode(item)


def test_nesting_is_bounded() -> None:
    deep: list[Any] = []
    for _ in range(rlp.DEPTH_MAX - 1):
        deep = [deep]
    data = rlp.encode(deep)
    assert rlp.encode(rlp.decode(data)) == data
    with pytest.raises(LimitError, match="deeper than 1024"):
        rlp.encode([deep])
    size = len(data).to_bytes(2, "big")
    with pytest.raises(LimitError, match="deeper than 1024") as caught:
        rlp.decode(b"\xf9" + size + data)
    assert "at byte" in str(caught.value)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(LimitError):
        rlp.encode(endless)


@pytest.mark.parametrize(("data", "text", "offset"), [
    ("", "ends before", 0), ("83646f", "ends before", 0), ("c483646f67", None, None),
    ("c283646f", "runs past", 1), ("c0c0", "is followed", 1), ("8105", "canonical", 0),
    ("b801ff", "canonical", 0), ("c3c2b800", "runs past|canonical", 2),
])
def test_bad_input_has_its_offset(data: str, text: str | None, offset: int | None) -> None:
    if text is None:
        assert rlp.decode(bytes.fromhex(data)) == [b"dog"]
        return
    with pytest.raises(CorruptError, match=text) as caught:
        rlp.decode(bytes.fromhex(data))
    assert caught.value.offset == offset


@pytest.mark.parametrize(("data", "item"), [
    ("8105", b"\x05"), ("b801ff", b"\xff"), ("b90001ff", b"\xff"), ("f801c0", [[]]),
])
def test_lenient_wants_structure_alone(data: str, item: Any) -> None:
    assert rlp.decode(bytes.fromhex(data), strict=False) == item
    with pytest.raises(CorruptError, match="canonical"):
        rlp.decode(bytes.fromhex(data))
    for cut in range(len(data) // 2):
        with pytest.raises(CorruptError):
            rlp.decode(bytes.fromhex(data)[:cut], strict=False)


def test_typed_transactions_of_a_block_are_opened() -> None:
    raws = [build(kind, FIELDS) for kind in range(1, 5)]
    data = block([legacy(37), *raws, b"\x7e\xc0"], [header()], [[]])
    fields, transactions, uncles, withdrawals = rlp.decode_block(data)
    assert fields == header()
    assert transactions[0] == legacy(37)
    assert transactions[1:5] == [(kind, rlp.decode(raws[kind - 1][1:])) for kind in range(1, 5)]
    assert transactions[5] == b"\x7e\xc0"
    assert (uncles, withdrawals) == ([header()], [])


@pytest.mark.parametrize(("data", "text"), [
    (b"\x80", "block is a string"), (block()[:-1], "ends before"),
    (block() + b"\0", "block is followed"), (rlp.encode([header()]), "transactions is missing"),
    (rlp.encode([header(), b""]), "transactions is a string"),
    (rlp.encode([header()[:14], []]), "field of the block header is missing"),
    (block([typed(2, 1)]), "of a transaction is"),
    (block([[*legacy(27)[:8], b"\0\1"]]), "s of a transaction is an integer with"),
])
def test_bad_blocks(data: bytes, text: str) -> None:
    with pytest.raises(CorruptError, match=text):
        rlp.decode_block(data)


def test_lenient_block_keeps_what_it_does_not_know() -> None:
    odd = [*legacy(27)[:8], b"\0\1"]
    data = block([odd, typed(2, 1)])
    assert rlp.decode_block(data, strict=False)[1] == [odd, typed(2, 1)]


def test_the_collector_is_left_as_it_was() -> None:
    for switch in (gc.enable, gc.disable):
        switch()
        before = gc.isenabled()
        rlp.decode(rlp.encode(NESTED))
        with pytest.raises(CorruptError):
            rlp.decode(b"")
        assert gc.isenabled() == before
    gc.enable()
