"""Repacking: sealed segments packed again with other knobs, one by one, while readers go on.

A segment keeps its borders. Its new files are complete, read back and compared with the old ones
before the manifest names them; the old ones are removed after that, so that a kill at any moment
leaves one or the other, and the same call goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import NamedTuple

from blockpack._native.counters import Counters
from blockpack.errors import BlockpackError, ClosedError, CorruptError
from blockpack.segment.codecs import parse_level
from blockpack.segment.digest import Digest
from blockpack.segment.reader import SegmentReader
from blockpack.store.knobs import Knobs
from blockpack.store.manifest import SegmentRow, segment_path
from blockpack.store.packing import (
    Packer,
    Recipe,
    grouping_of,
    is_linked,
    records_of,
    segment_digest,
)
from blockpack.store.writer import Writer

# Called with the bytes on disk of the segments looked at so far, and those of all.
Progress = Callable[[int, int], None]

PROGRESS_EVERY = 64    # records


class RepackResult(NamedTuple):
    """Segments that were packed again and that were as asked for already, and what is wrong.

    The bytes are the files' of the segments packed again. A segment with a fault is left alone.
    """

    repacked: int
    kept: int
    bytes_before: int
    bytes_after: int
    faults: list[BlockpackError]


def repack(writer: Writer, knobs: Knobs, threads: int,
           progress: Progress | None) -> RepackResult:
    """Give every sealed segment, and those to come, these knobs."""
    with _reserved(writer, knobs), ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(threads)) if threads > 1 else None
        return _Repacking(writer, pool, threads, progress).run()


@contextmanager
def _reserved(writer: Writer, knobs: Knobs) -> Iterator[None]:
    """Commit the knobs and hold off a second repack; closing the writer waits for this one."""
    with writer.changed:
        writer.check()
        if writer.repacking or writer.direct:
            raise ClosedError(f"{writer.path}: a repack or a direct writer is at work; it must "
                              "end first")
        if knobs != writer.manifest.knobs:
            writer.take_knobs(knobs)
        writer.check()
        writer.repacking = True
    try:
        yield
    finally:
        with writer.changed:
            writer.repacking = False
            writer.changed.notify_all()


class _Repacking:
    """One run over the segments of a writer's manifest, whatever becomes of that meanwhile."""

    def __init__(self, writer: Writer, pool: Executor | None, threads: int,
                 progress: Progress | None) -> None:
        self._writer = writer
        self._pool = pool
        self._window = 2 * threads
        self._progress = progress or (lambda done, total: None)
        self._done = 0
        self._result = RepackResult(0, 0, 0, 0, [])

    def run(self) -> RepackResult:
        number = 0
        while True:
            self._go_on()    # also after the last one: its commit may have had an unknown outcome
            row = self._first_from(number)
            if row is None:
                return self._result
            try:
                is_settled = self._settle(row)
            except FileNotFoundError as error:
                # Only truncating removes a file that we did not: then the row has changed too.
                is_settled = self._first_from(number) == row
                if is_settled:
                    self._result.faults.append(CorruptError(
                        "the manifest names this file, but it is missing", file=error.filename))
            except BlockpackError as error:
                self._go_on()
                self._result.faults.append(error)
                is_settled = True
            if is_settled:
                number = row.first + 1
                self._done += _file_bytes(row)
                self._report(0)

    def _first_from(self, number: int) -> SegmentRow | None:
        with self._writer.changed:
            segments = self._writer.manifest.segments
            at = next((i for i, raw in enumerate(segments.raw) if raw[0] >= number), None)
            return None if at is None else segments[at]

    def _go_on(self) -> None:
        if self._writer.closing:
            raise ClosedError(f"{self._writer.path}: closed while it was repacked; repack again "
                              "to go on")
        self._writer.check_poison()

    def _report(self, more: int) -> None:
        rows = self._writer.manifest.segments.raw
        total = sum(sum(raw[5::4]) for raw in rows)
        self._progress(min(self._done + more, total), total)

    def _settle(self, row: SegmentRow) -> bool:
        """Bring one segment to the knobs; False when it was cut meanwhile and is to be redone."""
        with ExitStack() as stack:
            readers = [stack.enter_context(closing(self._reader(row, file.table)))
                       for file in row.files]
            recipe = self._recipe(row)
            if not self._differs(row, readers, recipe):
                self._result = self._result._replace(kept=self._result.kept + 1)
                return True
            packer = Packer(recipe, self._writer.fs, self._pool, self._window, self._go_on)
            try:
                new = self._packed(packer, row, readers)
                published = self._publish(row, new)
            except BaseException:
                packer.abort()
                raise
            if not published:
                packer.abort()
                return False
        result = self._result
        self._result = result._replace(
            repacked=result.repacked + 1, bytes_before=result.bytes_before + _file_bytes(row),
            bytes_after=result.bytes_after + _file_bytes(new))
        self._done += _file_bytes(new) - _file_bytes(row)
        return True

    def _reader(self, row: SegmentRow, table: int) -> SegmentReader:
        file = next(file for file in row.files if file.table == table)
        return SegmentReader(segment_path(self._writer.path, row, table), counters=Counters(),
                             expect=(file.file_bytes, file.seal))

    def _recipe(self, row: SegmentRow) -> Recipe:
        writer = self._writer
        with writer.changed:
            return Recipe(writer.path, row.first, writer.new_file(),
                          writer.chain_at(row.first + row.visible - 1), writer.manifest.knobs)

    def _differs(self, row: SegmentRow, readers: list[SegmentReader], recipe: Recipe) -> bool:
        """Whether packing it again would give other bytes, but for numbers in names."""
        knobs = recipe.knobs
        tier = parse_level(knobs.compression, knobs.seal_compression_level)
        wanted = (knobs.compression, tier, recipe.chain_id)
        if row.visible < row.count or any(
                (reader.codec, reader.tier, reader.chain_id) != wanted for reader in readers):
            return True
        return any(reader.grouping != grouping_of(
            records_of(reader, row.count), knobs, tier, linked=is_linked(reader.table, knobs),
            check=self._go_on, executor=self._pool) for reader in readers)

    def _packed(self, packer: Packer, row: SegmentRow,
                readers: list[SegmentReader]) -> SegmentRow:
        streams = {reader.table: records_of(reader, row.visible) for reader in readers}
        for done in range(row.visible):
            self._go_on()
            found = {table: next(stream) for table, stream in streams.items()}
            packer.add({table: record for table, record in found.items() if record is not None})
            if done % PROGRESS_EVERY == 0:
                self._report(_file_bytes(row) * done // row.visible)
        new = packer.finish()
        for reader in readers:
            self._compare(row, reader, packer.digests.get(reader.table, Digest()))
        return new

    def _compare(self, row: SegmentRow, reader: SegmentReader, found: Digest) -> None:
        whole = row.visible == row.count
        digest = reader.digest if whole else segment_digest(
            reader, row.first, row.first + row.visible, self._go_on)
        if digest != found:
            raise CorruptError("the segment's records are not those that its digest says",
                               file=reader.path, expected=bytes(digest).hex(),
                               found=bytes(found).hex())

    def _publish(self, old: SegmentRow, new: SegmentRow) -> bool:
        """Commit the new files in place of the old ones, then remove those."""
        writer = self._writer
        with writer.changed:
            self._go_on()
            segments = writer.manifest.segments
            at = next((i for i, raw in enumerate(segments.raw) if raw[3] == old.generation), None)
            if at is None or segments[at] != old:
                return False
            writer.commit(writer.manifest.next(segments=segments.replaced(at, new)),
                          writer.state.logs)
            writer.pool.forget(old)
            writer.remove([segment_path(writer.path, old, file.table) for file in old.files])
            return True


def _file_bytes(row: SegmentRow) -> int:
    return sum(file.file_bytes for file in row.files)
