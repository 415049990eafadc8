"""Decoding in memory: nested lists, fields through views, receipts with their logs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
from data import BLOCKS

from blockpack import Block, Receipts
from blockpack._native.rlp import split_block
from blockpack.chain.logs import BlockOrigin
from blockpack.chain.records import split
from blockpack.measure.synthetic import SyntheticChain
from blockpack.rlp import decode_block

_FIELDS = ("nonce", "gas_limit", "to", "value", "input", "v", "r", "s")


@pytest.fixture(scope="module")
def parts(blocks: list[bytes]) -> list[tuple[bytes, bytes]]:
    return [(bytes(header), bytes(body)) for header, body in
            (split(block, split_block(block)) for block in blocks)]


def bench_decode_nested(benchmark: Callable[..., object], blocks: list[bytes]) -> None:
    """Every typed transaction opened."""
    assert benchmark(lambda: sum(len(decode_block(block)) for block in blocks))


def bench_decode_fields(benchmark: Callable[..., object], parts: list[tuple[bytes, bytes]]) -> None:
    """Fields that every transaction has, one by one."""
    def run() -> int:
        return sum(getattr(transaction, name) is not None for header, body in parts
                   for transaction in Block(header, body).transactions for name in _FIELDS)

    assert benchmark(run)


def bench_decode_receipts(benchmark: Callable[..., object]) -> None:
    """Gas of each receipt, and its logs as objects."""
    origin = BlockOrigin(0, b"", None)
    made = [receipts for _, receipts in islice(SyntheticChain(seed=1).with_receipts(), BLOCKS)]

    def run() -> int:
        return sum(receipt.gas_used + len(receipt.logs) for raw in made
                   for receipt in Receipts(raw, "consensus", origin))

    assert benchmark(run)
