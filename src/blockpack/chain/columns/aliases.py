"""Further names of the columns: those of ethereum-etl, and of JSON-RPC as web3 gives it.

A camelCase name is first put into snake case: ``gasPrice`` is ``gas_price``. So here are only the
names that then still differ from ours.
"""

from __future__ import annotations

import re
from typing import Final

_BLOCK: Final = {"block_timestamp": "timestamp"}

ALIASES: Final[dict[str, dict[str, str]]] = {
    "blocks": {
        "number": "block_number", "hash": "block_hash", "miner": "author",
        "sha3_uncles": "uncles_hash", "total_difficulty": "total_difficulty_binary",
        "block_timestamp": "timestamp"},
    "transactions": {
        **_BLOCK, "hash": "transaction_hash", "from": "from_address", "to": "to_address",
        "gas": "gas_limit", "type": "transaction_type", "value": "value_binary",
        "receipt_gas_used": "gas_used"},
    "withdrawals": _BLOCK,
    "receipts": {
        **_BLOCK, "type": "transaction_type"},
    "logs": {**_BLOCK},
}


def snake_case(name: str) -> str:
    """The name with an underscore before each capital, in small letters."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
