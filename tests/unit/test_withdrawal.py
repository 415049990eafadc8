"""Withdrawal views."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from reference.rlp import encode

from blockpack import CorruptError, Withdrawal

FIELDS: list[Any] = [b"\x07", b"\x01\x00", b"\xaa" * 20, b"\x09"]
ONE = Withdrawal(encode(FIELDS))


def test_fields() -> None:
    assert ONE.to_dict() == {"index": 7, "validator_index": 256, "address": b"\xaa" * 20,
                             "amount": 9}
    assert ONE.to_rpc() == {"index": "0x7", "validatorIndex": "0x100",
                            "address": "0x" + "aa" * 20, "amount": "0x9"}
    assert ONE.raw == bytes(ONE) == encode(FIELDS)
    assert repr(ONE) == "<Withdrawal 7 of validator 256, 9 Gwei>"


def test_equality_hash_pickle_and_copy() -> None:
    other = Withdrawal(encode([*FIELDS[:3], b""]))
    assert ONE == Withdrawal(ONE.raw) != other
    assert ONE.raw != ONE
    assert len({ONE, Withdrawal(ONE.raw), other}) == 2
    assert pickle.loads(pickle.dumps(ONE)) == copy.copy(ONE) == copy.deepcopy(ONE) == ONE


@pytest.mark.parametrize(("raw", "text"), [
    (b"", "withdrawal ends before"), (b"\x80", "withdrawal is a string"),
    (ONE.raw + b"\0", "withdrawal is followed"),
    (encode(FIELDS[:3]), "field of a withdrawal is missing"),
    (encode([*FIELDS, b""]), "field of a withdrawal is followed"),
    (b"\xc2\x83x", "field of a withdrawal runs past"),
])
def test_what_is_no_withdrawal_is_refused(raw: bytes, text: str) -> None:
    with pytest.raises(CorruptError, match=text):
        Withdrawal(raw)


@pytest.mark.parametrize(("index", "value", "name"), [
    (0, b"\0", "index"), (1, bytes([1] * 9), "validator_index"), (2, bytes(19), "address"),
    (3, [], "amount"),
])
def test_a_bad_field_is_told_when_it_is_touched(index: int, value: Any, name: str) -> None:
    fields = list(FIELDS)
    fields[index] = value
    with pytest.raises(CorruptError, match=f"{name.replace('_', ' ')} of a withdrawal is"):
        getattr(Withdrawal(encode(fields)), name)
