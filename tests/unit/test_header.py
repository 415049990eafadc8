"""Header views."""

from __future__ import annotations

import copy
import pickle

import pytest
from blocks import PARENT, header
from reference.rlp import Tree, encode

from blockpack import CorruptError, Header
from blockpack._native.header import header_view
from blockpack._native.keccak import keccak256


def made(count: int = 21) -> list[Tree]:
    fields = header(fields=count)
    for index, value in ((15, b"\x12\x34"), (17, b"\x01"), (18, b"")):
        if index < count:
            fields[index] = value
    return fields


def test_every_field_by_its_name() -> None:
    raw = encode(made())
    one = Header(raw)
    assert one.to_dict() == {
        "hash": keccak256(raw), "parent_hash": PARENT, "sha3_uncles": b"\1" * 32,
        "miner": b"\2" * 20, "state_root": b"\3" * 32, "transactions_root": b"\4" * 32,
        "receipts_root": b"\5" * 32, "logs_bloom": bytes(256), "difficulty": 131_072,
        "number": 7, "gas_limit": 30_000_000, "gas_used": 0, "timestamp": 1_600_000_000,
        "extra_data": b"extra", "mix_hash": b"\6" * 32, "nonce": bytes(8),
        "base_fee_per_gas": 0x1234, "withdrawals_root": b"\7" * 32, "blob_gas_used": 1,
        "excess_blob_gas": 0, "parent_beacon_block_root": b"\7" * 32,
        "requests_hash": b"\7" * 32}
    rpc = one.to_rpc()
    assert len(rpc) == 22
    assert rpc["gasUsed"] == "0x0"
    assert rpc["baseFeePerGas"] == "0x1234"
    assert rpc["nonce"] == "0x" + "00" * 8
    assert rpc["extraData"] == "0x" + b"extra".hex()
    assert rpc["parentBeaconBlockRoot"] == "0x" + "07" * 32


@pytest.mark.parametrize("count", [15, 16, 17, 20])
def test_fields_of_later_forks_are_none(count: int) -> None:
    one = Header(encode(made(count)))
    assert len(one) == len(one.fields) == count
    late = [one.base_fee_per_gas, one.withdrawals_root, one.blob_gas_used, one.excess_blob_gas,
            one.parent_beacon_block_root, one.requests_hash]
    assert [value is None for value in late] == [15 + i >= count for i in range(6)]
    assert len(one.to_dict()) == len(one.to_rpc()) == count + 1


def test_fields_that_have_no_name_are_kept_by_position() -> None:
    one = Header(encode([*made(), b"new", b"newer"]))
    assert len(one) == 23
    assert one.fields[21:] == (b"new", b"newer")
    assert one.requests_hash == b"\7" * 32


def test_equality_hash_pickle_and_copy() -> None:
    one, other = Header(encode(made())), Header(encode(made(20)))
    assert one == header_view(encode(made()))
    assert one != other
    assert one != encode(made())
    assert len({one, Header(one.raw), other}) == 2
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == copy.copy(one) == one
    assert repr(one) == f"<Header 7 {one.hash.hex()[:16]} {len(one.raw)} bytes>"


@pytest.mark.parametrize(("raw", "text"), [
    (b"", "block header ends before"),
    (b"\x80", "block header is a string"),
    (encode(made()) + b"\0", "block header is followed by"),
    (encode(made()[:14]), "field of the block header is missing"),
    (b"\xc2\x83x", "field of the block header runs past"),
])
def test_what_is_no_header_is_refused_when_it_is_made(raw: bytes, text: str) -> None:
    with pytest.raises(CorruptError, match=text):
        Header(raw)
    with pytest.raises(CorruptError, match=text):
        _ = header_view(raw).number


@pytest.mark.parametrize(("index", "value", "name"), [
    (0, bytes(31), "parent_hash"), (2, [], "miner"), (7, b"\0\1", "difficulty"),
    (9, bytes(33), "gas_limit"), (12, [], "extra_data"), (14, b"", "nonce"),
])
def test_a_bad_field_is_told_when_it_is_touched(index: int, value: Tree, name: str) -> None:
    fields = made()
    fields[index] = value
    one = header_view(encode(fields))
    assert one.number == 7
    with pytest.raises(CorruptError, match=f"block 7: {name} is" if index else f"{name} is"):
        getattr(one, name)
