"""The Keccak kernel gives what the definition gives, for any bytes and any batch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from reference import keccak as reference

from blockpack._native.keccak import keccak256, keccak256_many


@given(st.binary(max_size=600))
def test_kernel_equals_reference(data: bytes) -> None:
    assert keccak256(data) == reference.keccak256(data)


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_batch_equals_one_by_one(batch: list[bytes]) -> None:
    assert keccak256_many(batch) == [keccak256(data) for data in batch]
