"""Opening a store for writing, which is also recovery: a writer may have died at any moment.

What a crash can leave, and what happens to it here, is the table "Crash points" of FORMAT.md.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from blockpack.errors import CorruptError
from blockpack.segment.codecs import parse_level
from blockpack.store import manifest as manifests
from blockpack.store import names
from blockpack.store.fs import FileSystem
from blockpack.store.knobs import Knobs
from blockpack.store.lock import WriterLock
from blockpack.store.logformat import FILE_HEADER_SIZE, LogIdentity
from blockpack.store.logscan import open_log, read_committed, recover
from blockpack.store.logwriter import LogWriter, resume_log
from blockpack.store.manifest import LogRow, Manifest
from blockpack.store.state import LogView, ReaderPool, State
from blockpack.store.writer import Writer

if TYPE_CHECKING:
    from blockpack._native.counters import Counters

_logger = logging.getLogger("blockpack.store")


def checked_knobs(knobs: Knobs) -> Knobs:
    """The same knobs; KnobError when their codec lacks one of the levels."""
    for level in (knobs.compression_level, knobs.seal_compression_level):
        parse_level(knobs.compression, level)
    return knobs


def create_store(path: str, manifest: Manifest, fs: FileSystem) -> None:
    """Make the folder and its first manifest. FileExistsError when it holds anything but what a
    creation leaves that failed or was killed before its commit."""
    made = not os.path.isdir(path)
    fs.mkdir(path)
    if not _is_unmade(path):
        raise FileExistsError(f"{path} is not empty: a new store needs an empty folder")
    fs.mkdir(os.path.join(path, names.OPEN))
    fs.mkdir(os.path.join(path, names.SEALED))
    manifests.commit(path, manifest, fs)
    if made:
        fs.fsync_dir(os.path.dirname(os.path.abspath(path)))


def _is_unmade(path: str) -> bool:
    """Whether a folder holds nothing, or no more than a creation before its commit made."""
    inside = {names.OPEN, names.SEALED}
    found = set(os.listdir(path))
    return found <= {*inside, names.MANIFEST_TEMPORARY} and not any(
        os.listdir(os.path.join(path, folder)) for folder in found & inside)


def open_writer(path: str, fs: FileSystem, pool: ReaderPool, counters: Counters,
                knobs: dict[str, Any], *, seal_threads: int) -> Writer:
    """Take the lock, bring the folder in order, and return the writer.

    LockedError, KnobError, CorruptError, UnsupportedVersionError; nothing stays open then.
    """
    os.stat(os.path.join(path, names.MANIFEST))  # no lock file where there is no store
    lock = WriterLock(os.path.join(path, names.LOCK), fs)
    try:
        manifest, _ = manifests.read(path)
        assert manifest is not None
        changed = checked_knobs(manifest.knobs.changed(**knobs))
        _sweep(path, manifest, fs)
        opening = _Opening(path, manifest, fs)
        state = State(manifest, opening.views, pool)
        writer = Writer(path, fs, lock, state, pool, counters=counters, tail=opening.tail,
                        seal_threads=seal_threads)
        opening.poison = writer.on_poison
        writer.start(changed)
    except BaseException:
        lock.close()
        raise
    return writer


class _Opening:
    """The logs of a manifest, recovered; the last one ready to be written on."""

    def __init__(self, path: str, manifest: Manifest, fs: FileSystem) -> None:
        self._path = path
        self._manifest = manifest
        self._fs = fs
        self.tail: LogWriter | None = None
        self.poison: Any = None
        self.views = tuple([self._open(row) for row in manifest.logs])

    def _open(self, row: LogRow) -> LogView:
        path = names.log(self._path, row.first, row.generation)
        identity = LogIdentity(self._manifest.store_id, row.first, row.generation)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise CorruptError("the manifest names this file, but it is missing",
                               file=path) from error
        log, checkpoint = open_log(path, fd, identity)
        offset = max(checkpoint.durable, FILE_HEADER_SIZE)
        if row.count is not None:
            if log.rows.count < row.count:
                read_committed(log, offset, first_look=True)
            if log.rows.count < row.count:
                raise CorruptError("the log lost numbers that were synced", file=path,
                                   expected=row.count, found=log.rows.count)
            return LogView(log, row.count)
        size = os.fstat(fd).st_size
        end, durable = recover(log, offset)
        if end < size:
            _logger.warning("%s: cut %d bytes of a torn tail; the log ends with number %d",
                            path, size - end, log.first + log.rows.count - 1)
        self.tail = resume_log(log, checkpoint, self._fs, self._on_poison,
                               end=end, durable=durable)
        return LogView(log, None)

    def _on_poison(self, error: BaseException) -> None:
        self.poison(error)


def _sweep(path: str, manifest: Manifest, fs: FileSystem) -> None:
    """Remove what no manifest names: files of an unfinished commit, or not yet removed after it.

    A named segment that is missing is only reported: the others stay readable.
    """
    wanted = manifest.paths(path)
    found: set[str] = set()
    for folder in (names.OPEN, names.SEALED):
        inside = os.path.join(path, folder)
        fs.mkdir(inside)
        found.update([f"{inside}/{name}" for name in os.listdir(inside)])
    orphans = sorted(filter(_is_ours, found - wanted))
    temporary = os.path.join(path, names.MANIFEST_TEMPORARY)
    if os.path.exists(temporary):
        orphans.append(temporary)
    for orphan in orphans:
        _logger.warning("%s: removed, a crash left it unfinished or unused", orphan)
        fs.unlink(orphan)
    for missing in sorted(wanted - found):
        if not missing.endswith(".idx"):
            _logger.error("%s: the manifest names this file, but it is missing", missing)


def _is_ours(path: str) -> bool:
    name = os.path.basename(path)
    return name.endswith((".log", ".idx", ".seg", ".seg.tmp")) and ".g" in name
