"""Views and nested lists on the vectors of ethereum/tests and on real blocks."""

from __future__ import annotations

import ast
import csv
from collections import Counter
from pathlib import Path

import pytest
from reference.rlp import items_in
from reference.transaction import fields_of
from rlpvectors import CHAINS, lines, tree_of, unhex, vectors

from blockpack import Block, BlockpackError, rlp
from blockpack._native.rlp import split_block


def block_of(raw: bytes) -> Block:
    spans = split_block(raw)
    return Block(raw[spans.header_start:spans.header_end], raw[spans.header_end:spans.end])


def test_singles_are_as_their_index_says(testdata: Path) -> None:
    with (testdata / "singles" / "INDEX.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert rows
    for row in rows:
        one = block_of((testdata / "singles" / row["file"]).read_bytes())
        assert one.hash.hex() == row["hash"]
        assert one.number == int(row["number"])
        assert one.size == int(row["bytes"])
        assert len(one.header) == int(row["header_fields"])
        assert Counter(tx.type for tx in one.transactions) == ast.literal_eval(row["types"])
        assert len(one.uncles) == int(row["uncles"])
        assert (one.withdrawals is None) == (row["withdrawals"] == "")
        assert len(one.withdrawals or ()) == int(row["withdrawals"] or 0)


@pytest.mark.parametrize("name", ["mainnet-18090205-18090218.rlp", "execution-apis-chain.rlp",
                                  "optimism-109279674-109279689.rlp"])
def test_every_field_of_every_transaction(testdata: Path, name: str) -> None:
    stream = (testdata / name).read_bytes()
    for item in items_in(stream, 0, len(stream)):
        for one in block_of(stream[item.start:item.end]).transactions:
            assert one.known == (one.type < 5)
            if one.known:
                fields = fields_of(one.raw)
                assert {key: getattr(one, key) for key in fields} == fields


@pytest.mark.parametrize("name", sorted(CHAINS))
def test_real_chains_as_nested_lists(testdata: Path, name: str) -> None:
    stream = (testdata / name).read_bytes()
    for item in items_in(stream, 0, len(stream)):
        raw = stream[item.start:item.end]
        nested = rlp.decode(raw)
        assert rlp.encode(nested) == raw
        opened = rlp.decode_block(raw)
        assert opened == rlp.decode_block(raw, strict=False)
        opened[1] = [bytes((tx[0],)) + rlp.encode(tx[1]) if isinstance(tx, tuple) else tx
                     for tx in opened[1]]
        assert opened == nested


def test_valid_vectors(testdata: Path) -> None:
    for name, vector in vectors(testdata, "rlptest.json").items():
        assert rlp.decode(unhex(vector["out"])) == tree_of(vector["in"]), name
        assert rlp.encode(tree_of(vector["in"])) == unhex(vector["out"]), name


def test_invalid_vectors(testdata: Path) -> None:
    for name, vector in vectors(testdata, "invalidRLPTest.json").items():
        try:
            rlp.decode(unhex(vector["out"]))
        except BlockpackError:
            continue
        pytest.fail(f"{name} was decoded")


def test_forged_blocks_never_give_what_pyrlp_does_not(testdata: Path) -> None:
    pyrlp = pytest.importorskip("rlp")
    refused = 0
    for forged in lines(testdata / "rlptests" / "forged_blocks.jsonl"):
        try:
            data = unhex(forged["rlp"])
        except ValueError:
            continue  # a few are no hex, on purpose
        try:
            expected = pyrlp.decode(data, strict=True)
        except (pyrlp.DecodingError, RecursionError):
            refused += 1
            with pytest.raises(BlockpackError):
                rlp.decode(data)
        else:
            assert rlp.decode(data) == expected
    assert refused
