"""The reading side of a store: follows what the writer, in whatever process, has committed.

Writes nothing and takes no lock on the disk. A refresh reads the manifest, and the commits that
the last log got since; files that vanish in between mean a newer manifest, so it tries again.
"""

from __future__ import annotations

import os
import threading
from typing import NamedTuple

from blockpack.errors import CorruptError
from blockpack.store import manifest as manifests
from blockpack.store import names
from blockpack.store.logformat import FILE_HEADER_SIZE, LogIdentity
from blockpack.store.logscan import open_log, read_committed
from blockpack.store.manifest import LogRow, Manifest
from blockpack.store.openlog import LogFile
from blockpack.store.state import LogView, ReaderPool, State


class _Followed(NamedTuple):
    """A log that is being followed: committed rows are known up to ``offset``."""

    log: LogFile
    offset: int


class Follower:
    """One reader's view. ``state`` may be read without a lock; refresh() replaces it."""

    def __init__(self, path: str, pool: ReaderPool) -> None:
        self.path = path
        self.pool = pool
        self._lock = threading.Lock()
        self._logs: dict[int, _Followed] = {}
        self._data: bytes | None = None
        self.state: State
        self._load()

    def refresh(self) -> bool:
        """See what was committed since; whether anything changed."""
        with self._lock:
            before = (self.state.manifest.generation, self.state.end)
            self._load()
            return before != (self.state.manifest.generation, self.state.end)

    def _load(self) -> None:
        missed: bytes | None = None
        while True:
            manifest, data = manifests.read(self.path, known=self._data)
            try:
                self._adopt(manifest, data)
                return
            except FileNotFoundError as error:
                # The writer removes a file only after the manifest that no longer names it.
                if data == missed:
                    raise CorruptError("the manifest names this file, but it is missing",
                                       file=error.filename) from error
                missed = data

    def _adopt(self, manifest: Manifest | None, data: bytes) -> None:
        if manifest is not None:
            views = tuple([self._follow(manifest, row) for row in manifest.logs])
            self.state = State(manifest, views, self.pool)
            self._data = data
            live = {row.generation for row in manifest.logs}
            self._logs = {key: value for key, value in self._logs.items() if key in live}
        elif self.state.manifest.logs:
            self._follow(self.state.manifest, self.state.manifest.logs[-1])

    def _follow(self, manifest: Manifest, row: LogRow) -> LogView:
        """Bring one log up to date."""
        followed = self._logs.get(row.generation)
        first_look = followed is None
        if followed is None:
            followed = self._open(manifest, row)
        log, offset = followed
        if row.count is None or log.rows.count < row.count:
            offset = read_committed(log, offset, first_look)
        if row.count is not None and log.rows.count < row.count:
            raise CorruptError(f"the log has {log.rows.count} whole numbers", file=log.path,
                               offset=offset, expected=row.count, found=log.rows.count)
        self._logs[row.generation] = _Followed(log, offset)
        return LogView(log, row.count)

    def _open(self, manifest: Manifest, row: LogRow) -> _Followed:
        path = names.log(self.path, row.first, row.generation)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        identity = LogIdentity(manifest.store_id, row.first, row.generation)
        log, checkpoint = open_log(path, fd, identity)
        return _Followed(log, max(checkpoint.durable, FILE_HEADER_SIZE))

    def forked(self, pool: ReaderPool) -> None:
        """In a forked child: locks that another thread held in the parent are made anew."""
        self._lock = threading.Lock()
        self.pool = pool
        self.state = State(self.state.manifest, self.state.logs, pool)
