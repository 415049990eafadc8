"""The writing side of a store: append, sync, seal, truncate, and the commits behind them.

Everything here runs with ``changed`` (a condition on one lock) held; the sealer's thread takes it
to fetch a job and to publish a segment. Readers never take it: each commit sets a new ``state``.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from blockpack.errors import ChainMismatchError, ClosedError, SequenceError
from blockpack.segment.codecs import TIER_IDS, get_codec, parse_level
from blockpack.store import manifest as manifests
from blockpack.store import names, tables
from blockpack.store.fs import FileSystem
from blockpack.store.knobs import Knobs
from blockpack.store.lock import WriterLock
from blockpack.store.logformat import LogIdentity
from blockpack.store.logwriter import LogWriter, create_log
from blockpack.store.manifest import LogRow, Manifest, SegmentRow
from blockpack.store.packing import Recipe
from blockpack.store.sealer import Sealer, SealJob
from blockpack.store.spans import Spans
from blockpack.store.state import LogView, ReaderPool, State

if TYPE_CHECKING:
    from blockpack._native.counters import Counters

NUMBER_LAST: Final = 2**64 - 2  # so that head + 1 still is a number


class Writer:
    """The one writer of a store; made by recovery.open_writer, which has the lock."""

    def __init__(self, path: str, fs: FileSystem, lock: WriterLock, state: State,
                 pool: ReaderPool, *, counters: Counters, tail: LogWriter | None,
                 seal_threads: int) -> None:
        self.path = path
        self.fs = fs
        self.state = state
        self.pool = pool
        self.changed = threading.Condition(threading.RLock())
        self.closed: str | None = None  # why, once it is
        self._lock = lock
        self._counters = counters
        self._tail = tail
        self._poison: BaseException | None = None
        self._next_file = state.manifest.next_file
        self.spans = Spans(state.manifest.knobs)
        self.direct = False  # a direct writer has the head
        self.repacking = False  # another thread packs segments again
        self.closing = False
        self._sealer = Sealer(self.changed, fs, self._take_job, self._publish, self._seal_failed,
                              threads=seal_threads)
        self._use_knobs(state.manifest.knobs)

    def start(self, knobs: Knobs) -> None:
        """After recovery: make what was found durable, take changed knobs, go on sealing."""
        with self.changed:
            if self._tail is not None:
                self._tail.sync()
            if knobs != self.manifest.knobs:
                self.take_knobs(knobs)
            self._derive()
            if self._tail is not None and self._tail.log.rows.count and self.at_border:
                self._tail.finish()  # its span is closed: the next number starts a new log
                self._tail = None
            self._wake()

    def _use_knobs(self, knobs: Knobs) -> None:
        self.spans.knobs = knobs
        self._codec = get_codec(knobs.compression)
        self._tier = parse_level(knobs.compression, knobs.compression_level)
        self._tier_id = TIER_IDS[self._tier]

    def take_knobs(self, knobs: Knobs) -> None:
        """Commit other knobs, for what is written and sealed from now on; ``changed`` is held."""
        self.commit(manifests.with_knobs(self.manifest, knobs), self.state.logs)
        self._use_knobs(knobs)
        self._derive()

    def _seal_failed(self) -> None:
        """Close spans again where they would be without seal(), which has to be asked anew."""
        self.spans.forced = -1
        self._derive()

    def _derive(self) -> None:
        self.spans.derive(self.state)

    @property
    def manifest(self) -> Manifest:
        return self.state.manifest

    # -- checks ------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise what stops every write: closed, poisoned, or a seal that failed unreported."""
        if self.closed:
            raise ClosedError(f"{self.path}: {self.closed}")
        self.check_poison()
        error = self._sealer.take_error()
        if error is not None:
            self._wake()
            raise error

    def check_poison(self) -> None:
        if self._poison is not None:
            raise ClosedError(f"{self.path}: the writer stopped after a failed fsync; what the "
                              "disk has is unknown: close and open the store again to recover"
                              ) from self._poison

    def _check_free(self) -> None:
        if self.direct:
            raise ClosedError(f"{self.path}: a direct writer is at work; end it first")

    def on_poison(self, error: BaseException) -> None:
        self._poison = self._poison or error

    # -- append ------------------------------------------------------------------------------

    def append(self, number: int, records: Mapping[int, bytes]) -> None:
        with self.changed:
            self.check()
            self._check_free()
            self._check_next(number, records)
            if self.spans.backlog_full(number):
                self._wait_for_room(number)
                self._check_free()
                self._check_next(number, records)  # another thread may have appended meanwhile
            tail = self._tail or self._start_log(number)
            spans = self.spans
            try:
                spans.decoded_bytes += tail.add(number, records, self._codec, self._tier,
                                                self._tier_id)
                if spans.is_border(number, spans.decoded_bytes):
                    self._close_span(number)
            except BaseException:
                self._derive()  # the log may have been rolled back
                raise
            if spans.ready(0, number + 1):
                self._sealer.start()

    def _check_next(self, number: int, records: Mapping[int, bytes]) -> None:
        end = self.state.end
        if number != (number if end is None else end) or not 0 <= number <= NUMBER_LAST:
            have = None if end is None or end == self.manifest.first else end - 1
            raise SequenceError(f"number {number} does not follow: the store's head is {have}, "
                                f"the next is {end}", have=number, want=end)
        if not records or not tables.NAMES.keys() >= records.keys():
            raise ValueError(f"records of {number} must be of the tables {tables.NAMES}")

    def _start_log(self, number: int) -> LogWriter:
        """Make the log that ``number`` goes to, and commit it."""
        generation = self.new_file()
        identity = LogIdentity(self.manifest.store_id, number, generation)
        tail = create_log(self.path, identity, self.fs, self.on_poison)
        before = self.state.logs
        try:
            self.fs.fsync_dir(os.path.join(self.path, names.OPEN))
            views = (*self._pinned_logs(), LogView(tail.log, None))
            self.commit(self.manifest.next(first=self._first_or(number)), views)
        except BaseException:
            self.remove([tail.log.path])
            raise
        self._tail = tail
        self._remove_logs(before)
        self.check_poison()
        return tail

    def _first_or(self, number: int) -> int:
        """The store's first number, which this one becomes when nothing has decided it yet."""
        if self.manifest.first is not None:
            return self.manifest.first
        self.spans.first = number
        return number

    def _pinned_logs(self) -> tuple[LogView, ...]:
        """The logs, the last one no longer growing; empty ones are left out."""
        return tuple(LogView(view.log, view.end - view.log.first) for view in self.state.logs
                     if view.end > view.log.first)

    def _close_span(self, number: int) -> None:
        """The span ends with ``number``: make its log durable and let the sealer have it."""
        assert self._tail is not None
        self._tail.sync()
        self._tail.finish()
        self._tail = None
        self.spans.close(number)

    def _wait_for_room(self, end: int) -> None:
        """Wait for the sealer while too many closed spans are past the lag."""
        started = time.perf_counter_ns()
        try:
            while self.spans.backlog_full(end):
                self._sealer.start()
                self.changed.wait(1.0)
                self.check()
        finally:
            self._counters.waited(time.perf_counter_ns() - started)

    @property
    def at_border(self) -> bool:
        """Whether the next number starts a segment."""
        return self.state.end in (None, self.spans.first)

    # -- durability --------------------------------------------------------------------------

    def sync(self) -> None:
        with self.changed:
            self.check()
            self._sync()

    def _sync(self) -> None:
        if self._tail is not None:
            try:
                self._tail.sync()
            except BaseException:
                self._derive()
                raise

    def new_file(self) -> int:
        """A file generation that no name has had."""
        with self.changed:
            self._next_file += 1
            return self._next_file - 1

    def commit(self, manifest: Manifest, views: tuple[LogView, ...]) -> None:
        """Publish a manifest with these logs, and make it the state.

        OSError: nothing has changed. When the outcome is unknown the writer is poisoned and goes
        on with what the folder shows.
        """
        rows = tuple(LogRow(v.log.first, v.log.identity.generation, v.count) for v in views)
        manifest = manifests.with_logs(manifest, rows, self._next_file)
        try:
            manifests.commit(self.path, manifest, self.fs)
        except manifests.CommitUnknownError as error:
            self.on_poison(error)
        self.state = State(manifest, views, self.pool)

    def _remove_logs(self, before: tuple[LogView, ...]) -> None:
        """Remove the logs that the last commit no longer names."""
        gone = {view.log.path for view in before} - {view.log.path for view in self.state.logs}
        self.remove([name for path in sorted(gone) for name in (path, names.sidecar(path))])

    def remove(self, paths: list[str]) -> None:
        """Remove files that no manifest names any more; what cannot be is an orphan for later."""
        if self._poison is not None:
            return
        for path in paths:
            try:
                self.fs.unlink(path)
            except OSError:
                continue

    # -- sealing -----------------------------------------------------------------------------

    def seal(self) -> None:
        with self.changed:
            self.check()
            self._check_free()
            self._sync()
            end = self.state.end
            if end is None or end <= max(self.state.sealed_end, self.manifest.first or 0):
                return
            self._wait_sealed(end)

    def _wait_sealed(self, end: int) -> None:
        """Wait until everything below ``end`` is sealed (or was cut); raise what stops it."""
        while self.state.sealed_end < min(end, self.state.end or 0):
            if self.spans.forced < end - 1:
                self.spans.forced = end - 1
                self._derive()
            self._sealer.start()
            self.changed.wait()
            self.check()

    def _take_job(self) -> SealJob | None:
        """The next span that may be sealed, as a job for the sealer."""
        if self._poison or self.closed or not self.spans.ready(0, self.state.end or 0):
            return None
        first, last = self.spans.closed[0]
        recipe = Recipe(self.path, first, self.new_file(), self.chain_at(last), self.spans.knobs)
        return SealJob(recipe, last, tuple(self.state.log_parts(first, last + 1)))

    def chain_at(self, last: int) -> int:
        """The chain id that a segment ending with ``last`` carries, 0 when not known by then."""
        since = self.manifest.chain_since
        known = self.manifest.chain_id is not None and (since is None or since <= last)
        return (self.manifest.chain_id or 0) if known else 0

    def _publish(self, job: SealJob, row: SegmentRow) -> None:
        """Commit a sealed segment, then remove the logs that it replaces."""
        self.check_poison()
        stop = job.last + 1
        kept = tuple(view for view in self.state.logs if view.end > stop)
        manifest = self.manifest.next(segments=self.manifest.segments.plus(row))
        before = self.state.logs
        self.commit(manifest, kept)
        self._derive()
        if self._tail is not None and all(view.log is not self._tail.log for view in kept):
            self._tail.finish()
            self._tail = None
        self._remove_logs(before)

    def sealing(self) -> dict[str, Any]:
        """Where sealing stands: closed spans that wait, and why the last try failed."""
        error = self._sealer.error
        return {"waiting": len(self.spans.closed), "running": self._sealer.running,
                "error": None if error is None else repr(error)}

    # -- direct import -----------------------------------------------------------------------

    def begin_direct(self) -> int | None:
        """Seal what is in the logs and reserve the head; the number that comes next."""
        with self.changed:
            self.check()
            self._check_free()
            if not self.at_border:
                raise SequenceError(
                    f"{self.path}: the open segment {self.spans.first}..{(self.state.end or 0) - 1}"
                    " is not full: append up to its border first, or seal it",
                    want=self.state.end)
            self.seal()
            if self._tail is not None:  # an empty log, from an append that failed
                self._tail.finish()
                self._tail = None
            self.direct = True
            return self.state.end

    def end_direct(self) -> None:
        """The head is free again."""
        with self.changed:
            self.direct = False

    def direct_recipe(self, first: int) -> Recipe:
        return Recipe(self.path, first, self.new_file(), self.chain_at(first), self.spans.knobs)

    def publish_direct(self, row: SegmentRow) -> None:
        """Commit a segment that was packed without a log."""
        with self.changed:
            self.check()
            segments = self.manifest.segments.plus(row)
            before = self.state.logs
            self.commit(self.manifest.next(first=self._first_or(row.first), segments=segments), ())
            self._derive()
            self._remove_logs(before)

    def _wake(self) -> None:
        if self.spans.closed and not self.closed:
            self._sealer.start()

    # -- truncate, chain, close --------------------------------------------------------------

    def truncate(self, last: int) -> None:
        with self.changed:
            self.check()
            self._check_free()
            end, first = self.state.end, self.manifest.first
            if end is None or first is None or last >= end - 1:
                return
            if last < first - 1:
                raise ValueError(f"cannot cut after {last}: the store starts at {first}")
            self._sealer.stop()
            self._sync()
            self._cut(last)
            self._wake()
            self.check()

    def _cut(self, last: int) -> None:
        old = self.state
        segments = self.manifest.segments.cut(last)
        views = tuple(LogView(v.log, min(v.end, last + 1) - v.log.first)
                      for v in old.logs if v.log.first <= last and v.end > v.log.first)
        manifest = self.manifest.next(segments=segments)
        if manifest.chain_since is not None and manifest.chain_since > last:
            manifest = manifests.without_chain(manifest)
        self.commit(manifest, views)
        if self._tail is not None:
            self._tail.finish()
            self._tail = None
        self.spans.forced = -1
        self._derive()
        for row in old.manifest.segments[len(segments):]:
            self.pool.forget(row)
        self.remove(sorted(old.manifest.paths(self.path) - self.manifest.paths(self.path)))

    def set_chain(self, chain_id: int, since: int) -> None:
        with self.changed:
            self.check()
            have = self.manifest.chain_id
            if have is not None:
                if have != chain_id:
                    raise ChainMismatchError(f"{self.path} holds chain {have}, not {chain_id}",
                                             have=have, got=chain_id)
                return
            self.commit(self.manifest.next(chain_id=chain_id, chain_since=since),
                        self.state.logs)
            self.check()

    def close(self, wait: bool) -> None:
        """Sync, wait for or abandon the sealer, let go; the first error is raised at the end."""
        with self.changed:
            if self.closed:
                return
            try:
                self.check_poison()
                self._sync()
                while wait and self._sealer_has_work():
                    self.changed.wait()
                self.check()
            finally:
                self.closing = True
                while self.repacking:
                    self.changed.wait()
                self._sealer.stop()
                self._let_go()

    def _sealer_has_work(self) -> bool:
        if self._poison is not None or self._sealer.error is not None:
            return False
        if not self.spans.ready(0, self.state.end or 0):
            return self._sealer.running
        self._sealer.start()
        return True

    def _let_go(self) -> None:
        self.closed = "the store is closed"
        if self._tail is not None:
            self._tail.finish()
            self._tail = None
        self._lock.close()
        self.changed.notify_all()

    def forked(self) -> None:
        """In a forked child: close the copies of the descriptors, touch nothing else."""
        self.closed = "a writer cannot be used in a forked child; open the store there"
        self.changed = threading.Condition(threading.RLock())
        self._lock.close()
        if self._tail is not None:
            self._tail.forked()
        for view in self.state.logs:
            view.log.close()
