"""What the lines are measured on: one synthetic chain and the stores made of it, as needed."""

from __future__ import annotations

import io
import shutil
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import blockpack
from blockpack.chain.importer import import_blocks
from blockpack.measure.synthetic import SyntheticChain


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything. Dense blocks are 90 KB."""

    blocks: int             # of the stores that are read
    segment_blocks: int
    group_blocks: int
    rounds: int
    append_blocks: int      # of one append run
    sealed_segments: int    # of the store that is opened
    log_blocks: int
    memory_blocks: int
    # Between cold reads: what one side brings in beside its frame (128 KB of read-ahead) must not
    # warm the other side's next.
    apart_bytes: int


# 2,048 blocks are 190 MB: 32 groups of 64, 30 times what the default cache holds, in 4 segments.
FULL = Sizes(2048, 512, 64, 9, 512, 1000, 25_000, 50_000, 1 << 20)
SHORT = Sizes(2048, 512, 64, 9, 512, 1000, 25_000, 4_000, 1 << 20)
TINY = Sizes(64, 16, 4, 1, 16, 12, 40, 48, 64 << 10)


class Bench:
    """Blocks, stores and a folder to work in, shared by all sections of one run."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self.folder = folder
        self.sizes = sizes
        self._made: dict[tuple[str, int], Path] = {}
        self._names = 0

    @cached_property
    def blocks(self) -> list[bytes]:
        return list(islice(iter(SyntheticChain(seed=1)), self.sizes.blocks))

    @cached_property
    def block_file(self) -> bytes:
        return b"".join(self.blocks)

    @property
    def megabytes(self) -> float:
        return len(self.block_file) / 1e6

    def new_path(self) -> Path:
        """A name in the working folder that nothing has yet."""
        self._names += 1
        return self.folder / f"{self._names:04d}"

    def sealed(self, codec: str, group: int) -> Path:
        """A sealed store of all blocks, in several segments."""
        key = codec, group
        if key not in self._made:
            path = self.new_path()
            with blockpack.create(path, compression=codec, block_group_size=group,
                                  segment_blocks=self.sizes.segment_blocks) as store:
                import_blocks(store, io.BytesIO(self.block_file), direct=True)
            self._made[key] = path
        return self._made[key]


def remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


def folder_bytes(path: Path) -> int:
    """Sum of the sizes of all files."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
