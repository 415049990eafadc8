"""Columns of real blocks, as every Arrow consumer reads them, hold what the views say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arrowconsumers import CONSUMERS, Rows

import blockpack
from blockpack import BlockStore
from blockpack.chain.importer import import_blocks

FILES = ["mainnet-18090205-18090218.rlp", "linea-mainnet-28279135-28279249.rlp",
         "optimism-109279674-109279689.rlp", "execution-apis-chain.rlp", "ethrex-chain.rlp",
         "mainnet-3510000-3510010.rlp"]
ERA1, ERA1_BLOCKS = "sepolia-00098-40286059.era1", 150
consumers = pytest.mark.parametrize("read", CONSUMERS)


@pytest.fixture(scope="module", params=[*FILES, ERA1])
def store(request: pytest.FixtureRequest, testdata: Path,
          tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockStore]:
    path = tmp_path_factory.mktemp("columns") / "store"
    with blockpack.create(path, compression="zstd", seal_dictionary="auto") as made:
        import_blocks(made, testdata / request.param)
        made.seal()
    with blockpack.open(path) as opened:
        yield opened


def span(store: BlockStore) -> slice:
    assert store.first is not None
    assert store.head is not None
    return slice(max(store.first, store.head + 1 - ERA1_BLOCKS), store.head + 1)


def big(value: int | None) -> bytes | None:
    return None if value is None else value.to_bytes(32, "big")


TRANSACTIONS: dict[str, Callable[[Any], Any]] = {
    "transaction_type": lambda tx: tx.type, "nonce": lambda tx: tx.nonce,
    "to_address": lambda tx: tx.to, "value_binary": lambda tx: big(tx.value),
    "value_f64": lambda tx: None if tx.value is None else float(tx.value),
    "value_string": lambda tx: None if tx.value is None else str(tx.value),
    "input": lambda tx: tx.input, "gas_limit": lambda tx: tx.gas_limit,
    "max_fee_per_gas": lambda tx: tx.max_fee_per_gas, "r": lambda tx: big(tx.r),
    "s": lambda tx: big(tx.s), "transaction_hash": lambda tx: tx.hash,
    "n_rlp_bytes": lambda tx: len(tx.raw)}
# What a transaction of an unknown type has; its other columns are null.
ALWAYS = {"transaction_type", "transaction_hash", "n_rlp_bytes"}
HEADERS = {
    "block_hash": "hash", "parent_hash": "parent_hash", "timestamp": "timestamp",
    "gas_used": "gas_used", "state_root": "state_root", "extra_data": "extra_data",
    "logs_bloom": "logs_bloom", "base_fee_per_gas": "base_fee_per_gas"}


@consumers
def test_transactions(store: BlockStore, read: Callable[[Any], Rows]) -> None:
    where = span(store)
    found = read(store[where].batches("transactions", ["block_number", *TRANSACTIONS]))
    views = [(block.number, tx) for block in store[where] for tx in block.transactions]
    assert found["block_number"] == [number for number, _ in views]
    for name, value in TRANSACTIONS.items():
        assert found[name] == [value(tx) if tx.type <= 4 or name in ALWAYS else None
                               for _, tx in views], name


@consumers
def test_headers(store: BlockStore, read: Callable[[Any], Rows]) -> None:
    where = span(store)
    found = read(store[where].columns("blocks", ["block_number", *HEADERS]))
    views = [store.header(number) for number in range(where.start, where.stop)]
    assert found["block_number"] == [header.number for header in views]
    for name, attribute in HEADERS.items():
        assert found[name] == [getattr(header, attribute) for header in views], name


@consumers
def test_withdrawals(store: BlockStore, read: Callable[[Any], Rows]) -> None:
    where = span(store)
    found = read(store[where].batches("withdrawals", ["block_number", "amount", "address"]))
    assert list(zip(*found.values(), strict=True)) == [
        (block.number, withdrawal.amount, withdrawal.address)
        for block in store[where] for withdrawal in block.withdrawals or ()]


@consumers
@pytest.mark.parametrize("number", [14_764_013, 15_537_394, 17_034_870, 19_426_587, 22_869_878])
def test_receipts_and_logs(testdata: Path, tmp_path: Path, number: int,
                           read: Callable[[Any], Rows]) -> None:
    block = next((testdata / "singles").glob(f"{number}_*.rlp")).read_bytes()
    receipts = (testdata / f"receipts/portal-{number}.receipts.rlp").read_bytes()
    with blockpack.create(tmp_path / "store") as store:
        store.append(block, receipts=receipts, receipts_form="slim")
        store.seal()
        views = list(store.receipts(number))
        rows = read(store[:].columns("receipts", ["type", "status", "gas_used", "n_logs"]))
        assert list(zip(*rows.values(), strict=True)) == [
            (view.type, view.status, view.gas_used, len(view.logs)) for view in views]
        found = read(store[:].batches("logs", [
            "log_index", "transaction_hash", "address", "topic0", "topic3", "data"]))
        logs = [log for view in views for log in view.logs]
        hashes = [transaction.hash for transaction in store[number].transactions]
        assert logs
        assert found["log_index"] == list(range(len(logs)))
        assert found["transaction_hash"] == [
            hashes[at] for at, view in enumerate(views) for _ in view.logs]
        assert found["address"] == [log.address for log in logs]
        assert found["data"] == [log.data for log in logs]
        for at in (0, 3):
            assert found[f"topic{at}"] == [log.topics[at] if len(log.topics) > at else None
                                           for log in logs]
