"""Appending blocks to the open log at the fastest level, sealing, and direct import."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

from data import GROUP_BLOCKS, SEGMENT_BLOCKS, build_store

import blockpack
from blockpack.chain.importer import import_blocks


def bench_append(benchmark: Callable[..., object], codec: str, blocks: list[bytes],
                 tmp_path: Path) -> None:
    """Import at level 1 with no seal running."""
    path = tmp_path / "store"

    def run() -> None:
        shutil.rmtree(path, ignore_errors=True)
        build_store(path, blocks, seal=False, compression=codec, segment_blocks=1 << 20)

    benchmark.pedantic(run, rounds=3)  # type: ignore[attr-defined]
    with blockpack.open(path) as store:
        assert len(store) == len(blocks)


def bench_seal(benchmark: Callable[..., object], codec: str, blocks: list[bytes],
               tmp_path: Path) -> None:
    """One segment re-packed from the open log, read back and published."""
    path = tmp_path / "store"

    def setup() -> tuple[tuple[blockpack.BlockStore], dict[str, object]]:
        shutil.rmtree(path, ignore_errors=True)
        build_store(path, blocks[:SEGMENT_BLOCKS], seal=False, compression=codec,
                    segment_blocks=1 << 20, block_group_size=GROUP_BLOCKS)
        return (blockpack.open(path, mode="a"),), {}

    def run(store: blockpack.BlockStore) -> None:
        with store:
            store.seal()

    benchmark.pedantic(run, setup=setup, rounds=3)  # type: ignore[attr-defined]
    with blockpack.open(path) as store:
        assert len(store) == SEGMENT_BLOCKS


def bench_direct(benchmark: Callable[..., object], codec: str, blocks: list[bytes],
                 tmp_path: Path) -> None:
    """Direct import of a block file: parse, pack on all cores, seal."""
    path, source = tmp_path / "store", b"".join(blocks)

    def run() -> None:
        shutil.rmtree(path, ignore_errors=True)
        with blockpack.create(path, compression=codec, segment_blocks=SEGMENT_BLOCKS) as store:
            import_blocks(store, io.BytesIO(source), direct=True)

    benchmark.pedantic(run, rounds=3)  # type: ignore[attr-defined]
    with blockpack.open(path) as store:
        assert len(store) == len(blocks)
