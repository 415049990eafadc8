"""Rows of every table the slow and obvious way: a dictionary a row, of what the views say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from blockpack import Block, Receipts, Transaction
from blockpack._native.keccak import keccak256

Row = dict[str, Any]
LEGACY_FIELDS = ("nonce", "gas_limit", "gas_price", "max_priority_fee_per_gas", "max_fee_per_gas",
                 "chain_id", "v", "y_parity", "max_fee_per_blob_gas")
WIDE = {"transactions": ("value", "gas_limit", "gas_price", "max_priority_fee_per_gas",
                         "max_fee_per_gas", "max_fee_per_blob_gas", "v"),
        "blocks": ("difficulty", "gas_limit", "gas_used", "base_fee_per_gas")}


def rows_of(table: str, blocks: list[Block], receipts: list[Receipts] | None,
            chain_id: int | None = None) -> list[Row]:
    """Every column of every row; receipts of each block where the table or column needs them."""
    found = []
    for i, block in enumerate(blocks):
        own = None if receipts is None else receipts[i]
        for index, row in enumerate(_TABLES[table](block, own)):
            common = {"block_number": block.number, "timestamp": block.header.timestamp,
                      "block_hash": keccak256(block.header.raw)}
            if table != "transactions":
                common["chain_id"] = chain_id
            if table in ("transactions", "receipts"):
                common["transaction_index"] = index
            found.append({**common, **row})
    return [{**row, **_forms(table, row)} for row in found]


def _forms(table: str, row: Row) -> Row:
    """The forms of 256-bit numbers."""
    forms: Row = {}
    for name in WIDE.get(table, ()):
        value = row[name]
        forms[f"{name}_binary"] = None if value is None else value.to_bytes(32, "big")
        forms[f"{name}_f64"] = None if value is None else float(value)
        forms[f"{name}_string"] = None if value is None else str(value)
    return forms


def _block(block: Block, receipts: Receipts | None) -> Iterator[Row]:
    names = {"uncles_hash": "sha3_uncles", "author": "miner"}
    header = block.header
    plain = ("parent_hash", "uncles_hash", "author", "state_root", "transactions_root",
             "receipts_root", "logs_bloom", "difficulty", "gas_limit", "gas_used", "extra_data",
             "mix_hash", "nonce", "base_fee_per_gas", "withdrawals_root", "blob_gas_used",
             "excess_blob_gas", "parent_beacon_block_root", "requests_hash")
    yield {**{name: getattr(header, names.get(name, name)) for name in plain},
           "size": len(block.raw), "transaction_count": len(block.transactions),
           "uncle_count": len(block.uncles),
           "withdrawal_count": None if block.withdrawals is None else len(block.withdrawals)}


def _transaction(tx: Transaction) -> Row:
    get: Callable[[str], Any] = (lambda name: getattr(tx, name)) if tx.known else lambda _: None
    row = {name: get(name) for name in LEGACY_FIELDS}
    data = get("input")
    row |= {"transaction_hash": tx.hash, "transaction_type": tx.type, "to_address": get("to"),
            "value": get("value"), "input": data, "n_rlp_bytes": len(tx.raw), "raw": tx.raw,
            "n_input_bytes": None if data is None else len(data),
            "n_input_zero_bytes": None if data is None else data.count(0),
            "n_input_nonzero_bytes": None if data is None else len(data) - data.count(0)}
    for name in ("r", "s"):
        row[name] = None if get(name) is None else get(name).to_bytes(32, "big")
    access, hashes = get("access_list"), get("blob_versioned_hashes")
    authorizations = get("authorization_list")
    row["access_list"] = access if access is None else [
        {"address": address, "storage_keys": list(keys)} for address, keys in access]
    row["blob_versioned_hashes"] = hashes if hashes is None else list(hashes)
    row["authorization_list"] = authorizations if authorizations is None else [
        {"chain_id": one.chain_id.to_bytes(32, "big"), "address": one.address, "nonce": one.nonce,
         "y_parity": one.y_parity, "r": one.r.to_bytes(32, "big"), "s": one.s.to_bytes(32, "big")}
        for one in authorizations]
    return row


def _transactions(block: Block, receipts: Receipts | None) -> Iterator[Row]:
    for i, tx in enumerate(block.transactions):
        row = _transaction(tx)
        if receipts is not None:
            row["gas_used"] = receipts[i].gas_used
            row["success"] = None if receipts[i].status is None else bool(receipts[i].status)
        yield row


def _withdrawals(block: Block, receipts: Receipts | None) -> Iterator[Row]:
    for place, one in enumerate(block.withdrawals or ()):
        yield {"withdrawal_index": place, "index": one.index, "address": one.address,
               "validator_index": one.validator_index, "amount": one.amount}


def _receipts(block: Block, receipts: Receipts | None) -> Iterator[Row]:
    assert receipts is not None
    for i, one in enumerate(receipts):
        yield {"transaction_hash": block.transactions[i].hash, "transaction_type": one.type,
               "status": one.status, "success": None if one.status is None else bool(one.status),
               "root": one.post_state, "cumulative_gas_used": one.cumulative_gas_used,
               "gas_used": one.gas_used, "n_logs": len(one.logs), "logs_bloom": one.bloom}


def _logs(block: Block, receipts: Receipts | None) -> Iterator[Row]:
    assert receipts is not None
    for one in [log for receipt in receipts for log in receipt.logs]:
        topics = [*one.topics, None, None, None, None]
        yield {"transaction_index": one.transaction_index, "log_index": one.log_index,
               "transaction_hash": block.transactions[one.transaction_index].hash,
               "address": one.address, "data": one.data, "n_data_bytes": len(one.data),
               **{f"topic{i}": topics[i] for i in range(4)}}


_TABLES: dict[str, Callable[[Block, Receipts | None], Iterator[Row]]] = {
    "blocks": _block, "transactions": _transactions, "withdrawals": _withdrawals,
    "receipts": _receipts, "logs": _logs}
