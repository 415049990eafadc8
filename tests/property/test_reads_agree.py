"""Point, range, slice and batch reads give the same blocks, whatever the store looks like."""

from __future__ import annotations

import tempfile
from pathlib import Path

import chainmaker
from hypothesis import given, settings
from hypothesis import strategies as st

import blockpack
from blockpack import BlockStore

FIRST, COUNT = 37, 60
BLOCKS = chainmaker.chain(COUNT, FIRST, tx_bytes=300)
FORK = chainmaker.chain(COUNT, FIRST + 20, seed=8, tx_bytes=50,
                        parent=chainmaker.hash_of(BLOCKS[19]))

knobs = st.fixed_dictionaries({
    "compression": st.sampled_from(["s2", "zstd", "snappy"]),
    "block_group_size": st.integers(1, 70),
    "segment_blocks": st.integers(1, 70),
    "segment_bytes": st.sampled_from([2000, 1 << 30]),
    "seal_lag": st.sampled_from([0, 10]),
    "seal_dictionary": st.sampled_from(["none", "auto"]),
})
# Where the store is sealed by hand, and whether it is cut and goes on with another fork.
lives = st.tuples(st.sets(st.integers(1, COUNT), max_size=3), st.booleans())
stretches = st.lists(st.tuples(st.integers(0, COUNT), st.integers(0, COUNT)), min_size=1,
                     max_size=5)


def build(path: Path, options: dict[str, object], seals: set[int], forked: bool) -> list[bytes]:
    with blockpack.create(path, **options) as store:  # type: ignore[arg-type]
        for count, block in enumerate(BLOCKS, 1):
            store.append(block)
            if count in seals:
                store.seal()
        if not forked:
            return BLOCKS
        store.truncate(FIRST + 19)
        for block in FORK[:25]:
            store.append(block)
        return BLOCKS[:20] + FORK[:25]


def compare(store: BlockStore, blocks: list[bytes], pairs: list[tuple[int, int]]) -> None:
    assert [store.raw(number) for number in range(FIRST, FIRST + len(blocks))] == blocks
    assert [block.raw for block in store] == blocks
    for low, high in pairs:
        start, stop = sorted((min(low, len(blocks)), min(high, len(blocks))))
        a, b = FIRST + start, FIRST + stop
        expected = blocks[start:stop]
        assert list(store.raw_range(a, b)) == expected
        views = list(store.raw_range(a, b, views=True))
        assert [chainmaker.header_of(block) for block in expected] == [view[0] for view in views]
        assert [chainmaker.body_of(block) for block in expected] == [view[1] for view in views]
        assert [block.raw for block in store[a:b]] == expected
        step = 1 + low % 5
        assert [block.raw for block in store[a:b:step]] == expected[::step]
        numbers = list(range(a, b, step))[::-1]
        assert store.get_many(numbers) == expected[::step][::-1]


@settings(max_examples=15)
@given(knobs, lives, stretches)
def test_reads_agree(options: dict[str, object], life: tuple[set[int], bool],
                     pairs: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        blocks = build(Path(folder) / "store", options, *life)
        for mmap in (True, False):
            with blockpack.open(Path(folder) / "store", mmap=mmap) as store:
                compare(store, blocks, pairs)
        with blockpack.open(Path(folder) / "store", mode="a") as store:
            compare(store, blocks, pairs)
