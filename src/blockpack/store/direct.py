"""Direct import: finalised records straight into sealed segments, on all cores, without a log."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

from blockpack.errors import ClosedError, SequenceError
from blockpack.store import tables
from blockpack.store.manifest import SegmentRow
from blockpack.store.packing import Packer, Recipe

if TYPE_CHECKING:
    from blockpack.store.writer import Writer


class DirectWriter:
    """Packs consecutive numbers into segments that close where the open log's would.

    Groups are compressed on ``threads`` threads; the finished segment is made durable and read
    back on one more while the next one fills. What is not published when it ends by an exception
    leaves nothing behind. Not for several threads at once.
    """

    def __init__(self, writer: Writer, threads: int) -> None:
        self._writer = writer
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="blockpack-pack")
        self._finisher = ThreadPoolExecutor(1, thread_name_prefix="blockpack-finish")
        self._packer: Packer | None = None
        self._finishing: tuple[Packer, Future[SegmentRow]] | None = None
        self._bytes = 0
        self._done = False
        self.next: int | None = writer.begin_direct()

    def append(self, number: int, records: Mapping[int, bytes]) -> None:
        """Take all records of the next number; SequenceError for another one.

        Errors of a segment that closed before are raised here or at the end, and end the writer:
        ClosedError from then on. The records must not change until their segment is published.
        """
        if self._done:
            raise ClosedError("the direct writer has ended")
        if number != (number if self.next is None else self.next) or number < 0:
            raise SequenceError(f"number {number} does not follow: the next is {self.next}",
                                have=number, want=self.next)
        if not records or not tables.NAMES.keys() >= records.keys():
            raise ValueError(f"records of {number} must be of the tables {tables.NAMES}")
        try:
            self._add(number, records)
        except BaseException:
            self.abort()  # numbers were lost: one that followed them would leave a gap
            raise

    def _add(self, number: int, records: Mapping[int, bytes]) -> None:
        packer = self._packer or self._start(number)
        packer.add(records)
        self.next = number + 1
        self._bytes += sum(map(len, records.values()))
        if self._writer.spans.is_border(number, self._bytes):
            self._close_segment()

    def _start(self, first: int) -> Packer:
        recipe = self._writer.direct_recipe(first)
        # Two groups a thread in flight keep all cores busy: 24 MB of 90 KB blocks on 2 cores.
        self._packer = Packer(recipe, self._writer.fs, self._pool, window=2 * self._threads)
        return self._packer

    def _close_segment(self) -> None:
        """Let the finisher have the segment, once the one before it is published."""
        self._publish()
        packer, self._packer, self._bytes = self._packer, None, 0
        assert packer is not None
        self._finishing = packer, self._finisher.submit(self._finish, packer)

    def _finish(self, packer: Packer) -> SegmentRow:
        row = packer.finish()
        chain_id = self._writer.chain_at(row.first + row.count - 1)
        if chain_id == packer.recipe.chain_id:
            return row
        # The chain's id was learnt inside this segment; its header, and with it every checksum,
        # must say what a seal from the log would. Once in the life of a store.
        again = packer.recipe._replace(chain_id=chain_id, generation=self._writer.new_file())
        return self._repack(packer, row, again)

    def _repack(self, packer: Packer, row: SegmentRow, recipe: Recipe) -> SegmentRow:
        copy = Packer(recipe, self._writer.fs)
        try:
            for records in packer.read():
                copy.add(records)
            new = copy.finish()
        except BaseException:
            copy.abort()
            raise
        packer.replace_by(copy)
        return new

    def _publish(self) -> None:
        if self._finishing is None:
            return
        # Stays where abort() finds it: that waits for the finisher before it removes the files.
        self._writer.publish_direct(self._finishing[1].result())
        self._finishing = None

    def close(self) -> None:
        """Publish everything, the last segment short; the store takes appends again."""
        if self._done:
            return
        try:
            if self._packer is not None:
                self._close_segment()
            self._publish()
        finally:
            self.abort()

    def abort(self) -> None:
        """End without publishing what is not published yet."""
        if self._done:
            return
        self._done = True
        if self._finishing is not None:
            (packer, future), self._finishing = self._finishing, None
            future.cancel()
            self._finisher.shutdown(wait=True)
            packer.abort()
        if self._packer is not None:
            self._packer.abort()
            self._packer = None
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._finisher.shutdown(wait=True)
        self._writer.end_direct()

    def __enter__(self) -> DirectWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()
