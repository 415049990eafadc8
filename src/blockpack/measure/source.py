"""Where measurements take blocks from: a store, chain files, or a chain made up as it is read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeAlias

import blockpack
from blockpack.chain.formats.source import open_sources
from blockpack.store.names import MANIFEST

# Every call starts over from the first block.
Blocks: TypeAlias = Callable[[], Iterable[bytes]]


def blocks_of(where: str | Path, count: int | None = None) -> Blocks:
    """Return the first ``count`` blocks (None: all) of a store's folder or of chain files.

    ``where`` is what ``import`` takes, standard input apart: it is read several times.
    """
    return lambda: islice(_read(Path(where)), count)


def sample_of(where: str | Path, blocks_max: int, bytes_max: int) -> list[bytes]:
    """The latest blocks of a store, or the first ones of chain files, up to either limit.

    The latest ones are the likest to those to come. One block at least, where there is one.
    """
    if (Path(where) / MANIFEST).is_file():
        with blockpack.open(where) as store:
            first, head = store.first, store.head
            newest = (() if first is None or head is None else
                      (store.raw(number) for number in range(head, first - 1, -1)))
            return _within(newest, blocks_max, bytes_max)[::-1]
    return _within(_read(Path(where)), blocks_max, bytes_max)


def _within(blocks: Iterable[bytes], blocks_max: int, bytes_max: int) -> list[bytes]:
    taken: list[bytes] = []
    for block in islice(blocks, blocks_max):
        bytes_max -= len(block)
        if taken and bytes_max < 0:
            break
        taken.append(block)
    return taken


def _read(path: Path) -> Iterator[bytes]:
    if (path / MANIFEST).is_file():
        with blockpack.open(path) as store:
            if store.first is not None and store.head is not None:
                yield from store.raw_range(store.first, store.head + 1)
        return
    for file in open_sources(path):
        with file:
            for block in file:
                yield bytes(block.rlp)


def block_file(blocks: Iterable[bytes]) -> BinaryIO:
    """Return blocks as a file of block RLP, for an import to read to its end."""
    return io.BufferedReader(_BlockStream(blocks), 1 << 20)


class _BlockStream(io.RawIOBase):
    """Hands out one block after the other, in pieces of what is asked for."""

    name = "blocks"

    def __init__(self, blocks: Iterable[bytes]) -> None:
        super().__init__()
        self._blocks = iter(blocks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill ``target`` from the current block, or the next one once it is used up."""
        if not self._rest:
            self._rest = memoryview(next(self._blocks, b""))
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
