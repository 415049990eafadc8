"""Transactions the slow and obvious way: a whole tree, then a name for each item of it."""

from __future__ import annotations

from typing import Any

from reference.rlp import Tree, decode, encode, integer

# The orders of EIP-155, 2930, 1559, 4844 and 7702.
_FEES = "max_priority_fee_per_gas max_fee_per_gas"
_CALL = "gas_limit to value input"
ORDERS = {
    0: f"nonce gas_price {_CALL} v r s".split(),
    1: f"chain_id nonce gas_price {_CALL} access_list v r s".split(),
    2: f"chain_id nonce {_FEES} {_CALL} access_list v r s".split(),
    3: (f"chain_id nonce {_FEES} {_CALL} access_list max_fee_per_blob_gas "
        "blob_versioned_hashes v r s").split(),
    4: f"chain_id nonce {_FEES} {_CALL} access_list authorization_list v r s".split(),
}
_BYTES = {"to", "input"}
_LISTS = {"access_list", "blob_versioned_hashes", "authorization_list"}


def build(kind: int, fields: dict[str, Any]) -> bytes:
    """The RLP that is hashed, of Python values as ``fields_of`` gives them."""
    items = [_tree(name, fields[name]) for name in ORDERS[kind]]
    return (bytes((kind,)) if kind else b"") + encode(items)


def _tree(name: str, value: Any) -> Tree:
    if name == "access_list":
        return [[address, list(keys)] for address, keys in value]
    if name == "authorization_list":
        return [[integer(chain), address, integer(nonce), integer(y), integer(r), integer(s)]
                for chain, address, nonce, y, r, s in value]
    if name == "blob_versioned_hashes":
        return list(value)
    return (value or b"") if name in _BYTES else integer(value)


def fields_of(raw: bytes) -> dict[str, Any]:
    """Every field of a well-formed transaction of type 0 to 4."""
    kind = raw[0] if raw[0] < 0xC0 else 0
    items = decode(raw[1:] if kind else raw)
    assert isinstance(items, list)
    fields = {name: _value(name, item) for name, item in zip(ORDERS[kind], items, strict=True)}
    fields["to"] = fields["to"] or None
    return fields


def _value(name: str, item: Any) -> Any:
    if name == "access_list":
        return tuple((address, tuple(keys)) for address, keys in item)
    if name == "authorization_list":
        return tuple((_int(chain), address, *map(_int, rest)) for chain, address, *rest in item)
    if name == "blob_versioned_hashes":
        return tuple(item)
    return item if name in _BYTES else _int(item)


def _int(digits: bytes) -> int:
    return int.from_bytes(digits, "big")
