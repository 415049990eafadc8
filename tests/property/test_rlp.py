"""The RLP kernel and the slow reference agree on anything: result, error, text and offset."""

from __future__ import annotations

from typing import Any

import pytest
from blocks import decode_with_kernel, header, kernel_outcome, reference_outcome
from hypothesis import given
from hypothesis import strategies as st
from reference import rlp as reference
from reference.rlp import Tree, encode
from rlpstrategies import blocks, damaged, trees

from blockpack._native import rlp
from blockpack.errors import BlockpackError, CorruptError, LimitError


@given(trees)
def test_trees_come_back(tree: Tree) -> None:
    assert decode_with_kernel(encode(tree)) == tree
    assert reference.decode(encode(tree)) == tree


@given(blocks)
def test_blocks_split_as_the_reference_splits_them(data: bytes) -> None:
    assert kernel_outcome(data) == reference_outcome(data)


@given(blocks)
def test_split_and_join_are_inverse(data: bytes) -> None:
    if isinstance(kernel_outcome(data), str):
        return
    spans = rlp.split_block(data)
    assert spans.end == len(data)
    joined = rlp.join_block(data[spans.header_start : spans.header_end],
                            data[spans.header_end : spans.end])
    assert joined == data


@given(damaged(blocks), st.integers(0, 3))
def test_damaged_blocks_fail_alike(data: bytes, start: int) -> None:
    shifted = b"\xf9\x01\x02"[:start] + data
    assert kernel_outcome(shifted, start) == reference_outcome(shifted, start)


@given(st.one_of(st.binary(max_size=40), damaged(st.builds(encode, trees))))
def test_any_bytes_decode_alike(data: bytes) -> None:
    try:
        expected: Any = reference.decode(data)
    except reference.Refused:
        with pytest.raises((BlockpackError, ValueError)):
            decode_with_kernel(data)
    else:
        assert decode_with_kernel(data) == expected


@given(st.one_of(st.binary(max_size=12), st.builds(encode, trees)), st.integers(0, 2**30))
def test_announced_sizes_are_alike(data: bytes, limit: int) -> None:
    try:
        expected = reference.announced(data, limit)
    except reference.Refused as error:
        kind = LimitError if error.code == "TOO_LARGE" else CorruptError
        with pytest.raises(kind):
            rlp.block_size(data, 0, limit)
    else:
        assert rlp.block_size(data, 0, limit) == expected


@given(st.integers(0, 2**64 - 1))
def test_prefix_announces_its_size(size: int) -> None:
    prefix = rlp.outer_prefix(size)
    assert reference.announced(prefix, 2**65) == len(prefix) + size


@given(trees)
def test_kernel_reads_what_pyrlp_writes(tree: Tree) -> None:
    pyrlp = pytest.importorskip("rlp")
    assert encode(tree) == pyrlp.encode(tree)
    assert decode_with_kernel(pyrlp.encode(tree)) == tree


@given(st.one_of(st.binary(max_size=40), damaged(st.builds(encode, trees))))
def test_kernel_refuses_what_pyrlp_refuses(data: bytes) -> None:
    pyrlp = pytest.importorskip("rlp")
    try:
        expected = pyrlp.decode(data, strict=True)
    except pyrlp.DecodingError:
        with pytest.raises((BlockpackError, ValueError)):
            decode_with_kernel(data)
    else:
        assert decode_with_kernel(data) == expected


def test_header_builder_makes_the_fields_it_says() -> None:
    assert [len(header(fields=count)) for count in (15, 17, 21)] == [15, 17, 21]
