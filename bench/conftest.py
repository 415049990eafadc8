"""Stores that several suites read, built once per session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from data import GROUP_BLOCKS, build_store, synthetic_blocks

import blockpack


@pytest.fixture(scope="session")
def blocks() -> list[bytes]:
    return synthetic_blocks()


@pytest.fixture(scope="session", params=["s2", "zstd", "snappy"])
def codec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session", params=[1, GROUP_BLOCKS], ids=["single", "grouped"])
def store(request: pytest.FixtureRequest, codec: str, blocks: list[bytes],
          tmp_path_factory: pytest.TempPathFactory) -> Iterator[blockpack.BlockStore]:
    """A sealed store open for reading: several segments, default cache."""
    path = tmp_path_factory.mktemp("bench") / "store"
    build_store(path, blocks, compression=codec, block_group_size=request.param)
    with blockpack.open(path) as opened:
        yield opened
