"""One block."""

from __future__ import annotations

import pickle

import chainmaker
import pytest

from blockpack.chain.block import Block

RAW = chainmaker.chain(2, 7)[1]


def block(raw: bytes = RAW) -> Block:
    return Block(chainmaker.header_of(raw), chainmaker.body_of(raw))


def test_fields() -> None:
    one = block()
    assert one.number == 8
    assert one.hash == chainmaker.hash_of(RAW)
    assert one.parent_hash == chainmaker.hash_of(chainmaker.chain(1, 7)[0])
    assert one.timestamp == 1_500_000_000 + 13 * 8
    assert one.raw == bytes(one) == RAW
    assert repr(one) == f"<Block 8 {one.hash.hex()[:16]} {len(RAW)} bytes>"


@pytest.mark.parametrize("payload", [0, 1, 2, 55, 56, 255, 256, 65_535, 65_536])
def test_size_is_that_of_the_rlp(payload: int) -> None:
    one = Block(bytes(payload // 2), bytes(payload - payload // 2))
    assert one.size == len(one.raw)


def test_equality_hash_and_pickle() -> None:
    other = block(chainmaker.chain(2, 7, seed=9)[1])
    assert block() == block()
    assert block() != other
    assert block() != RAW
    assert len({block(), block(), other}) == 2
    assert pickle.loads(pickle.dumps(block())) == block()
