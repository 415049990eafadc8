"""Columns of a store's ranges: what is read for them, batches, threads, names and refusals."""

from __future__ import annotations

import gc
import random
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chainmaker
import numpy as np
import pytest
from columnkit import check, expected_rows, listed, names_of, receipts_of
from receiptmaker import ADDRESS, OTHER, TOPICS, Made, log, receipts
from reference.rlp import encode
from txkit import made

import blockpack
from blockpack import BlockStore, CorruptError, KnobError, MissingError
from blockpack._native.keccak import keccak256
from blockpack.chain import sharing
from blockpack.chain.columns import compute
from blockpack.chain.columns.tables import TABLES
from blockpack.store.tables import BODIES, DIFFICULTY, HEADERS, RECEIPTS

FIRST, COUNT = 100, 44
GROUP = 4


def made_receipts(index: int) -> list[Made]:
    logs: list[Any] = [log(), log(OTHER, TOPICS[:1]), log(ADDRESS, TOPICS, bytes([index]))]
    return [Made(0, b"\1", 21_000, logs[:index % 3]), Made(2, b"", 50_000, logs[1:])]


def chain() -> Iterator[bytes]:
    parent = bytes(32)
    for index in range(COUNT):
        source = random.Random(index)
        body = [chainmaker.transaction(source, 40, 1), made(2, value=index)]
        head = chainmaker.header(FIRST + index, parent, body, source)
        paid = [[9 * index + i, i, bytes(20), 7] for i in range(index % 4)]
        withdrawals = chainmaker.rlp(paid) if index > 5 else b""
        yield chainmaker.rlp_list(head + chainmaker.rlp(body) + b"\xc0" + withdrawals)
        parent = keccak256(head)


BLOCKS = list(chain())


def fill(path: Path, form: str = "slim", *, seal: bool = True, covered: int = COUNT) -> Path:
    with blockpack.create(path, block_group_size=GROUP, segment_blocks=16, seal_lag=0,
                          compression="zstd") as store:
        for index, raw in enumerate(BLOCKS):
            own = receipts(made_receipts(index), form) if index < covered else None
            store.append(raw, receipts=own, difficulty=index << 70, receipts_form=form)
        if seal:
            store.seal()
    return path


@pytest.fixture(scope="module", params=["sealed", "open"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
          ) -> Iterator[BlockStore]:
    path = tmp_path_factory.mktemp("columns") / "store"
    with blockpack.open(fill(path, seal=request.param == "sealed")) as opened:
        yield opened


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockStore]:
    with blockpack.open(fill(tmp_path_factory.mktemp("sealed") / "store")) as opened:
        yield opened


def rows(store: BlockStore, table: str, start: int, stop: int) -> list[dict[str, Any]]:
    blocks = [store[n] for n in range(start, stop)]
    own = [receipts_of(block, store.receipts(block.number).raw, store.receipts(block.number).form)
           for block in blocks]
    return expected_rows(table, blocks, own)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("table", TABLES)
def test_every_table(store: BlockStore, table: str, threads: int,
                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "JOB_BLOCKS", 5)
    names = names_of(table, receipts=True)
    expected = rows(store, table, FIRST + 3, FIRST + 39)
    found = store[FIRST + 3:FIRST + 39].columns(table, names, threads=threads)
    check(found, expected, names)
    assert found.blocks == range(FIRST + 3, FIRST + 39)
    assert [field.name for field in found.fields] == names
    for name in names:
        column, field = found.column(name), found.fields[names.index(name)]
        assert field.nullable or column.valid is None, name


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("table", TABLES)
def test_batches_make_the_same_rows(store: BlockStore, table: str, threads: int,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "BATCH_ROWS", 5)
    monkeypatch.setattr(sharing, "JOB_BLOCKS", 5)
    whole = store[:].columns(table)
    batches = store[:].batches(table, threads=threads)
    for _ in range(2):      # it can be iterated again
        parts = list(batches)
        assert len(parts) > 1
        assert parts[0].blocks is not None
        ends = [part.blocks.stop for part in parts if part.blocks is not None]
        starts = [part.blocks.start for part in parts if part.blocks is not None]
        assert starts == [FIRST, *ends[:-1]]
        assert ends[-1] == FIRST + COUNT
        for name in whole:
            assert listed(whole.column(name)) == [
                value for part in parts for value in listed(part.column(name))]


def test_only_the_records_that_columns_need_are_inflated_and_each_frame_once(
        sealed: BlockStore) -> None:
    frames = -(-COUNT // GROUP)
    for table, names, tables in (
            ("blocks", None, {HEADERS}), ("blocks", ["block_hash"], {HEADERS}),
            ("blocks", ["size"], {HEADERS, BODIES}), ("blocks", ["uncle_count"], {BODIES}),
            ("blocks", ["total_difficulty"], {DIFFICULTY}), ("blocks", ["number"], set()),
            ("transactions", ["input", "nonce"], {BODIES}),
            ("transactions", ["hash", "timestamp"], {BODIES, HEADERS}),
            ("transactions", ["success"], {BODIES, RECEIPTS}),
            ("withdrawals", ["index"], {BODIES}), ("logs", None, {RECEIPTS, HEADERS}),
            ("logs", ["data"], {RECEIPTS}), ("logs", ["transactionHash"], {RECEIPTS, BODIES}),
            ("receipts", ["type", "status"], {RECEIPTS})):
        sealed.counters.reset()
        assert sealed[:].columns(table, names).blocks == range(FIRST, FIRST + COUNT)
        have = sealed.counters.snapshot()
        assert have["frames_inflated"] == frames * len(tables), (table, names)
        sealed.counters.reset()
        assert sum(len(batch) for batch in sealed[:].batches(table, names)) == len(
            sealed[:].columns(table, names))


@pytest.mark.parametrize("form", ["storage", "consensus"])
def test_types_of_the_storage_form_inflate_bodies(tmp_path: Path, form: str) -> None:
    with blockpack.open(fill(tmp_path / "store", form)) as store:
        names = ["transaction_type", "status"]
        check(store[:].columns("receipts", names),
              rows(store, "receipts", FIRST, FIRST + COUNT), names)
        store.counters.reset()
        store[:].columns("receipts", names)
        tables = 2 if form == "storage" else 1
        assert store.counters.snapshot()["frames_inflated"] == tables * -(-COUNT // GROUP)
        store.counters.reset()
        store[:].columns("receipts", ["status", "n_logs"])
        assert store.counters.snapshot()["frames_inflated"] == -(-COUNT // GROUP)


def test_names_of_other_tools(sealed: BlockStore) -> None:
    found = sealed[:].columns("transactions", ["gasPrice", "type", "hash", "value", "gas", "to"])
    ours = sealed[:].columns("transactions", ["gas_price", "transaction_type", "transaction_hash",
                                              "value_binary", "gas_limit", "to_address"])
    for theirs, name in zip(found, ours, strict=True):
        assert listed(found.column(theirs)) == listed(ours.column(name))
    blocks = sealed[:].columns("blocks", ["miner", "sha3Uncles", "number", "baseFeePerGas"])
    assert list(blocks) == ["miner", "sha3Uncles", "number", "baseFeePerGas"]
    for table in TABLES.values():
        assert set(table.aliases.values()) <= set(table.columns)
        assert not set(table.aliases) & set(table.columns)


def test_what_there_is_not_is_refused_by_name(sealed: BlockStore) -> None:
    with pytest.raises(KnobError, match="no table 'tx' of columns; there are blocks, trans"):
        sealed[:].columns("tx")
    with pytest.raises(KnobError, match=r"logs has no column 'topic4'; it has block_number, .*"):
        sealed[:].columns("logs", ["topic4"])
    with pytest.raises(KnobError, match="column nonce is asked for twice"):
        sealed[:].batches("transactions", ["nonce", "hash", "nonce"])
    with pytest.raises(KnobError, match="a list of names, not 'nonce'"):
        sealed[:].columns("transactions", "nonce")
    with pytest.raises(KnobError, match="no column of logs is asked for"):
        sealed[:].columns("logs", [])
    with pytest.raises(KnobError, match="threads is 0"):
        sealed[:].columns(threads=0)
    for step in (-1, 2):
        with pytest.raises(ValueError, match=f"of a range of step 1, not {step}"):
            sealed[::step].columns()
        with pytest.raises(ValueError, match=f"of a range of step 1, not {step}"):
            sealed[::step].__arrow_c_stream__()


def test_columns_that_the_store_cannot_fill_are_named(tmp_path: Path) -> None:
    with blockpack.open(fill(tmp_path / "store", covered=9)) as store:
        assert store[:FIRST + 9].columns("logs").rows == 9 + 2 * 9
        for ask, text in (
                (lambda: store[:FIRST + 10].columns("logs", ["data"]), "columns data: the store"),
                (lambda: store[:].batches("transactions", ["nonce", "success"]),
                 f"columns success: the store has no receipts for block {FIRST + 9}"),
                (lambda: store[FIRST + 20:].columns("receipts"),
                 f"the store has no receipts for block {FIRST + 20}")):
            with pytest.raises(MissingError, match=text):
                ask()


def test_an_empty_range(store: BlockStore) -> None:
    for table in TABLES:
        for threads in (1, 2):
            found = store[FIRST:FIRST].columns(table, threads=threads)
            assert found.rows == 0
            assert [listed(found.column(name)) for name in found] == [[]] * len(list(found))
            assert list(store[FIRST:FIRST].batches(table, threads=threads)) == []


def test_senders_are_those_of_the_transactions(sealed: BlockStore) -> None:
    pytest.importorskip("coincurve")
    expected = []
    for block in sealed[:FIRST + 6]:
        for tx in block.transactions:
            try:
                expected.append(tx.sender)
            except ValueError:
                expected.append(None)
    assert len(set(expected)) > 2
    for threads in (1, 2):
        found = sealed[:FIRST + 6].columns("transactions", ["nonce", "from"], threads=threads)
        assert list(found) == ["nonce", "from"]
        assert listed(found.column("from")) == expected
    parts = list(sealed[:FIRST + 6].batches("transactions", ["from_address"]))
    assert [one for part in parts for one in listed(part.column("from_address"))] == expected


def test_senders_need_coincurve(sealed: BlockStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coincurve", None)
    with pytest.raises(ImportError, match=r"from_address needs coincurve: .*blockpack\[sender\]"):
        sealed[:].batches("transactions", ["from_address"])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_broken_record_is_named_and_ends_the_columns(tmp_path: Path, threads: int,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "JOB_BLOCKS", 4)
    monkeypatch.setattr(compute, "BATCH_ROWS", 1)
    path = tmp_path / "store"
    with blockpack.create(path, links="none", block_group_size=4, seal_lag=0) as store:
        for number in range(30):
            body = [made(2), *([made(0, nonce=2**64)] if number == 21 else [])]
            items = b"".join(encode(one) if one[0] < 0xC0 else one for one in body)
            head = chainmaker.header(number, bytes(32), [], random.Random(number))
            store.append(chainmaker.rlp_list(head + chainmaker.rlp_list(items) + b"\xc0"))
        store.seal()
        with pytest.raises(CorruptError, match="block 21: bodies: nonce is an integer with") as it:
            store[:].columns("transactions", ["nonce"], threads=threads)
        assert it.value.offset is not None
        batches = iter(store[:].batches("transactions", ["nonce"], threads=threads))
        done = [next(batches).rows for _ in range(5)]
        assert done == [4] * 5
        with pytest.raises(CorruptError, match="block 21"):
            next(batches)


def test_no_batch_is_held_while_the_next_one_is_computed(sealed: BlockStore,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "BATCH_ROWS", 1)
    gc.collect()
    batches = iter(sealed[:].batches("transactions", ["input"]))
    last: weakref.ref[Any] | None = None
    for _ in range(5):
        batch = next(batches)
        assert last is None or last() is None
        last = weakref.ref(batch.column("input").values)
        del batch


def test_a_cut_while_batches_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "BATCH_ROWS", 1)
    fill(tmp_path / "store")
    with blockpack.open(tmp_path / "store", "a") as writer, \
            blockpack.open(tmp_path / "store") as reader:
        batches = iter(reader[:].batches("transactions", ["block_number", "timestamp", "hash"]))
        parts = [next(batches), next(batches)]
        writer.truncate(FIRST + 17)
        for raw in BLOCKS[18:]:
            writer.append(raw)
        writer.sync()
        writer.seal()
        parts += list(batches)
        numbers = np.concatenate([part["block_number"] for part in parts])
        assert numbers.tolist() == [n for n in range(FIRST, FIRST + COUNT) for _ in range(2)]
        expected = [tx.hash for block in writer[:] for tx in block.transactions]
        assert [one for part in parts for one in listed(part.column("hash"))] == expected


def test_groups_of_tables_that_do_not_begin_together(tmp_path: Path) -> None:
    """Bodies that close their groups early, beside headers that do not."""
    raws = []
    parent = bytes(32)
    for number in range(9):
        source = random.Random(number)
        size = 12 << 20 if number in (1, 2, 4, 7) else 100
        body = [[1, 1, 1, bytes(20), 0, bytes(size), 27, b"\1", b"\1"]]
        head = chainmaker.header(number, parent, body, source)
        raws.append(chainmaker.rlp_list(head + chainmaker.rlp(body) + b"\xc0"))
        parent = keccak256(head)
    with blockpack.create(tmp_path / "store", block_group_size=8, seal_lag=0,
                          compression="zstd", seal_compression_level=1) as store:
        for raw in raws:
            store.append(raw)
        store.seal()
        names = ["block_number", "timestamp", "n_input_bytes", "block_hash"]
        expected = expected_rows("transactions", [store[n] for n in range(9)])
        for threads in (1, 2):
            check(store[:].columns("transactions", names, threads=threads), expected, names)
        store.counters.reset()
        store[:].columns("transactions", ["timestamp"])
        assert store.counters.snapshot()["frames_inflated"] == 2 + 2


def test_the_arrow_stream_of_a_range_is_that_of_its_blocks(sealed: BlockStore) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(sealed[:])
    assert table.column_names == list(sealed[:].columns("blocks"))
    assert table["block_number"].to_pylist() == list(range(FIRST, FIRST + COUNT))
    whole = sealed[:].columns("transactions", ["access_list", "value_string", "to"])
    arrow = pyarrow.table(whole).to_pydict()
    assert {name: listed(whole.column(name)) for name in whole} == arrow
