"""Transactions in the shape of JSON-RPC."""

from __future__ import annotations

from txkit import ADDRESS, KEY, in_block, made

from blockpack import Transaction

# in_block's header has a base fee of 5.
LEGACY = {"hash", "type", "nonce", "gas", "value", "gasPrice", "to", "input", "v", "r", "s"}
TYPED = LEGACY | {"chainId", "accessList", "yParity"}
FEES = TYPED | {"maxFeePerGas", "maxPriorityFeePerGas"}
PLACE = {"blockHash", "blockNumber", "transactionIndex"}


def test_names_by_type() -> None:
    expected = [LEGACY, TYPED, FEES, FEES | {"maxFeePerBlobGas", "blobVersionedHashes"},
                FEES | {"authorizationList"}]
    for kind, names in enumerate(expected):
        assert set(Transaction(made(kind)).to_rpc()) == names
        assert set(in_block(made(kind)).transactions[0].to_rpc()) == names | PLACE


def test_values() -> None:
    values = in_block(made(0), made(4)).transactions[1].to_rpc()
    address = "0x" + "aa" * 20
    assert values | {"hash": "", "blockHash": ""} == {
        "hash": "", "blockHash": "", "blockNumber": "0x7", "transactionIndex": "0x1",
        "type": "0x4", "chainId": "0x1", "nonce": "0x9", "gas": "0x5208",
        "value": "0x8" + "0" * 63, "maxPriorityFeePerGas": "0x2", "maxFeePerGas": "0xb2d05e00",
        "gasPrice": "0x7", "to": address, "input": "0x" + b"call".hex(), "v": "0x1",
        "yParity": "0x1", "r": "0x" + "f" * 64, "s": "0x3",
        "accessList": [{"address": address, "storageKeys": ["0x" + "bb" * 32] * 2},
                       {"address": address, "storageKeys": []}],
        "authorizationList": [{"chainId": "0x1", "address": address, "nonce": hex(2**40),
                               "yParity": "0x1", "r": hex(2**200), "s": "0x7"}]}
    blobs = Transaction(made(3)).to_rpc()
    assert blobs["blobVersionedHashes"] == ["0x" + KEY.hex()]
    assert ADDRESS.hex() in blobs["to"]


def test_price_that_was_paid() -> None:
    """Base fee and tip, at most the cap; the cap where no block says a base fee."""
    def price(**fees: int) -> str:
        paid: str = in_block(made(2, **fees)).transactions[0].to_rpc()["gasPrice"]
        return paid

    assert price(max_priority_fee_per_gas=2, max_fee_per_gas=100) == hex(7)
    assert price(max_priority_fee_per_gas=2, max_fee_per_gas=6) == hex(6)
    assert Transaction(made(2)).to_rpc()["gasPrice"] == hex(3 * 10**9)
    assert Transaction(made(1)).to_rpc()["gasPrice"] == hex(10**9)
