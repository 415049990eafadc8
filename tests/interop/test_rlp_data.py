"""The RLP and Keccak kernels on the vectors of ethereum/tests and on real chains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blocks import decode_with_kernel, kernel_outcome, reference_outcome
from rlpvectors import CHAINS, lines, tree_of, unhex, vectors

from blockpack._native import rlp
from blockpack._native.keccak import keccak256, keccak256_many
from blockpack.errors import BlockpackError, CorruptError

UNLINKED = {"besu-ibft.blocks"}  # IBFT hashes its headers without the committed seals


def test_valid_vectors(testdata: Path) -> None:
    for name, vector in vectors(testdata, "rlptest.json").items():
        assert decode_with_kernel(unhex(vector["out"])) == tree_of(vector["in"]), name


def test_invalid_vectors(testdata: Path) -> None:
    for name, vector in vectors(testdata, "invalidRLPTest.json").items():
        try:
            decode_with_kernel(unhex(vector["out"]))
        except (BlockpackError, ValueError):
            continue
        pytest.fail(f"{name} was decoded")


def test_random_vectors(testdata: Path) -> None:
    for name, vector in vectors(testdata, "RandomRLPTests/example.json").items():
        assert vector["in"] == "VALID", name
        assert isinstance(decode_with_kernel(unhex(vector["out"])), list)


def forged(testdata: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    for vector in lines(testdata / "rlptests" / "forged_blocks.jsonl"):
        try:
            yield vector, unhex(vector["rlp"])
        except ValueError:
            assert "WrongChar" in vector["test"]  # not hexadecimal, so not bytes at all


def test_forged_blocks(testdata: Path) -> None:
    refused, accepted, trailing = set(), set(), set()
    for vector, data in forged(testdata):
        outcome = kernel_outcome(data)
        assert outcome == reference_outcome(data), vector["test"]
        if isinstance(outcome, str):
            refused.add(vector["test"])
        elif outcome.end < len(data):
            trailing.add(vector["test"])
        else:
            accepted.add(vector["test"])
            spans = rlp.split_block(data)
            assert rlp.join_block(data[spans.header_start : spans.header_end],
                                  data[spans.header_end :]) == data
        assert vector["kind"] == "parses" or isinstance(outcome, str), vector["test"]
    assert trailing == {f"{part}__{what}AtTheEnd" for part in ("BLOCK", "TRANSCT")
                        for what in ("RandomByte", "ZeroByte")}
    assert len(refused) >= 27
    assert accepted


def test_non_canonical_outer_list_is_refused_by_name(testdata: Path) -> None:
    data = next(data for vector, data in forged(testdata)
                if vector["test"] == "RLPLengthOfLengthWithFirstZeros")
    with pytest.raises(CorruptError, match="block is not in the canonical encoding") as caught:
        rlp.split_block(data)
    assert caught.value.offset == 0


def test_blocks_with_invalid_content_are_kept_as_they_are(testdata: Path) -> None:
    """They break consensus rules, not RLP: a store of bytes has no opinion."""
    found = lines(testdata / "invalid_blocks.jsonl")
    assert len(found) == 833
    for vector in found:
        data = unhex(vector["rlp"])
        outcome = kernel_outcome(data)
        assert outcome == reference_outcome(data), vector["test"]
        assert not isinstance(outcome, str), vector["test"]


@pytest.mark.parametrize("name", CHAINS)
def test_chain_files_split_join_and_link(testdata: Path, name: str) -> None:
    data = (testdata / name).read_bytes()
    position = 0
    headers, parents, numbers, chain_ids = [], [], [], set()
    while position < len(data):
        spans = rlp.split_block(data, position)
        assert rlp.block_size(data, position) == spans.end - position
        record = data[spans.header_start : spans.header_end]
        body = data[spans.header_end : spans.end]
        assert rlp.join_block(record, body) == data[position : spans.end]
        headers.append(record)
        parents.append(spans.parent_hash)
        numbers.append(spans.number)
        chain_ids.add(spans.chain_id)
        position = spans.end
    assert chain_ids == CHAINS[name]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    linked = keccak256_many(headers)[:-1] == parents[1:]
    assert linked == (name not in UNLINKED)


def test_every_chain_file_is_listed_here(testdata: Path) -> None:
    found = {p.name for p in testdata.iterdir() if p.suffix in {".rlp", ".blocks"}}
    assert found == set(CHAINS)


def test_real_blocks_split_as_the_reference_splits_them(testdata: Path) -> None:
    data = (testdata / "execution-apis-chain.rlp").read_bytes()
    position = 0
    while position < len(data):
        outcome = kernel_outcome(data, position)
        assert outcome == reference_outcome(data, position)
        position = rlp.split_block(data, position).end


def test_single_blocks_have_their_hash_and_number(testdata: Path) -> None:
    index = (testdata / "singles" / "INDEX.tsv").read_text().splitlines()
    columns = index[0].split("\t")
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in index[1:]]
    assert len(rows) == 75
    for row in rows:
        data = (testdata / "singles" / row["file"]).read_bytes()
        spans = rlp.split_block(data)
        record = data[spans.header_start : spans.header_end]
        assert spans.end == len(data) == int(row["bytes"])
        assert keccak256(record).hex() == row["hash"]
        assert spans.number == int(row["number"])
        assert rlp.join_block(record, data[spans.header_end :]) == data
        assert len(rlp.list_items(record)) == int(row["header_fields"])
        assert len(rlp.list_items(data, spans.header_end)) == int(row["txs"])
        assert spans.chain_id in {1, -1}


def test_headers_without_their_block(testdata: Path) -> None:
    data = (testdata / "mainnet-18090205-18090218.rlp").read_bytes()
    spans = rlp.split_block(data)
    fields = rlp.header_fields(memoryview(data)[spans.header_start : spans.header_end])
    assert (fields.number, fields.timestamp, fields.parent_hash) == (
        18_090_205, spans.timestamp, spans.parent_hash)
