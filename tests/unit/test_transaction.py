"""Transaction views and their sequence."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from blocks import block
from reference.rlp import encode
from reference.transaction import ORDERS
from txkit import ADDRESS, FIELDS, KINDS, in_block, made

from blockpack import Block, CorruptError, Transaction
from blockpack._native.keccak import keccak256
from blockpack._native.rlp import split_block


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_every_type(kind: int) -> None:
    raw = made(kind)
    one = Transaction(raw)
    assert one.type == kind
    assert one.known
    assert one.raw == bytes(one) == raw
    assert one.hash == keccak256(raw)
    assert one.index is None
    for name in FIELDS:
        if kind == 0 and name == "chain_id":
            continue
        expected = FIELDS[name] if name in ORDERS[kind] else None
        assert getattr(one, name) == expected, name


@pytest.mark.parametrize(("v", "chain_id", "y_parity"), [
    (27, None, 0), (28, None, 1), (35, 0, 0), (37, 1, 0), (38, 1, 1), (0, None, None),
    (2 * 2**70 + 36, 2**70, 1),
])
def test_what_v_says_of_a_legacy_one(v: int, chain_id: int | None, y_parity: int | None) -> None:
    one = Transaction(made(0, v=v))
    assert (one.v, one.chain_id, one.y_parity) == (v, chain_id, y_parity)


def test_creation_has_no_recipient() -> None:
    one = Transaction(made(2, to=None))
    assert one.to is None
    assert one.to_dict()["to"] is None
    assert one.to_rpc()["to"] is None


@pytest.mark.parametrize("raw", [b"\x7e\xc1\x80", b"\x05", b"\x02" + encode([b"few"]),
                                 encode([b"celo"] * 12)])
def test_what_is_not_known_is_kept_raw(raw: bytes) -> None:
    one = Transaction(raw)
    assert not one.known
    assert one.raw == raw
    assert one.type == (raw[0] if raw[0] < 0xC0 else 0)
    assert one.to_dict() == {"hash": keccak256(raw), "type": one.type, "raw": raw}
    assert one.to_rpc()["raw"] == "0x" + raw.hex()
    with pytest.raises(AttributeError, match="raw and hash alone"):
        _ = one.to
    assert not hasattr(one, "nonce")


@pytest.mark.parametrize(("raw", "text"), [
    (b"", "transaction ends before|transaction runs past"),
    (b"\x02", "field of a transaction is missing"),
    (b"\x02\x80", "field of a transaction is a string"),
    (b"\x02\xc0\xc0", "field of a transaction is followed"),
    (b"\xc2\x83x", "nonce of a transaction runs past"),
    (made(0) + b"\0", "transaction is followed"),
])
def test_what_is_no_transaction_is_refused(raw: bytes, text: str) -> None:
    with pytest.raises(CorruptError, match=text):
        Transaction(raw)


@pytest.mark.parametrize(("name", "item", "text"), [
    ("nonce", b"\0", "nonce of a transaction is an integer with"),
    ("nonce", bytes([1] * 9), "nonce of a transaction is an integer with"),
    ("value", bytes([1] * 33), "value of a transaction is an integer"),
    ("to", bytes(19), "recipient of a transaction is not of the width"),
    ("input", [], "input of a transaction is a list"),
    ("access_list", b"", "access list of a transaction is a string"),
    ("access_list", [[ADDRESS]], "access list of a transaction is missing"),
    ("access_list", [[ADDRESS, [], []]], "access list of a transaction is followed"),
    ("access_list", [[ADDRESS, [bytes(31)]]], "access list of a transaction is not of the width"),
])
def test_a_bad_field_is_told_when_it_is_touched(name: str, item: Any, text: str) -> None:
    items: list[Any] = [b"\x01"] * 12
    items[5], items[8] = ADDRESS, []
    items[ORDERS[2].index(name)] = item
    raw = b"\x02" + encode(items)
    one = in_block(made(0), raw).transactions[1]
    assert one.gas_limit == 1
    with pytest.raises(CorruptError, match=f"block 7: {text}") as caught:
        getattr(one, name)
    whole = in_block(made(0), raw).raw
    begin = whole.index(raw)
    assert caught.value.offset is not None
    assert begin <= caught.value.offset <= begin + len(raw)


def test_equality_hash_pickle_and_copy() -> None:
    one, other = Transaction(made(2)), Transaction(made(2, nonce=1))
    assert one == Transaction(bytearray(made(2)))
    assert one != other
    assert one != made(2)
    assert len({one, Transaction(one.raw), other}) == 2
    assert copy.copy(one) == copy.deepcopy(one) == one
    placed = pickle.loads(pickle.dumps(in_block(made(0), made(2)).transactions[1]))
    assert placed == one
    assert placed.index == 1
    assert repr(one) == f"<Transaction {one.hash.hex()[:16]} type 2 {len(made(2))} bytes>"


def test_sender_of_a_published_transaction() -> None:
    """The example of EIP-155."""
    pytest.importorskip("coincurve")
    raw = bytes.fromhex(
        "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a7640000"
        "8025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"
        "a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83")
    one = Transaction(raw)
    assert one.sender.hex() == "9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f"
    assert one.to_rpc(sender=True)["from"] == "0x" + one.sender.hex()


def test_nobody_signed() -> None:
    pytest.importorskip("coincurve")
    for changes in ({"v": 0, "r": 0, "s": 0}, {"v": 27, "r": 0, "s": 0}):
        with pytest.raises(ValueError, match="of nobody"):
            _ = Transaction(made(0, **changes)).sender


def test_block_of_the_fuzz_seeds_has_no_known_typed_ones() -> None:
    data = block([b"\x02" + encode([b"\1"] * 4)])
    spans = split_block(data)
    one = Block(data[spans.header_start:spans.header_end], data[spans.header_end:spans.end])
    assert [tx.known for tx in one.transactions] == [False]
