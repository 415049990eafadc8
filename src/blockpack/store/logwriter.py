"""Appending to an open log: records are compressed as they come and written out in pieces.

The hot path of an import. Per number: one compression and two checksums a record, one row.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Mapping
from typing import Final

from blockpack.errors import LimitError, naming
from blockpack.segment.codecs import Codec
from blockpack.store import logformat, names, tables
from blockpack.store.fs import FileSystem
from blockpack.store.logformat import (
    FILE_HEADER_SIZE,
    LAST,
    LOG_MAGIC,
    RECORD,
    RECORD_BYTES_MAX,
    RECORD_SIZE,
    SIDECAR_MAGIC,
    U64,
    LogIdentity,
    xxh64,
)
from blockpack.store.logindex import ROW, Checkpoint, Rows, Sidecar
from blockpack.store.openlog import LogFile

# Written out once this much has gathered: about 20 dense blocks, 2 us of call overhead on 1 MB.
_GATHER_BYTES: Final = 1 << 20
# Written between two background syncs: a second or so of a disk's time.
BEHIND_BYTES: Final = 64 << 20
_TABLE_COUNT: Final = tables.COUNT

Poison = Callable[[BaseException], None]


class LogWriter:
    """The writing end of one log. Not thread-safe: the store's lock is held by every caller.

    ``poison(error)`` is called when the file may no longer be what memory says it is.
    """

    def __init__(self, log: LogFile, fs: FileSystem, sidecar: Sidecar, poison: Poison, *,
                 end: int, durable: int) -> None:
        self.log = log
        self._fs = fs
        self._sidecar = sidecar
        self._poison = poison
        self._parts: list[bytes] = []
        self._end = end  # file offset that the next record gets
        self._flushed = end  # file size
        self._flushed_count = log.rows.count
        self._durable = durable  # synced up to here
        self._committed = log.rows.count if durable == end else -1
        self._changing = False  # set while an add is half done
        self._behind = end  # the disk has started on what is before
        self._behind_thread: threading.Thread | None = None
        self._behind_error: OSError | None = None

    @property
    def next(self) -> int:
        """The number that the next add takes."""
        return self.log.first + self.log.rows.count

    def add(self, number: int, records: Mapping[int, bytes], codec: Codec, tier: str,
            tier_id: int) -> int:
        """Add all records of the next number; returns their decoded size. Nothing has changed
        when this raises, but for an OSError of the write: see flush."""
        log = self.log
        seed, codec_id, end, decoded = log.seed, codec.id, self._end, 0
        row = [0] * (3 * _TABLE_COUNT)
        parts: list[bytes] = []
        pending = {}
        last = max(records)
        for table in sorted(records):
            record = records[table]
            size = len(record)
            if size > RECORD_BYTES_MAX:
                raise LimitError(f"a record of {size} bytes is over the limit of 1 GiB")
            payload = codec.compress_record(record, tier)
            start = RECORD.pack(table, LAST if table == last else 0, codec_id, tier_id,
                                len(payload), size, 0, number, xxh64(payload, seed))
            parts += start + U64.pack(xxh64(start, seed)), payload
            pending[end] = codec_id, payload
            at = 3 * table - 3
            row[at:at + 3] = end, len(payload), size
            end += RECORD_SIZE + len(payload)
            decoded += size
        self._take(parts, pending, ROW.pack(*row), end)
        if end - self._flushed >= _GATHER_BYTES:
            self.flush()
        return decoded

    def _take(self, parts: list[bytes], pending: dict[int, tuple[int, bytes]], row: bytes,
              end: int) -> None:
        if self._changing:
            self._roll_back()
            raise OSError(errno.EINTR, "an interrupted append was taken back: go on from the "
                          "store's head + 1", self.log.path)
        self._changing = True
        self._parts += parts
        self._end = end
        self.log.pending.update(pending)
        self.log.rows.data += row
        self.log.rows.count += 1  # last: readers look at the count first
        self._changing = False

    def flush(self) -> None:
        """Write out what has gathered. When that fails the file is cut back to before it, and
        memory holds what the file holds."""
        if self._changing:
            self._roll_back()
        if not self._parts:
            return
        try:
            self._fs.pwrite_parts(self.log.fd, self._parts, self._flushed)
        except OSError as error:
            self._roll_back()
            raise OSError(error.errno, f"{error.strerror}; what was not written out yet was taken "
                          f"back: go on from number {self.next}", self.log.path) from error
        except BaseException:
            self._roll_back()
            raise
        self._flushed = self._end
        self._flushed_count = self.log.rows.count
        self._parts = []
        self.log.pending = {}
        if self._flushed - self._behind >= BEHIND_BYTES:
            self._write_behind()

    def _write_behind(self) -> None:
        """Have the disk start on what was written, beside the appends, so that the sync at the
        end of a segment does not wait for gigabytes. Nothing is promised by it."""
        if self._behind_thread is None or not self._behind_thread.is_alive():
            self._behind = self._flushed
            self._behind_thread = threading.Thread(target=self._sync_behind, daemon=True,
                                                   name="blockpack-write-behind")
            self._behind_thread.start()

    def _sync_behind(self) -> None:
        try:
            with naming(self.log.path):
                self._fs.fsync(self.log.fd)
        except OSError as error:
            self._behind_error = error
            self._poison(error)

    def _wait_behind(self) -> None:
        """Raise what writing behind ran into: the kernel reports it once, to whoever syncs first,
        and the next fsync succeeds over what was lost."""
        if self._behind_thread is not None:
            self._behind_thread.join()
        if self._behind_error is not None:
            raise self._behind_error

    def _roll_back(self) -> None:
        self._parts = []
        self._end = self._flushed
        self.log.rows.cut(self._flushed_count)
        self.log.pending = {}
        self._changing = False
        self._cut_back()

    def _cut_back(self) -> None:
        try:
            self._fs.truncate(self.log.fd, self._flushed)
        except OSError as error:
            self._poison(error)

    def sync(self) -> None:
        """Write out everything with a commit record, fsync, and mark the commit as durable."""
        if self._changing:
            self._roll_back()
        count = self.log.rows.count
        if count == self._committed:
            return
        self._parts.append(logformat.pack_commit(count, self._durable, self.log.seed))
        self._end += RECORD_SIZE
        self.flush()
        self._wait_behind()
        try:
            with naming(self.log.path):
                self._fs.fsync(self.log.fd)
        except OSError as error:
            self._poison(error)
            raise
        self._durable = self._flushed
        self._committed = count
        self._mark(count)
        self._sidecar.save(self.log.rows, count, self._flushed, self.log.seed, force=False)

    def _mark(self, count: int) -> None:
        """Say that the file is durable up to here. All is durable without it, a later open only
        has to check more; so a full disk here is no failure of the sync."""
        mark = logformat.pack_commit(count, self._durable, self.log.seed)
        try:
            self._fs.pwrite(self.log.fd, mark, self._flushed)
        except OSError:
            self._cut_back()
            return
        self._end = self._flushed = self._flushed + RECORD_SIZE

    def finish(self) -> None:
        """Checkpoint the whole index (of what was synced); the log takes no more records."""
        self._sidecar.save(self.log.rows, max(self._committed, 0), self._flushed, self.log.seed,
                           force=True)
        self._sidecar.close()

    def forked(self) -> None:
        """In a forked child: close the copies of the descriptors."""
        self._sidecar.close()
        self.log.close()


def create_log(store: str, identity: LogIdentity, fs: FileSystem, poison: Poison) -> LogWriter:
    """Make a new, empty, durable log; the caller commits a manifest that names it."""
    path = names.log(store, identity.first, identity.generation)
    fd = fs.create(path)
    try:
        with naming(path):
            fs.pwrite(fd, logformat.pack_file_header(LOG_MAGIC, identity), 0)
            fs.fsync(fd)
    except BaseException:
        fs.close(fd)
        fs.unlink(path)
        raise
    log = LogFile(path, fd, identity, Rows())
    return LogWriter(log, fs, _sidecar(log, fs, Checkpoint()), poison,
                     end=FILE_HEADER_SIZE, durable=FILE_HEADER_SIZE)


def resume_log(log: LogFile, checkpoint: Checkpoint, fs: FileSystem, poison: Poison, *,
               end: int, durable: int) -> LogWriter:
    """Go on writing a recovered log after ``end``; what lies behind is cut off."""
    if os.fstat(log.fd).st_size != end:
        fs.truncate(log.fd, end)
    return LogWriter(log, fs, _sidecar(log, fs, checkpoint), poison, end=end, durable=durable)


def _sidecar(log: LogFile, fs: FileSystem, checkpoint: Checkpoint) -> Sidecar:
    header = logformat.pack_file_header(SIDECAR_MAGIC, log.identity)
    return Sidecar(names.sidecar(log.path), fs, header, checkpoint)
