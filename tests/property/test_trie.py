"""The trie kernel and the slow reference agree on any list of values."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import trie

from blockpack._native.roots import ordered_root

# Around 27 bytes, where a leaf is named by its hash and no longer stands in its parent.
values = st.one_of(st.binary(max_size=2), st.binary(min_size=24, max_size=34),
                   st.binary(min_size=54, max_size=58))


@given(st.lists(values, max_size=40))
def test_short_lists(items: list[bytes]) -> None:
    assert ordered_root(items) == trie.ordered_root(items)


@pytest.mark.parametrize("count", [126, 127, 128, 129, 255, 256, 257, 272, 511, 513])
@pytest.mark.parametrize("size", [0, 1, 33, 300])
def test_where_keys_change_their_length(count: int, size: int) -> None:
    source = random.Random(count * 1000 + size)
    items = [source.randbytes(size) for _ in range(count)]
    assert ordered_root(items) == trie.ordered_root(items)


def test_keys_of_three_bytes() -> None:
    items = [number.to_bytes(4, "big") for number in range(65_600)]
    assert ordered_root(items).hex() == trie.ordered_root(items).hex()


@pytest.mark.parametrize("size", [*range(118, 140), *range(254, 276)])
def test_leaves_around_the_blocks_of_the_hash(size: int) -> None:
    for count in (1, 2, 20):
        items = [bytes((number,)) * size for number in range(count)]
        assert ordered_root(items) == trie.ordered_root(items)
