"""Slices by absolute number."""

from __future__ import annotations

from pathlib import Path

import chainmaker
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blockpack
from blockpack.chain.ranges import clamped

FIRST, COUNT = 100, 40
BLOCKS = chainmaker.chain(COUNT, FIRST)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> blockpack.BlockStore:
    path = tmp_path_factory.mktemp("ranges") / "store"
    with blockpack.create(path, block_group_size=8, segment_blocks=25) as made:
        for block in BLOCKS:
            made.append(block)
        made.seal()
    return blockpack.open(path)


bounds = st.none() | st.integers(-60, 200)


@given(bounds, bounds, st.none() | st.integers(-30, 30).filter(bool))
def test_clamps_like_a_sequence(start: int | None, stop: int | None, step: int | None) -> None:
    """By brute force: the numbers that the bounds allow, every step-th from the first of them."""
    head = FIRST + COUNT - 1
    low, high = (None if bound is None else bound + head + 1 if bound < 0 else bound
                 for bound in (start, stop))
    if (step or 1) > 0:
        allowed = [n for n in range(FIRST, head + 1)
                   if (low is None or n >= low) and (high is None or n < high)]
    else:
        allowed = [n for n in range(head, FIRST - 1, -1)
                   if (low is None or n <= low) and (high is None or n > high)]
    assert list(clamped(slice(start, stop, step), FIRST, head)) == allowed[::abs(step or 1)]


def test_a_step_of_zero_and_an_empty_store() -> None:
    with pytest.raises(ValueError, match="zero"):
        clamped(slice(None, None, 0), 0, 9)
    assert clamped(slice(3, 5), None, None) == range(0)
    assert clamped(slice(3, 5), 7, None) == range(0)


@pytest.mark.parametrize("step", [1, 2, 7, 16, 17, 30, -1, -3, -16, -17])
def test_iteration_gives_the_blocks_again_and_again(store: blockpack.BlockStore, step: int
                                                    ) -> None:
    blocks = store[::step]
    expected = BLOCKS[::step]
    assert len(blocks) == len(expected)
    for _ in range(2):
        assert [block.raw for block in blocks] == expected
    assert [block.raw for block in reversed(blocks)] == expected[::-1]


def test_positions_and_slices_of_a_range(store: blockpack.BlockStore) -> None:
    blocks = store[110:130:2]
    assert blocks.numbers == range(110, 130, 2)
    assert blocks[0].number == 110
    assert blocks[-1].number == 128
    assert blocks[2:4].numbers == range(114, 118, 2)
    assert [block.number for block in blocks[::-3]] == [128, 122, 116, 110]
    with pytest.raises(IndexError):
        blocks[10]


def test_membership_and_equality(store: blockpack.BlockStore) -> None:
    blocks = store[110:120]
    assert store[111] in blocks
    assert 111 in blocks
    assert store[109] not in blocks
    assert 120 not in blocks
    assert blocks == store[110:120]
    assert blocks != store[110:121]
    assert len({blocks, store[110:120]}) == 1
    assert "range(110, 120)" in repr(blocks)


def test_one_inflation_a_group(store: blockpack.BlockStore) -> None:
    for step in (1, 3):
        store.counters.reset()
        assert len(list(store[::step])) == len(BLOCKS[::step])
        # 40 blocks from 100 in groups of 8, cut at 125: 4 + 2 groups, of headers and of bodies.
        assert store.counters.frames_inflated == 2 * (4 + 2)


def test_nothing_is_read_before_it_is_asked_for(store: blockpack.BlockStore) -> None:
    store.counters.reset()
    blocks = store[100:140]
    assert len(blocks) == 40
    assert store.counters.frames_inflated == 0


def test_an_empty_range(store: blockpack.BlockStore, tmp_path: Path) -> None:
    assert list(store[500:600]) == []
    assert list(store[130:120]) == []
    with blockpack.create(tmp_path / "empty") as empty:
        assert list(empty[:]) == list(empty) == []
