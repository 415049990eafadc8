"""One block and the views of its parts."""

from __future__ import annotations

import copy
import pickle

import chainmaker
import pytest
from blocks import block as made_up
from blocks import header, legacy, typed
from reference.rlp import encode

from blockpack import Block, CorruptError, Header, Transaction, Withdrawal
from blockpack._native.rlp import split_block

RAW = chainmaker.chain(2, 7)[1]
FIELDS = [b"\x07", b"\x81\x20"[1:], b"\xaa" * 20, b"\x09"]


def block(raw: bytes = RAW) -> Block:
    spans = split_block(raw)
    return Block(raw[spans.header_start:spans.header_end], raw[spans.header_end:spans.end])


def test_fields() -> None:
    one = block()
    assert one.number == 8
    assert one.hash == chainmaker.hash_of(RAW)
    assert one.parent_hash == chainmaker.hash_of(chainmaker.chain(1, 7)[0])
    assert one.timestamp == 1_500_000_000 + 13 * 8
    assert one.raw == bytes(one) == RAW
    assert one.header.raw == chainmaker.header_of(RAW)
    assert one.body == chainmaker.body_of(RAW)
    assert repr(one) == f"<Block 8 {one.hash.hex()[:16]} {len(RAW)} bytes>"


@pytest.mark.parametrize("payload", [0, 1, 2, 55, 56, 255, 256, 65_535, 65_536])
def test_size_is_that_of_the_rlp(payload: int) -> None:
    one = Block(bytes(payload // 2), bytes(payload - payload // 2))
    assert one.size == len(one.raw)


def test_equality_hash_pickle_and_copy() -> None:
    other = block(chainmaker.chain(2, 7, seed=9)[1])
    assert block() == block()
    assert block() != other
    assert block() != RAW
    assert len({block(), block(), other}) == 2
    assert pickle.loads(pickle.dumps(block())) == block()
    assert copy.copy(block()) == copy.deepcopy(block()) == block()


def test_parts() -> None:
    one = block(made_up([legacy(37), typed(0x7E, 1)], [header(), header(9)],
                        [[FIELDS]], fields=17))
    assert [tx.type for tx in one.transactions] == [0, 0x7E]
    assert [uncle.number for uncle in one.uncles] == [7, 9]
    assert one.uncles == (Header(encode(header())), Header(encode(header(9))))
    assert one.withdrawals == (Withdrawal(encode(FIELDS)),)
    assert block(made_up()).withdrawals is None
    assert block(made_up(extra=[[]])).withdrawals == ()


def test_views_keep_the_bytes_of_their_block() -> None:
    one = block(made_up([legacy(37)], [header()], [[FIELDS]]))
    views = [one.header, one.transactions[0], one.uncles[0], (one.withdrawals or ())[0]]
    raws = [bytes(view) for view in views]
    del one
    assert [bytes(view) for view in views] == raws


@pytest.mark.parametrize(("body", "text"), [
    (b"", "block's list of transactions is missing"),
    (b"\x80\xc0", "block's list of transactions is a string"),
    (b"\xc5\xc0", "block's list of transactions runs past"),
    (b"\xc2\x83x\xc0", "transaction runs past"),
])
def test_bad_bodies_name_block_and_offset(body: bytes, text: str) -> None:
    head = encode(header())
    bad = Block(head, body)
    with pytest.raises(CorruptError, match=f"block 7: {text}") as caught:
        len(bad.transactions)
    inside = 1 if text.startswith("transaction") else 0
    assert caught.value.offset == bad.size - len(body) + inside


def test_bad_uncles_and_withdrawals_do_not_hinder_the_rest() -> None:
    bad = Block(encode(header()), b"\xc0\xc1\xc0\x80")
    assert len(bad.transactions) == 0
    with pytest.raises(CorruptError, match="block 7: field of the block header is missing"):
        _ = bad.uncles[0].number
    with pytest.raises(CorruptError, match="block 7: item after the block's uncles is a string"):
        _ = bad.withdrawals


def test_python_values_and_json() -> None:
    one = block(made_up([legacy(37)], [header()], [[FIELDS]], fields=17))
    values = one.to_dict()
    assert values["number"] == 7
    assert values["size"] == one.size
    assert values["transactions"] == [one.transactions[0].to_dict()]
    assert values["uncles"][0]["hash"] == one.uncles[0].hash
    assert values["withdrawals"][0]["amount"] == 9
    rpc = one.to_rpc()
    assert rpc["number"] == "0x7"
    assert rpc["transactions"][0]["blockHash"] == "0x" + one.hash.hex()
    assert rpc["uncles"] == ["0x" + one.uncles[0].hash.hex()]
    assert rpc["withdrawals"] == [{"index": "0x7", "validatorIndex": "0x20",
                                   "address": "0x" + "aa" * 20, "amount": "0x9"}]
    hashes = one.to_rpc(full=False)["transactions"]
    assert hashes == ["0x" + one.transactions[0].hash.hex()]
    assert "withdrawals" not in block(made_up()).to_rpc()


@pytest.mark.parametrize("kind", [Block, Header, Transaction, Withdrawal])
@pytest.mark.parametrize("name", ["raw", "hash", "number", "index", "nonce", "uncles", "amount"])
def test_a_view_without_bytes_raises(kind: type, name: str) -> None:
    empty = kind.__new__(kind)
    if hasattr(kind, name) and (kind, name) != (Transaction, "index"):
        with pytest.raises(TypeError):
            getattr(empty, name)
