"""Receipts as views: the three forms, real ones, what is broken."""

from __future__ import annotations

import copy
import io
import pickle
from itertools import islice
from pathlib import Path

import chainmaker
import pytest
from receiptmaker import ADDRESS, SAMPLE, TOPICS, Made, bloom_over, log, receipts
from reference.rlp import decode, encode
from reference.trie import ordered_root

import blockpack
from blockpack import Receipts
from blockpack.chain.formats.source import open_sources
from blockpack.chain.logs import BlockOrigin
from blockpack.chain.records import split
from blockpack.errors import CorruptError, MissingError

FORMS = ["consensus", "storage", "slim"]
ERA1 = "sepolia-00098-40286059.era1"
# Gas never falls within a block, unlike that of SAMPLE.
MADE = [Made(one.type, one.status, 21_000 * (index + 1) + index, one.logs, one.extras)
        for index, one in enumerate(SAMPLE)]


class Origin:
    """A made-up block; it compares by value, as pickled views do."""

    number = 7
    hash = b"\5" * 32

    def transaction_hash(self, index: int) -> bytes:
        return bytes((index,)) * 32

    def transaction_type(self, index: int) -> int:
        return MADE[index].type


def views(made: list[Made], form: str) -> Receipts:
    return Receipts(receipts(made, form), form, Origin())


@pytest.mark.parametrize("form", FORMS)
def test_fields_of_every_form(form: str) -> None:
    found = views(MADE, form)
    assert (len(found), found.form, found.raw) == (5, form, receipts(MADE, form))
    assert bytes(found) == found.raw
    before = logs = 0
    for index, (one, made) in enumerate(zip(found, MADE, strict=True)):
        tree = getattr(made, form)()
        assert one.raw == (tree if isinstance(tree, bytes) else encode(tree))
        assert (one.type, one.transaction_index) == (made.type, index)
        assert one.status == (None if len(made.status) == 32 else len(made.status))
        assert one.post_state == (made.status if len(made.status) == 32 else None)
        assert (one.cumulative_gas_used, one.gas_used) == (made.gas, made.gas - before)
        assert [[got.address, list(got.topics), got.data] for got in one.logs] == made.logs
        assert [got.log_index for got in one.logs] == list(range(logs, logs + len(made.logs)))
        assert {got.transaction_index for got in one.logs} <= {index}
        before, logs = made.gas, logs + len(made.logs)


@pytest.mark.parametrize("form", FORMS)
def test_bloom_is_the_sources_or_made_of_the_logs(form: str) -> None:
    made = [Made(logs=[log(ADDRESS, TOPICS[:2])], bloom=b"\3" * 256), Made()]
    first, second = views(made, form)
    assert second.bloom == bytes(256)
    if form == "consensus":
        assert first.bloom == b"\3" * 256
    else:
        assert first.bloom == bloom_over([ADDRESS, *TOPICS[:2]])


@pytest.mark.parametrize("form", FORMS)
def test_equality_hash_and_pickle(form: str) -> None:
    found, same = views(MADE, form), views(MADE, form)
    assert found == same
    assert hash(found) == hash(same)
    assert found[0] != found[1]
    assert found != views(MADE[:2], form)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found
    for one, twin in zip(found, same, strict=True):
        again = pickle.loads(pickle.dumps(one))
        assert one == twin == again
        assert hash(one) == hash(again)
        assert again.to_dict() == one.to_dict()
    assert found[-1] == found[4]
    assert found[1:3] == (found[1], found[2])


def test_to_rpc() -> None:
    ok, failed, _, old, _ = views(MADE, "slim")
    assert ok.to_rpc() == {
        "blockNumber": "0x7", "blockHash": "0x" + "05" * 32, "transactionIndex": "0x0",
        "transactionHash": "0x" + "00" * 32, "type": "0x0", "cumulativeGasUsed": "0x5208",
        "gasUsed": "0x5208", "logsBloom": "0x" + "00" * 256, "logs": [], "status": "0x1"}
    assert failed.to_rpc()["status"] == "0x0"
    assert failed.to_rpc()["logs"] == [one.to_rpc() for one in failed.logs]
    assert old.to_rpc()["root"] == "0x" + "07" * 32
    assert "status" not in old.to_rpc()


def test_what_is_broken_names_the_block() -> None:
    for raw, form in ((b"\xc1\x01", "slim"), (b"\xc0\x01", "storage"), (b"", "consensus"),
                      (receipts(MADE, "slim"), "consensus")):
        broken = Receipts(raw, form, Origin())
        assert broken.raw == raw
        with pytest.raises(CorruptError, match="block 7: receipts: ") as caught:
            len(broken)
        assert caught.value.offset is not None
    bad_log = views([Made(logs=[log(b"short")])], "slim")[0]
    for read in (lambda: bad_log.logs, lambda: bad_log.bloom):
        with pytest.raises(CorruptError, match="block 7: receipts: "):
            read()
    with pytest.raises(CorruptError, match="block 7: gas of receipt 1, below the 9 "):
        views([Made(gas=9), Made(gas=8)], "slim")[1].gas_used  # noqa: B018


def test_forms_and_construction() -> None:
    with pytest.raises(ValueError, match="'network': the forms are consensus, storage, slim"):
        Receipts(b"\xc0", "network", Origin())
    with pytest.raises(TypeError, match="made by BlockStore"):
        blockpack.Receipt()
    for field in ("raw", "type", "status", "logs", "bloom", "gas_used"):
        with pytest.raises(TypeError, match="without its bytes"):
            getattr(blockpack.Receipt.__new__(blockpack.Receipt), field)


@pytest.mark.parametrize("form", FORMS)
def test_of_a_store(tmp_path: Path, form: str) -> None:
    blocks = chainmaker.chain(3, txs=2)
    made = [Made(0, b"\1", 30_000, [log()]), Made(0, b"", 70_000)]
    with blockpack.create(tmp_path / "store") as store:
        for block in blocks[:2]:
            store.append(block, receipts=receipts(made, form), receipts_form=form)
        store.append(blocks[2])
        first = store.first or 0
        found = store.receipts(first + 1)
        block = store[first + 1]
        assert [one.gas_used for one in found] == [30_000, 40_000]
        assert [one.transaction_hash for one in found] == [tx.hash for tx in block.transactions]
        assert [one.type for one in found] == [tx.type for tx in block.transactions]
        assert (found[0].block_number, found[0].block_hash) == (block.number, block.hash)
        assert [(one.block_number, one.transaction_hash) for one in found[0].logs] == [
            (block.number, block.transactions[0].hash)]
        assert found != store.receipts(first)
        with pytest.raises(MissingError, match=f"receipts for block {first + 2}"):
            store.receipts(first + 2)
        kept = pickle.dumps(found)
        kept_one = pickle.dumps(found[1])
    assert pickle.loads(kept) == found
    assert pickle.loads(kept_one).transaction_hash == block.transactions[1].hash


def consensus_values(found: Receipts) -> list[bytes]:
    """What the receipts trie holds, encoded by the reference."""
    values = []
    for one in found:
        state = one.post_state
        status = state if state is not None else b"\1" if one.status else b""
        gas = one.cumulative_gas_used
        tree = [status, gas.to_bytes((gas.bit_length() + 7) // 8, "big"), one.bloom,
                [decode(got.raw) for got in one.logs]]
        values.append((bytes((one.type,)) if one.type else b"") + encode(tree))
    return values


def test_real_slim_receipts_give_their_root(testdata: Path) -> None:
    files = sorted((testdata / "receipts").glob("*.rlp"))
    assert len(files) == 5
    for path in files:
        number = path.name.split("-")[1].split(".")[0]
        single = next((testdata / "singles").glob(f"{number}_*")).read_bytes()
        block = next(one for source in open_sources(io.BytesIO(single)) for one in source)
        header, body = split(block.rlp, block.spans)
        view = blockpack.Block(header, body)
        found = Receipts(path.read_bytes(), "slim", BlockOrigin(int(number), bytes(header), None))
        assert ordered_root(consensus_values(found)) == view.header.receipts_root
        assert [one.type for one in found] == [tx.type for tx in view.transactions]
        assert sum(one.gas_used for one in found) == view.header.gas_used


def test_real_era1_receipts(testdata: Path) -> None:
    seen = 0
    with (testdata / ERA1).open("rb") as file:
        blocks = (one for source in open_sources(file) for one in source)
        for block in islice((one for one in blocks if one.receipts != b"\xc0"), 60):
            header, body = split(block.rlp, block.spans)
            view = blockpack.Block(header, body)
            assert block.receipts is not None
            found = Receipts(block.receipts, block.receipts_form,
                             BlockOrigin(view.number, bytes(header), None))
            values = consensus_values(found)
            assert values == [one.raw for one in found]
            assert ordered_root(values) == view.header.receipts_root
            assert sum(one.gas_used for one in found) == view.header.gas_used
            seen += len(found)
    assert seen >= 60
