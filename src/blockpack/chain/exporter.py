"""Export of blocks as concatenated RLP, or as era1 files.

A file is written under a temporary name, made durable and renamed: what has the final name is
whole. Exporting again gives equal content (an era1's bytes depend on the snappy version).
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from blockpack._native.keccak import keccak256_many
from blockpack._native.rlp import outer_prefix
from blockpack.chain.formats import era1
from blockpack.chain.formats.e2store import VERSION, encode
from blockpack.chain.formats.snappy_frames import deflate
from blockpack.chain.formats.source import STDIN
from blockpack.chain.outfile import WRITE_BYTES, opened, publish, temporary
from blockpack.chain.records import CONSENSUS, decode_difficulty, decode_receipts
from blockpack.chain.store import BlockStore
from blockpack.errors import MissingError
from blockpack.store.tables import BODIES, DIFFICULTY, HEADERS, NAMES, RECEIPTS

# Called with blocks done, bytes written, and None: nobody knows how many there will be.
Progress = Callable[[int, int, "int | None"], None]

_REPORT_BLOCKS = 256
# geth's own names for the networks that have era1 files; others are called by their chain id.
_NETWORKS = {1: "mainnet", 11155111: "sepolia"}


def export_rlp(store: BlockStore, target: str | Path | BinaryIO, start: int | None = None,
               stop: int | None = None, *, compress: bool | None = None,
               progress: Progress | None = None) -> int:
    """Write blocks start..stop - 1 as ``geth export`` does; returns how many.

    ``target`` is a path, ``"-"`` (standard output) or an open binary file. ``compress`` writes
    gzip; None does where the path ends in ``.gz``. Open ends are the store's own.
    """
    start, stop = _span(store, start, stop)
    blocks = store.raw_range(start, stop)
    if isinstance(target, str | Path) and target != STDIN:
        compress = str(target).endswith(".gz") if compress is None else compress
        with opened(Path(target)) as file:
            _write_rlp(blocks, file, compress, progress)
    else:
        file = sys.stdout.buffer if isinstance(target, str | Path) else target
        _write_rlp(blocks, file, bool(compress), progress)
        file.flush()
    return stop - start


def _span(store: BlockStore, start: int | None, stop: int | None) -> tuple[int, int]:
    if store.head is None or store.first is None:
        return 0, 0
    start = store.first if start is None else start
    return start, max(start, store.head + 1 if stop is None else stop)


def _write_rlp(blocks: Iterator[bytes], file: BinaryIO, compress: bool,
               progress: Progress | None) -> None:
    if compress:
        # No name and no time: the same blocks give the same file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            _write_blocks(blocks, cast(BinaryIO, packed), progress)
    else:
        _write_blocks(blocks, file, progress)


def _write_blocks(blocks: Iterator[bytes], file: BinaryIO, progress: Progress | None) -> None:
    pending: list[bytes] = []
    size = done = written = 0
    for block in blocks:
        pending.append(block)
        size += len(block)
        if size >= WRITE_BYTES:
            file.write(b"".join(pending))
            done, written = done + len(pending), written + size
            pending, size = [], 0
            if progress is not None:
                progress(done, written, None)
    file.write(b"".join(pending))
    if progress is not None:
        progress(done + len(pending), written + size, None)


def export_era1(store: BlockStore, folder: str | Path, start: int | None = None,
                stop: int | None = None, *, network: str | None = None,
                epoch_blocks: int = era1.EPOCH_BLOCKS, progress: Progress | None = None
                ) -> list[Path]:
    """Write blocks start..stop - 1 as one era1 file for each epoch that they touch.

    Epochs begin at multiples of ``epoch_blocks`` (at most 8,192). Every block needs consensus
    receipts and a total difficulty: MissingError, before anything is written, where the store
    has none. ``network`` None is taken from the chain id. Returns the paths in order.
    """
    if not 0 < epoch_blocks <= era1.EPOCH_BLOCKS:
        raise ValueError(f"epoch_blocks is {epoch_blocks}; it is from 1 to {era1.EPOCH_BLOCKS}")
    start, stop = _span(store, start, stop)
    for table in (RECEIPTS, DIFFICULTY):
        _require_coverage(store, table, start, stop)
    if network is None:
        network = _NETWORKS.get(store.chain_id or 0, f"chain{store.chain_id or 0}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    written = 0
    for begin, end in _epochs(start, stop, epoch_blocks):
        report = _shifted(progress, begin - start, written)
        epoch = _EpochWriter(store, begin, end, report)
        paths.append(epoch.write(folder, network, begin // epoch_blocks))
        written += epoch.position
    return paths


def _epochs(start: int, stop: int, epoch_blocks: int) -> Iterator[tuple[int, int]]:
    """start..stop cut at the multiples of ``epoch_blocks``."""
    while start < stop:
        end = min(stop, (start // epoch_blocks + 1) * epoch_blocks)
        yield start, end
        start = end


def _shifted(progress: Progress | None, blocks: int, nbytes: int) -> Callable[[int, int], None]:
    """``progress`` for one file of several, after those before it."""
    if progress is None:
        return lambda _blocks, _nbytes: None
    return lambda done, written: progress(blocks + done, nbytes + written, None)


def _require_coverage(store: BlockStore, table: int, start: int, stop: int) -> None:
    at = start
    for first, last in store.coverage(NAMES[table]):
        if first <= at <= last:
            at = last + 1
    if at < stop:
        raise MissingError(f"an era1 file needs the {NAMES[table]} of every block, and the store"
                           f" has none for block {at}")


class _EpochWriter:
    """Writes one era1 file in one pass; the name is known at the end."""

    def __init__(self, store: BlockStore, start: int, stop: int,
                 report: Callable[[int, int], None]) -> None:
        self.position = 0
        self._store = store
        self._start = start
        self._stop = stop
        self._report = report
        self._offsets: list[int] = []
        self._hashes: list[bytes] = []
        self._difficulties: list[int] = []

    def write(self, folder: Path, network: str, epoch: int) -> Path:
        """Write the file into ``folder``; returns its path."""
        with temporary(folder, f"{network}-{epoch:05d}.era1") as (file, written):
            self._put(file, VERSION)
            self._blocks(file)
            root = era1.accumulator(self._hashes, self._difficulties)
            self._put(file, era1.ACCUMULATOR, root)
            at = self.position
            self._put(file, era1.INDEX, era1.encode_index(
                self._start, [offset - at for offset in self._offsets]))
            path = folder / era1.file_name(network, epoch, root)
            publish(file, written, path)
        return path

    def _put(self, file: BinaryIO, kind: bytes, data: bytes = b"") -> None:
        self.position += file.write(encode(kind, data))

    def _blocks(self, file: BinaryIO) -> None:
        rows = self._store.records.rows((HEADERS, BODIES, RECEIPTS, DIFFICULTY), self._start,
                                        self._stop)
        number = self._start
        while batch := list(islice(rows, _REPORT_BLOCKS)):
            self._hashes += keccak256_many([cast(memoryview, row[0]) for row in batch])
            for row in batch:
                self._block(file, number, row)
                number += 1
            self._report(number - self._start, self.position)

    def _block(self, file: BinaryIO, number: int, row: tuple[Any, ...]) -> None:
        header, body, receipts, difficulty = row
        decoded = decode_receipts(receipts)
        if decoded.form != CONSENSUS:
            raise MissingError(f"an era1 file needs receipts in the consensus form; those of block"
                               f" {number} are in the {decoded.form} form")
        self._offsets.append(self.position)
        self._difficulties.append(decode_difficulty(difficulty))
        self._put(file, era1.HEADER, deflate(bytes(header)))
        self._put(file, era1.BODY, deflate(outer_prefix(len(body)) + body))
        self._put(file, era1.RECEIPTS, deflate(decoded))
        self._put(file, era1.DIFFICULTY, bytes(difficulty))
