"""A block's transactions as a sequence."""

from __future__ import annotations

import pickle

import pytest
from reference.rlp import encode
from txkit import KINDS, in_block, made

from blockpack import CorruptError, Transaction
from blockpack._native.keccak import keccak256


def test_sequence() -> None:
    raws = [made(kind, nonce=kind) for kind in KINDS]
    several = in_block(*raws).transactions
    assert len(several) == 5
    assert [one.raw for one in several] == raws
    assert [one.index for one in several] == [0, 1, 2, 3, 4]
    assert several[-1].raw == raws[4]
    assert [one.raw for one in several[1:4:2]] == [raws[1], raws[3]]
    assert several.hashes() == [keccak256(raw) for raw in raws]
    assert several == [Transaction(raw) for raw in raws]
    assert several != [Transaction(raw) for raw in raws[1:]]
    assert pickle.loads(pickle.dumps(several)) == list(several)
    assert several[2] in several
    for index in (5, -6):
        with pytest.raises(IndexError, match="has 5 transactions"):
            several[index]
    with pytest.raises(TypeError, match="made by Block"):
        type(several)()


def test_hashes_of_a_block_with_a_bad_transaction_name_its_place() -> None:
    bad = b"\x02" + encode([b"\x01"] * 12)[:-1]    # its list is one item short
    several = in_block(made(0), bad, made(1)).transactions
    with pytest.raises(CorruptError, match="block 7") as one:
        _ = several[1].hash
    with pytest.raises(CorruptError, match="block 7") as all_of_them:
        several.hashes()
    assert str(all_of_them.value) == str(one.value)
    assert in_block().transactions.hashes() == []
