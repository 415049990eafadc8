"""Views and nested lists agree with the slow reference, and with pyrlp, on anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import rlp as reference
from reference import transaction as slow
from rlpstrategies import blocks, damaged, trees

from blockpack import Block, BlockpackError, CorruptError, Transaction, rlp
from blockpack._native.rlp import split_block

words = st.integers(0, 2**256 - 1)
counts = st.integers(0, 2**64 - 1)
addresses = st.binary(min_size=20, max_size=20)
keys = st.binary(min_size=32, max_size=32)
fields = st.fixed_dictionaries({
    **dict.fromkeys(["chain_id", "nonce", "gas_limit"], counts),
    **dict.fromkeys(["gas_price", "max_priority_fee_per_gas", "max_fee_per_gas", "value",
                     "max_fee_per_blob_gas", "v", "r", "s"], words),
    "to": st.one_of(st.none(), addresses), "input": st.binary(max_size=80),
    "access_list": st.lists(st.tuples(addresses, st.lists(keys, max_size=3).map(tuple)),
                            max_size=3).map(tuple),
    "blob_versioned_hashes": st.lists(keys, max_size=3).map(tuple),
    "authorization_list": st.lists(st.tuples(words, addresses, counts, st.integers(0, 255),
                                             words, words), max_size=2).map(tuple),
})
raws = st.builds(slow.build, st.integers(0, 4), fields)


@given(raws)
def test_fields_are_those_of_the_reference(raw: bytes) -> None:
    one = Transaction(raw)
    for name, value in slow.fields_of(raw).items():
        assert getattr(one, name) == value, name


@given(damaged(raws))
def test_damaged_ones_give_errors_or_what_is_there(raw: bytes) -> None:
    try:
        one = Transaction(raw)
        one.to_dict()
    except BlockpackError:
        return
    assert one.raw == raw
    if one.known:
        kind = one.type
        items: Any = rlp.decode(raw[1:] if kind else raw, strict=False)
        assert len(items) == len(slow.ORDERS[kind])


@given(st.one_of(blocks, damaged(blocks)))
def test_any_block_gives_views_or_errors(data: bytes) -> None:
    try:
        spans = split_block(data)
    except BlockpackError:
        return
    one = Block(data[spans.header_start:spans.header_end], data[spans.header_end:spans.end])
    assert one.raw == data[:spans.end]
    try:
        one.to_dict()
        one.to_rpc()
    except CorruptError as error:
        offset = error.offset
    else:
        offset = 0
    assert offset is not None
    assert offset <= one.size


@given(trees)
def test_nested_lists_come_back(tree: Any) -> None:
    data = rlp.encode(tree)
    assert data == reference.encode(tree)
    assert rlp.decode(data) == rlp.decode(data, strict=False) == tree


@given(st.one_of(st.binary(max_size=40), damaged(st.builds(reference.encode, trees))))
def test_any_bytes_decode_as_pyrlp_decodes_them(data: bytes) -> None:
    pyrlp = pytest.importorskip("rlp")
    try:
        expected = pyrlp.decode(data, strict=True)
    except pyrlp.DecodingError:
        with pytest.raises(BlockpackError):
            rlp.decode(data)
    else:
        assert rlp.decode(data) == expected
        assert rlp.encode(expected) == data
