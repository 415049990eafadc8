"""The background sealer: a thread that re-packs closed spans of the open logs into segments.

The thread lives while there is something to seal. It packs without any lock; only handing out a
span and publishing the result take the writer's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

from blockpack.errors import CorruptError
from blockpack.store.fs import FileSystem
from blockpack.store.manifest import SegmentRow
from blockpack.store.openlog import LogFile
from blockpack.store.packing import Packer, Recipe


class SealJob(NamedTuple):
    """One span to seal: its recipe, last number, and the logs that hold it."""

    recipe: Recipe
    last: int
    parts: tuple[tuple[LogFile, int, int], ...]


class AbandonedError(Exception):
    """The seal was called off: the store closes, truncates or stopped."""


class Sealer:
    """Runs seal jobs one after the other on one thread.

    ``take()`` gives the next job or None, ``publish(job, row)`` makes it count; both are called
    with ``changed`` held. ``error`` keeps the failure that ended the last run.
    Groups are packed on ``threads`` threads: where that is 1, on the sealer's own.
    """

    def __init__(self, changed: threading.Condition, fs: FileSystem,
                 take: Callable[[], SealJob | None],
                 publish: Callable[[SealJob, SegmentRow], None],
                 failed: Callable[[], None], *, threads: int) -> None:
        self.error: BaseException | None = None
        self._changed = changed
        self._fs = fs
        self._take = take
        self._publish = publish
        self._failed = failed
        self._threads = threads
        self._thread: threading.Thread | None = None
        self._stop = False

    @property
    def running(self) -> bool:
        return self._thread is not None

    def start(self) -> None:
        """Make sure that the thread runs; ``changed`` is held."""
        if self._thread is None and self.error is None and not self._stop:
            # A daemon: an interpreter that exits without close() abandons the seal, as a crash
            # would, instead of waiting for it.
            self._thread = threading.Thread(target=self._run, name="blockpack-seal", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Abandon the running seal and wait until the thread has ended; ``changed`` is held."""
        self._stop = True
        try:
            while self._thread is not None:
                self._changed.wait()
        finally:
            self._stop = False

    def take_error(self) -> BaseException | None:
        """The failure not reported yet, now reported: the next start() tries again."""
        error, self.error = self.error, None
        return error

    def _run(self) -> None:
        try:
            while self._one():
                pass
        except AbandonedError:
            pass
        except BaseException as error:
            with self._changed:
                self.error = error
                self._failed()
        finally:
            with self._changed:
                if self._thread is threading.current_thread():
                    self._end()

    def _end(self) -> None:
        self._thread = None
        self._changed.notify_all()

    def _one(self) -> bool:
        with self._changed:
            job = None if self._stop else self._take()
            if job is None:
                self._end()  # in the same breath, so that no start() in between is lost
                return False
        with ThreadPoolExecutor(self._threads) if self._threads > 1 else nullcontext() as pool:
            packer = Packer(job.recipe, self._fs, pool, 2 * self._threads, self._go_on)
            try:
                row = self._pack(job, packer)
                with self._changed:
                    self._go_on()
                    self._publish(job, row)
                    self._changed.notify_all()
            except BaseException:
                packer.abort()
                raise
        return True

    def _pack(self, job: SealJob, packer: Packer) -> SegmentRow:
        for log, low, high in job.parts:
            for _, records in log.records(low, high):
                self._go_on()
                packer.add(records)
        if packer.count != job.last + 1 - job.recipe.first:
            raise CorruptError(f"the open logs hold {packer.count} numbers of "
                               f"{job.recipe.first}..{job.last}", file=job.recipe.store)
        return packer.finish()

    def _go_on(self) -> None:
        if self._stop:
            raise AbandonedError
