"""A transaction in the shape of JSON-RPC, as the execution-apis specification has it.

Quantities are hex without leading zeros, data is hex of two digits a byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blockpack._native.header import Header
    from blockpack._native.transaction import Transaction

# Field -> its name in JSON-RPC, of the plain integers and bytes.
QUANTITIES = {
    "chain_id": "chainId", "nonce": "nonce", "gas_limit": "gas", "value": "value",
    "max_priority_fee_per_gas": "maxPriorityFeePerGas", "max_fee_per_gas": "maxFeePerGas",
    "max_fee_per_blob_gas": "maxFeePerBlobGas", "v": "v", "r": "r", "s": "s",
}


def data(value: bytes) -> str:
    return "0x" + value.hex()


def transaction(tx: Transaction, header: Header | None, *, sender: bool) -> dict[str, Any]:
    """The object of eth_getTransactionByHash; without the block's fields if there is no header."""
    values: dict[str, Any] = {"hash": data(tx.hash), "type": hex(tx.type)}
    if header is not None:
        values |= {"blockHash": data(header.hash), "blockNumber": hex(header.number),
                   "transactionIndex": hex(tx.index or 0)}
    if not tx.known:
        return values | {"raw": data(tx.raw)}
    for name, rpc in QUANTITIES.items():
        value = getattr(tx, name)
        if value is not None:
            values[rpc] = hex(value)
    values["gasPrice"] = hex(paid_price(tx, header))
    values["to"] = None if tx.to is None else data(tx.to)
    values["input"] = data(tx.input)
    if sender:
        values["from"] = data(tx.sender)
    if tx.type > 0:
        values["yParity"] = values["v"]
    return values | lists(tx)


def paid_price(tx: Transaction, header: Header | None) -> int:
    """What a unit of gas cost: from type 2 on the base fee and the tip that fits under the cap."""
    if tx.gas_price is not None:
        return tx.gas_price
    cap, tip = tx.max_fee_per_gas or 0, tx.max_priority_fee_per_gas or 0
    base_fee = None if header is None else header.base_fee_per_gas
    return cap if base_fee is None else min(cap, base_fee + tip)


def lists(tx: Transaction) -> dict[str, Any]:
    """The fields that are lists, of the types that have them."""
    values: dict[str, Any] = {}
    if tx.access_list is not None:
        values["accessList"] = [
            {"address": data(address), "storageKeys": [data(key) for key in keys]}
            for address, keys in tx.access_list]
    if tx.blob_versioned_hashes is not None:
        values["blobVersionedHashes"] = [data(one) for one in tx.blob_versioned_hashes]
    if tx.authorization_list is not None:
        values["authorizationList"] = [
            {"chainId": hex(one.chain_id), "address": data(one.address), "nonce": hex(one.nonce),
             "yParity": hex(one.y_parity), "r": hex(one.r), "s": hex(one.s)}
            for one in tx.authorization_list]
    return values
