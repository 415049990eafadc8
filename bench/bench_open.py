"""Opening a store: sealed segments in the manifest, and an open log with its index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from data import SEGMENT_BLOCKS, build_store

import blockpack


@pytest.fixture(scope="module")
def half_full(blocks: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Segments of 4 blocks, and as many blocks in the log as the other benches seal at once."""
    path = tmp_path_factory.mktemp("open") / "store"
    sealed = len(blocks) - SEGMENT_BLOCKS
    build_store(path, blocks[:sealed], segment_blocks=4)
    with blockpack.open(path, mode="a", segment_blocks=1 << 20) as store:
        for block in blocks[sealed:]:
            store.append(block)
    return path


@pytest.mark.parametrize("mode", ["r", "a"])
def bench_open(benchmark: Callable[..., object], half_full: Path, blocks: list[bytes],
               mode: str) -> None:
    def run() -> int | None:
        with blockpack.open(half_full, mode=mode) as store:
            return store.head

    assert benchmark(run) == len(blocks) - 1


def bench_open_and_read(benchmark: Callable[..., object], half_full: Path,
                        blocks: list[bytes]) -> None:
    """The first block of a store just opened: its segment's files and their index as well."""
    def run() -> bytes:
        with blockpack.open(half_full) as store:
            return store.raw(0)

    assert benchmark(run) == blocks[0]
