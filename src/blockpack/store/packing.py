"""Packing consecutive numbers into one sealed segment: a file per table, read back before use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from typing import NamedTuple

from blockpack._native.counters import Counters
from blockpack.errors import CorruptError
from blockpack.segment import choosing
from blockpack.segment.codecs import get_codec, parse_level
from blockpack.segment.digest import Digest
from blockpack.segment.grouping import Grouping
from blockpack.segment.reader import SegmentReader
from blockpack.segment.writer import SegmentSummary, SegmentWriter
from blockpack.store import names, tables
from blockpack.store.fs import FileSystem
from blockpack.store.knobs import Knobs
from blockpack.store.manifest import SegmentRow, TableFile

Check = Callable[[], None]


class Recipe(NamedTuple):
    """Everything but the records that decides a segment's bytes, and where it goes."""

    store: str
    first: int
    generation: int
    chain_id: int  # 0: not known by the segment's last number
    knobs: Knobs


def is_linked(table: int, knobs: Knobs) -> bool:
    """Whether a table's records hold the hash of the one before."""
    return table == tables.HEADERS and knobs.links == "hash"


def grouping_of(records: Iterable[bytes | None], knobs: Knobs, tier: str, *, linked: bool,
                check: Check, executor: Executor | None = None) -> Grouping:
    """The grouping that TableWriter gives these records; it reads no more of them than it must."""
    if knobs.seal_dictionary == "none":
        return Grouping(knobs.block_group_size)
    sample: list[bytes | None] = []
    sample_bytes = 0
    whole = True
    for record in records:
        sample.append(record)
        sample_bytes += 0 if record is None else len(record)
        if choosing.is_enough(len(sample), sample_bytes, tier):
            whole = False
            break
    return choosing.choose(sample, get_codec(knobs.compression), tier, knobs.block_group_size,
                           whole=whole, linked=linked, check=check, executor=executor)


class TableWriter:
    """Writes one table's file, of which the first records may have to say how it is grouped.

    Until that is decided nothing is on disk, and the records are kept; they must not change until
    ``finish``. ``start(grouping)`` makes the writer. ``linked`` records hold the hash of the one
    before.
    """

    def __init__(self, knobs: Knobs, tier: str, start: Callable[[Grouping], SegmentWriter], *,
                 linked: bool, check: Check, executor: Executor | None) -> None:
        self._linked = linked
        self._check = check
        self._executor = executor
        self._knobs = knobs
        self._tier = tier
        self._start = start
        self._sample: list[bytes | None] = []
        self._sample_bytes = 0
        self._writer: SegmentWriter | None = None
        if knobs.seal_dictionary == "none":
            self._writer = start(Grouping(knobs.block_group_size))

    def add(self, record: bytes | None) -> None:
        """Take the record of the next number; None when it is absent."""
        if self._writer is not None:
            self._writer.add(record)
            return
        self._sample.append(record)
        self._sample_bytes += 0 if record is None else len(record)
        if choosing.is_enough(len(self._sample), self._sample_bytes, self._tier):
            self._decide(whole=False)

    def finish(self) -> SegmentSummary:
        """Write what is left and make the file durable."""
        return (self._writer or self._decide(whole=True)).finish()

    def abort(self) -> None:
        """Give up and remove the file."""
        if self._writer is not None:
            self._writer.abort()

    def _decide(self, whole: bool) -> SegmentWriter:
        knobs = self._knobs
        self._writer = self._start(choosing.choose(
            self._sample, get_codec(knobs.compression), self._tier, knobs.block_group_size,
            whole=whole, linked=self._linked, check=self._check, executor=self._executor))
        sample, self._sample = self._sample, []
        for record in sample:
            self._writer.add(record)
        return self._writer


class Packer:
    """Writes one segment. add() in number order, then finish() or abort().

    Files have a temporary last number in their name until finish() knows it; none of them counts
    before a manifest names it. ``check()`` is called once a group while groupings are tried and
    while files are read back, and may raise to give up.
    """

    def __init__(self, recipe: Recipe, fs: FileSystem, executor: Executor | None = None,
                 window: int = 4, check: Check = lambda: None) -> None:
        self._check = check
        self.recipe = recipe
        self.count = 0
        self._fs = fs
        self._executor = executor
        self._window = window
        self._tier = parse_level(recipe.knobs.compression, recipe.knobs.seal_compression_level)
        self._writers: dict[int, TableWriter] = {}
        self._paths: list[str] = []
        self.digests: dict[int, Digest] = {}    # by table, once finished

    def add(self, records: Mapping[int, bytes]) -> None:
        """Take the records of the next number. They must not change until finish()."""
        for table in records:
            if table not in self._writers:
                self._open(table)
        for table, writer in self._writers.items():
            writer.add(records.get(table))
        self.count += 1

    def _open(self, table: int) -> None:
        """Start a table at the first number that has it; the ones before get absent records."""
        recipe = self.recipe
        path = names.segment_temporary(recipe.store, table, recipe.first, recipe.generation)

        def start(grouping: Grouping) -> SegmentWriter:
            return SegmentWriter(
                path, table=table, first=recipe.first, codec=recipe.knobs.compression,
                tier=self._tier, grouping=grouping, chain_id=recipe.chain_id, fs=self._fs,
                executor=self._executor, window=self._window, hashed=table == tables.HEADERS)

        writer = TableWriter(recipe.knobs, self._tier, start,
                             linked=is_linked(table, recipe.knobs), check=self._check,
                             executor=self._executor)
        self._writers[table] = writer
        for _ in range(self.count):
            writer.add(None)

    def finish(self) -> SegmentRow:
        """Make the files durable under their names, decode them again, return the manifest row.

        CorruptError when what is read back is not what was added. Whatever it raises, abort()
        then removes the files.
        """
        summaries = [self._writers[table].finish() for table in sorted(self._writers)]
        recipe = self.recipe
        last = recipe.first + self.count - 1
        for summary in summaries:
            path = names.segment(recipe.store, summary.table, recipe.first, last,
                                 recipe.generation)
            self._fs.replace(summary.path, path)
            self._paths.append(path)
        self._fs.fsync_dir(os.path.join(recipe.store, names.SEALED))
        for summary, path in zip(summaries, self._paths, strict=True):
            read_back(path, summary, self._check)
        self.digests = {summary.table: summary.digest for summary in summaries}
        files = tuple(TableFile(s.table, s.file_bytes, s.present, s.seal) for s in summaries)
        return SegmentRow(recipe.first, self.count, self.count, recipe.generation, files)

    def read(self) -> Iterator[dict[int, bytes]]:
        """After finish(): the records of each number again, from the files."""
        readers = [SegmentReader(path, counters=Counters()) for path in self._paths]
        try:
            streams = {reader.table: records_of(reader, self.count) for reader in readers}
            for _ in range(self.count):
                found = {table: next(stream) for table, stream in streams.items()}
                yield {table: record for table, record in found.items() if record is not None}
        finally:
            for reader in readers:
                reader.close()

    def replace_by(self, other: Packer) -> None:
        """Remove this one's files and stand for those of another, finished one."""
        self.abort()
        self.recipe, self._paths = other.recipe, other._paths
        self._writers = {}

    def abort(self) -> None:
        """Remove every file that this made; errors of the removal are left to recovery."""
        for table, writer in self._writers.items():
            with contextlib.suppress(OSError):
                writer.abort()
            with contextlib.suppress(OSError):
                self._fs.unlink(names.segment_temporary(
                    self.recipe.store, table, self.recipe.first, self.recipe.generation))
        for path in self._paths:
            with contextlib.suppress(OSError):
                self._fs.unlink(path)


def read_back(path: str, summary: SegmentSummary, check: Check) -> None:
    """Decode a segment file and compare it with what went in; CorruptError when it differs."""
    reader = SegmentReader(path, counters=Counters(), cache=None, mmap=True,
                           expect=(summary.file_bytes, summary.seal))
    try:
        found = segment_digest(reader, summary.first, summary.first + summary.count, check)
    finally:
        reader.close()
    if found != summary.digest:
        raise CorruptError("the sealed file does not hold what was sealed", file=path,
                           expected=bytes(summary.digest).hex(), found=bytes(found).hex())


def records_of(reader: SegmentReader, count: int) -> Iterator[bytes | None]:
    """The first ``count`` records of a segment."""
    for _, group, low, high in reader.groups(reader.first, reader.first + count):
        yield from map(group.record, range(low, high))


def segment_digest(reader: SegmentReader, start: int, stop: int,
                   check: Check = lambda: None) -> Digest:
    """Digest of the records start..stop of a segment, by decoding them."""
    digest = Digest()
    for first, group, low, high in reader.groups(start, stop):
        check()
        digest.add_all(first + low, map(group.view, range(low, high)))
    return digest
