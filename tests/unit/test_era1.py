"""The numbers and the name of an era1 file."""

from __future__ import annotations

import random
import struct

import chainmaker
import pytest

from blockpack.chain.formats import era1


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8, 1000, 8191, 8192])
def test_accumulator_is_that_of_the_padded_tree(count: int) -> None:
    source = random.Random(count)
    hashes = [source.randbytes(32) for _ in range(count)]
    totals = [source.getrandbits(200) for _ in range(count)]
    assert era1.accumulator(hashes, totals) == chainmaker.accumulator(hashes, totals)


def test_index_layout() -> None:
    assert era1.encode_index(7, [-100, -50]) == struct.pack("<QqqQ", 7, -100, -50, 2)


def test_file_name() -> None:
    root = bytes.fromhex("40286059") + bytes(28)
    assert era1.file_name("sepolia", 98, root) == "sepolia-00098-40286059.era1"
