"""Import of chain files: resumable, and the same import again changes nothing.

A block that the store has already is compared with it, byte for byte; one that differs is a
ForkError. What came before an error is kept and durable, so an import that failed or was killed
is simply run again. Of a gzip member that proves damaged at its end, the blocks up to the first
one that does not have the transactions, uncles and withdrawals that its header names are kept.
"""

from __future__ import annotations

import sys
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from xxhash import xxh3_128_digest

from blockpack._native.keccak import keccak256
from blockpack.chain.formats.block import SourceBlock
from blockpack.chain.formats.era1 import EPOCH_BLOCKS
from blockpack.chain.formats.gzip_stream import DamagedMemberError
from blockpack.chain.formats.source import FileSource, Sources, open_sources
from blockpack.chain.links import Chain
from blockpack.chain.records import CONSENSUS, decode_receipts, encode_difficulty, join, split
from blockpack.chain.roots import body_matches
from blockpack.chain.store import BlockStore, block_records, standing
from blockpack.errors import (
    BlockpackError,
    ChainMismatchError,
    ForkError,
    LimitError,
    SequenceError,
)
from blockpack.store.tables import BODIES, DIFFICULTY, HEADERS, RECEIPTS

# Called with blocks done, bytes of the input done, and the input's bytes (None where unknown).
Progress = Callable[[int, int, "int | None"], None]
Where = str | Path | BinaryIO

# What a machine that loses its power loses of a running import, at most.
SYNC_SECONDS = 5.0
# Blocks between two looks at the clock: 64 sparse ones take about 1 ms.
_TICK_BLOCKS = 64
_REPORT_SECONDS = 0.1


@dataclass(slots=True)
class ImportResult:
    """``appended`` blocks are new, ``skipped`` ones were there; ``nbytes`` is the RLP of both.

    ``passed_over`` are the files of a directory that hold no chain.
    """

    appended: int = 0
    skipped: int = 0
    nbytes: int = 0
    passed_over: list[Path] = field(default_factory=list)


def import_blocks(store: BlockStore, sources: Where | Iterable[Where], *, direct: bool = False,
                  threads: int | None = None, progress: Progress | None = None,
                  epoch_blocks: int = EPOCH_BLOCKS) -> ImportResult:
    """Append the blocks of files, directories, ``"-"`` or open binary files, one after the other.

    ``direct`` packs finalised history straight into sealed segments, with ``threads`` threads
    (None: all cores). Raises what the readers and ``append`` raise, naming file and byte offset;
    ForkError with both hashes for a block that differs from the store's.
    """
    if isinstance(sources, str | Path) or hasattr(sources, "read"):
        sources = [sources]  # type: ignore[list-item]
    opened = [open_sources(where, epoch_blocks) for where in sources]
    run = _Import(store, _Report(progress, opened), direct, threads)
    try:
        for source in opened:
            run.result.passed_over += source.skipped
            _import_source(run, source)
    except BaseException as error:
        with suppress(OSError, BlockpackError):
            run.finish()
            if isinstance(error, DamagedMemberError):
                run.drop_damaged(error.stream_offset)
        raise
    run.finish()
    return run.result


def _import_source(run: _Import, source: Sources) -> None:
    try:
        for file in source:
            with file:
                run.take_file(file)
    except SequenceError:
        source.raise_broken()
        raise


class _Report:
    """Progress over several inputs, at most ten times a second."""

    def __init__(self, progress: Progress | None, sources: list[Sources]) -> None:
        totals = [source.bytes_total for source in sources]
        self._total = None if None in totals else sum(total or 0 for total in totals)
        self._progress = progress
        self._before = 0
        self._last = 0.0

    def tick(self, now: float, result: ImportResult, file: FileSource) -> None:
        if self._progress is not None and now - self._last >= _REPORT_SECONDS:
            self._last = now
            self._progress(result.appended + result.skipped, self._before + file.bytes_read,
                           self._total)

    def file_done(self, result: ImportResult, file: FileSource) -> None:
        self._before += file.bytes_read
        if self._progress is not None:
            self._progress(result.appended + result.skipped, self._before, self._total)


class _Import:
    """One run: compares what is there, and appends the rest through the log or directly."""

    def __init__(self, store: BlockStore, report: _Report, direct: bool, threads: int | None
                 ) -> None:
        self.result = ImportResult()
        self._store = store
        self._report = report
        self._present = _Present(store)
        self._direct = _Direct(store, threads) if direct else None
        self._synced = time.monotonic()
        self._next_new: int | None = None
        self._file_ends = array("Q")  # where the blocks appended from this file end in it

    def take_file(self, file: FileSource) -> None:
        """Every block of one file."""
        self._file_ends = array("Q")
        for count, block in enumerate(file, 1):
            try:
                self._take(block)
            except (SequenceError, ForkError, ChainMismatchError, LimitError) as error:
                error.args = (f"{file.name} at byte {block.offset}: {error.args[0]}",)
                raise
            if count % _TICK_BLOCKS == 0:
                self._tick(file)
        self._report.file_done(self.result, file)

    def _take(self, block: SourceBlock) -> None:
        number = block.spans.number
        self.result.nbytes += len(block.rlp)
        # What follows the block just appended is new: looking it up would cost 3 us.
        if number != self._next_new and self._known(block):
            self.result.skipped += 1
            return
        if self._direct is not None and self._direct.start():
            self._direct.append(block)
        else:
            self._store.append_split(block.rlp, block.spans, block.receipts, block.difficulty,
                                     block.receipts_form or CONSENSUS)
        self.result.appended += 1
        self._next_new = number + 1
        self._file_ends.append(block.offset + len(block.rlp))

    def _known(self, block: SourceBlock) -> bool:
        return self._present.has(block) or (
            self._direct is not None and self._direct.has(block))

    def _tick(self, file: FileSource) -> None:
        now = time.monotonic()
        self._report.tick(now, self.result, file)
        if now - self._synced >= SYNC_SECONDS:
            self._store.sync()
            self._synced = time.monotonic()

    def finish(self) -> None:
        """Publish and make durable what was taken."""
        if self._direct is not None:
            self._direct.finish()
        self._store.sync()

    def drop_damaged(self, stream_offset: int) -> None:
        """Cut the store before the first block of a damaged gzip member that is not sound.

        Its bytes were taken before its checksum could be looked at. Headers are held by the
        parent links; a body is held by the roots in its header.
        """
        head = self._store.head
        if head is None:
            return
        sound = bisect_right(self._file_ends, stream_offset)
        start = head + 1 - len(self._file_ends) + sound
        pairs = self._store.raw_range(start, head + 1, views=True)
        for number, (header, body) in enumerate(pairs, start):
            if not body_matches(header, body):
                self._store.truncate(number - 1)
                return


class _Present:
    """Compares blocks with those that the store holds, reading it by ranges."""

    def __init__(self, store: BlockStore) -> None:
        self._store = store
        self._next: int | None = None
        self._stored: Iterator[tuple[Any, ...]] = iter(())

    def has(self, block: SourceBlock) -> bool:
        """Whether the store has this very block; False past the head.

        ForkError when it has another one; SequenceError before the store's first.
        """
        number = block.spans.number
        head, first = self._store.head, self._store.first
        if head is None or first is None or number > head:
            self._next = None
            return False
        if number < first:
            raise SequenceError(
                f"block {number} is before the store's first, {first}; block {head + 1} is"
                " wanted", have=number, want=head + 1)
        if number != self._next:
            self._stored = self._read(number, head + 1)
        self._compare(block, *next(self._stored))
        self._next = number + 1 if number < head else None
        return True

    def _read(self, start: int, stop: int) -> Iterator[tuple[Any, ...]]:
        return self._store.records.rows((HEADERS, BODIES, RECEIPTS, DIFFICULTY), start, stop)

    def _compare(self, block: SourceBlock, header: memoryview, body: memoryview,
                 receipts: memoryview | None, difficulty: memoryview | None) -> None:
        # Compared as bytes: memoryviews compare item by item, 30 times as slowly.
        if join(header, body) != bytes(block.rlp):
            raise _fork(block, header)
        if receipts is not None and block.receipts is not None:
            stored = decode_receipts(receipts)
            if stored.form == block.receipts_form and stored != block.receipts:
                raise _fork(block, header, "receipts")
        if (difficulty is not None and block.difficulty is not None
                and difficulty != encode_difficulty(block.difficulty)):
            raise _fork(block, header, "total difficulty")


def _fork(block: SourceBlock, header: memoryview, what: str | None = None) -> ForkError:
    return fork_error(block, keccak256(header), what)


def fork_error(block: SourceBlock, have: bytes, what: str | None = None) -> ForkError:
    """The error for a block that is not the one of the hash ``have`` that was taken before."""
    number = block.spans.number
    got = keccak256(split(block.rlp, block.spans)[0])
    if have != got:
        text = (f"block {number} is {got.hex()}, the store has {have.hex()}: this is another"
                " fork; truncate the store first to follow it")
    else:
        text = (f"block {number} has the hash {have.hex()} as in the store, but not the same"
                f" {what or 'body'}: one of the two is damaged")
    return ForkError(text, number=number, have=have, got=got)


class _Direct:
    """Appends straight into sealed segments, once the open log has been filled to a border.

    The store cannot read what is not published yet: of those blocks the hashes are kept, to
    compare with when files overlap. That is 180 bytes a block, 9 MB a segment.
    """

    def __init__(self, store: BlockStore, threads: int | None) -> None:
        self._store = store
        self._threads = threads
        self._context: Any = None
        self._writer: Any = None
        self._chain: Chain | None = None
        self._head: int | None = None
        self._unpublished: dict[int, tuple[bytes, bytes]] = {}

    def has(self, block: SourceBlock) -> bool:
        """Whether this block waits to be published; ForkError when another one does."""
        kept = self._unpublished.get(block.spans.number)
        if kept is None:
            return False
        if kept[1] != xxh3_128_digest(block.rlp):
            raise fork_error(block, kept[0])
        return True

    def start(self) -> bool:
        """Be ready to go direct; False where the open log is not at a border yet."""
        if self._writer is not None:
            return True
        records = self._store.records
        if not records.at_border:
            return False
        self._chain = standing(records)
        self._context = records.direct_writer(self._threads)
        self._writer = self._context.__enter__()
        return True

    def append(self, block: SourceBlock) -> None:
        chain = self._chain
        assert chain is not None
        chain_id = chain.check(block.spans)
        if chain_id is not None:
            self._store.records.set_chain(chain_id, block.spans.number)
            chain.chain_id = chain_id
        header, body = split(block.rlp, block.spans)
        made = block_records(header, body, block.receipts, block.difficulty,
                             block.receipts_form or CONSENSUS)
        try:
            self._writer.append(block.spans.number, made)
        except BaseException:
            self._writer = None
            self._context.__exit__(*sys.exc_info())
            raise
        chain.advance(block.spans, header)
        self._remember(block, chain.head_hash())

    def _remember(self, block: SourceBlock, block_hash: bytes | None) -> None:
        head = self._store.head
        if head != self._head:
            self._head = head
            self._unpublished = {number: kept for number, kept in self._unpublished.items()
                                 if head is None or number > head}
        if block_hash is not None:
            self._unpublished[block.spans.number] = block_hash, xxh3_128_digest(block.rlp)

    def finish(self) -> None:
        """Publish the last segment, short: the blocks before an error are good."""
        if self._writer is not None:
            self._writer = None
            self._context.__exit__(None, None, None)
