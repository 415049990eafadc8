"""The main job on a made-up chain: import it, seal it, read it back, and what groups are worth.

The chain is synthetic and says so. Its bytes are the same everywhere, so sizes compare between
machines and versions; times are this machine's.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import blockpack
from blockpack.measure import machine
from blockpack.measure.source import Blocks, blocks_of
from blockpack.measure.synthetic import SyntheticChain
from blockpack.measure.tuning import (
    GROUP_SIZES,
    BuiltStore,
    GroupTable,
    Progress,
    build_direct,
    table_of_stores,
    timed_append,
)

BLOCKS = 1024  # eight groups of 128, and 92 MB
COMPRESSIONS = ("s2", "zstd")
LOG_GROUP_SIZE = 64  # the default, so the one that goes the way of a running node
NOTE = ("synthetic blocks: made up, fitted to the statistics of dense mainnet blocks of 2023-24;"
        " real chains differ")


@dataclass(frozen=True)
class ImportFigures:
    """One codec at the default group size: append to the open log at level 1, then seal."""

    compression: str
    append_seconds: float
    seal_seconds: float
    open_bytes: int
    sealed_bytes: int


@dataclass(frozen=True)
class DemoResult:
    """What the demo measured; ``note`` says what kind of blocks it was measured on."""

    note: str
    machine: str
    seed: int
    blocks: int
    raw_bytes: int
    make_seconds: float
    imports: list[ImportFigures]
    tables: list[GroupTable]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)


def run(blocks: int = BLOCKS, *, seed: int = 0, compressions: tuple[str, ...] = COMPRESSIONS,
        group_sizes: tuple[int, ...] = GROUP_SIZES, folder: str | Path | None = None,
        progress: Progress | None = None) -> DemoResult:
    """Run the demo in a temporary folder (inside ``folder``), which is gone when it returns.

    ``progress`` is called with what is being done, steps done and steps in all. 1,024 blocks
    take 330 MB of disk meanwhile.
    """
    start = time.perf_counter()
    sizes = sorted({1, LOG_GROUP_SIZE, *group_sizes})
    steps = _Steps(progress, 1 + len(compressions) * (len(sizes) + 1))
    imports, tables = [], []
    with tempfile.TemporaryDirectory(prefix="blockpack-demo-", dir=folder) as where:
        steps.next(f"making {blocks} synthetic blocks")
        chain = Path(where) / "chain.rlp"
        make_seconds, raw_bytes = _write_chain(chain, blocks, seed)
        for compression in compressions:
            with tempfile.TemporaryDirectory(dir=where) as stores:
                figures, table = _measure(blocks_of(chain), Path(stores), compression, sizes,
                                          steps)
            imports.append(figures)
            tables.append(table)
    return DemoResult(NOTE, machine.describe(), seed, blocks, raw_bytes, make_seconds, imports,
                      tables, time.perf_counter() - start)


class _Steps:
    """Counts the steps of a run for whoever watches it."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def next(self, what: str) -> None:
        """Say which step begins."""
        if self._progress is not None:
            self._progress(what, self._done, self._total)
        self._done += 1


def _write_chain(path: Path, blocks: int, seed: int) -> tuple[float, int]:
    """Write the chain as a block file; return the seconds that took, and its bytes."""
    start = time.perf_counter()
    with path.open("wb") as file:
        for block in islice(SyntheticChain(seed=seed), blocks):
            file.write(block)
    return time.perf_counter() - start, path.stat().st_size


def _measure(blocks: Blocks, folder: Path, compression: str, sizes: list[int], steps: _Steps
             ) -> tuple[ImportFigures, GroupTable]:
    """One codec: a store for each group size, and reads of all of them."""
    steps.next(f"{compression}: importing and sealing groups of {LOG_GROUP_SIZE}")
    figures = _import_and_seal(blocks, folder / str(LOG_GROUP_SIZE), compression)
    built = {}
    for size in sizes:
        if size == LOG_GROUP_SIZE:
            seconds = figures.append_seconds + figures.seal_seconds
            built[size] = BuiltStore(folder / str(size), seconds)
        else:
            steps.next(f"{compression}: importing groups of {size} directly")
            built[size] = build_direct(folder / str(size), blocks(), compression=compression,
                                       block_group_size=size)
    steps.next(f"{compression}: reading")
    return figures, table_of_stores(built)


def _import_and_seal(blocks: Blocks, path: Path, compression: str) -> ImportFigures:
    with blockpack.create(path, compression=compression,
                          block_group_size=LOG_GROUP_SIZE) as store:
        append_seconds, _, _ = timed_append(store, blocks())
        open_bytes = store.info()["open_bytes"]
        start = time.perf_counter()
        store.seal()
        seal_seconds = time.perf_counter() - start
        sealed_bytes = store.info()["sealed_bytes"]
    return ImportFigures(compression, append_seconds, seal_seconds, open_bytes, sealed_bytes)
