"""One transaction of every type, and blocks of them."""

from __future__ import annotations

from typing import Any

from blocks import header
from reference.rlp import encode
from reference.transaction import ORDERS, build

from blockpack import Block, Transaction

ADDRESS, KEY = b"\xaa" * 20, b"\xbb" * 32
FIELDS: dict[str, Any] = {
    "chain_id": 1, "nonce": 9, "gas_price": 10**9, "max_priority_fee_per_gas": 2,
    "max_fee_per_gas": 3 * 10**9, "gas_limit": 21_000, "to": ADDRESS, "value": 2**255,
    "input": b"call", "access_list": ((ADDRESS, (KEY, KEY)), (ADDRESS, ())),
    "max_fee_per_blob_gas": 5, "blob_versioned_hashes": (KEY,),
    "authorization_list": ((1, ADDRESS, 2**40, 1, 2**200, 7),), "v": 1, "r": 2**256 - 1, "s": 3,
}
KINDS = sorted(ORDERS)


def made(kind: int, **changes: Any) -> bytes:
    return build(kind, {**FIELDS, **changes})


def in_block(*raws: bytes) -> Block:
    items = [raw if raw[0] < 0xC0 else Transaction(raw) for raw in raws]
    body = b"".join(encode(one) if isinstance(one, bytes) else one.raw for one in items)
    data = encode([*header(fields=16)[:15], b"\x05"]), _list(body) + b"\xc0"
    return Block(*data)


def _list(payload: bytes) -> bytes:
    size = len(payload).to_bytes(4, "big").lstrip(b"\0")
    return (bytes((0xC0 + len(payload),)) if len(payload) < 56
            else bytes((0xF7 + len(size),)) + size) + payload
