"""Bodies against the roots in their headers, on real blocks of every era."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from blockpack._native.keccak import keccak256
from blockpack.chain.formats.source import open_sources
from blockpack.chain.records import split
from blockpack.chain.roots import body_matches, ordered_root

FILES = ["besu-50.blocks", "besu-snap-testBlockchain.blocks", "execution-apis-chain.rlp",
         "mainnet-18090205-18090218.rlp", "mainnet-3510000-3510010.rlp",
         "linea-mainnet-28279135-28279249.rlp", "optimism-109279674-109279689.rlp"]


def test_root_of_nothing() -> None:
    assert ordered_root([]).hex() == (
        "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421")
    assert ordered_root([]) == keccak256(b"\x80")


@pytest.mark.parametrize("count", [1, 2, 16, 17, 127, 128, 129, 256, 257, 300])
def test_every_value_counts(count: int) -> None:
    values = [bytes((i % 251, i // 251)) * 9 for i in range(count)]
    root = ordered_root(values)
    for index in {0, count // 2, count - 1}:
        changed = [*values]
        changed[index] += b"!"
        assert ordered_root(changed) != root
    assert ordered_root(values[:-1]) != root


@pytest.mark.parametrize("name", FILES)
def test_real_blocks(testdata: Path, name: str) -> None:
    previous = None
    for source in open_sources(io.BytesIO((testdata / name).read_bytes())):
        for block in source:
            header, body = split(block.rlp, block.spans)
            assert body_matches(header, body)
            if previous is not None and previous != body:
                assert not body_matches(header, previous)
            previous = body


def test_every_flipped_byte_of_a_real_body_is_seen(testdata: Path) -> None:
    data = (testdata / "besu-50.blocks").read_bytes()
    blocks = [block for source in open_sources(io.BytesIO(data)) for block in source]
    header, body = max((split(block.rlp, block.spans) for block in blocks),
                       key=lambda parts: len(parts[1]))
    for position in range(len(body)):
        hurt = bytearray(body)
        hurt[position] ^= 0x10
        assert not body_matches(header, hurt)
