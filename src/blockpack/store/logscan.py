"""Finding what an open log holds: a walk over its record headers from a known point.

A sync writes the records and a commit record, fsyncs, then writes a second commit record (the
mark) that says up to which offset the file is durable. So what lies before the durable offset of
any commit has been on disk: damage there is corruption. What lies after the last one may be torn.
"""

from __future__ import annotations

import os
from typing import Final

from blockpack.errors import CorruptError
from blockpack.store import logformat, logindex, names, tables
from blockpack.store.logformat import (
    COMMIT,
    COMMIT_START,
    FILE_HEADER_SIZE,
    LAST,
    LOG_MAGIC,
    RECORD_SIZE,
    LogIdentity,
    RecordHeader,
    xxh64,
)
from blockpack.store.logindex import ROW, ROW_SIZE, Rows
from blockpack.store.openlog import LogFile, pread_all

# Headers are found by hopping; one read of this size covers several records of a sparse chain.
_WINDOW: Final = 8192
_SEARCH_BYTES: Final = 1 << 20
_NO_ROW: Final = (0,) * (3 * tables.COUNT)


class Scan:
    """Walks the record headers of a log from ``start``, the offset after ``base`` numbers.

    After run(): ``count`` numbers are complete; ``data`` has the rows from ``base`` on; ``end`` is
    the offset after the last complete number or commit, ``offset`` where the walk stopped;
    ``commits`` lists (count, offset after the commit record, durable offset).
    """

    def __init__(self, log: LogFile, base: int, start: int) -> None:
        self.base = self.count = base
        self.offset = self.end = start
        self.data = bytearray()
        self.commits: list[tuple[int, int, int]] = []
        self._log = log
        self._size = os.fstat(log.fd).st_size
        self._window = b""
        self._window_start = start
        self._row = list(_NO_ROW)

    def run(self, verify_from: int | None = None) -> Scan:
        """Walk until the file ends or is not valid; payloads at ``verify_from`` and after it are
        checked too, and the first bad one ends the walk."""
        while (header := self._header()) is not None:
            known = self._commit(header) if header.table == COMMIT else (
                self._record(header, verify_from))
            if not known:
                break
        return self

    def _header(self) -> RecordHeader | None:
        at = self.offset - self._window_start
        if at + RECORD_SIZE > len(self._window):
            self._window = os.pread(self._log.fd, _WINDOW, self.offset)
            self._window_start, at = self.offset, 0
        return logformat.unpack_header(self._window, at, self._log.seed)

    def _record(self, header: RecordHeader, verify_from: int | None) -> bool:
        after = self.offset + RECORD_SIZE + header.stored
        if not self._fits(header, after):
            return False
        if verify_from is not None and self.offset >= verify_from and not self._intact(header):
            return False
        at = 3 * (header.table - 1)
        self._row[at:at + 3] = self.offset, header.stored, header.decoded
        self.offset = after
        if header.flags & LAST:
            self.data += ROW.pack(*self._row)
            self.count += 1
            self._row[:] = _NO_ROW
            self.end = after
        return True

    def _fits(self, header: RecordHeader, after: int) -> bool:
        """Whether the record continues the log: next number, rising table, all of it there."""
        return (header.table in tables.NAMES and not any(self._row[3 * (header.table - 1):])
                and header.number == self._log.first + self.count
                and after <= self._size)

    def _intact(self, header: RecordHeader) -> bool:
        payload = pread_all(self._log.fd, header.stored, self.offset + RECORD_SIZE)
        return xxh64(payload, self._log.seed) == header.checksum

    def _commit(self, header: RecordHeader) -> bool:
        if any(self._row) or header.number != self.count or header.checksum > self.offset:
            return False
        self.offset += RECORD_SIZE
        self.end = self.offset
        self.commits.append((header.number, self.offset, header.checksum))
        return True

    def add_rows(self, rows: Rows, count: int) -> None:
        """Publish the rows found up to ``count`` numbers."""
        rows.data += self.data[:(count - self.base) * ROW_SIZE]
        rows.count = count


def open_log(path: str, fd: int, identity: LogIdentity) -> tuple[LogFile, logindex.Checkpoint]:
    """Check a log's header and load its sidecar's rows; takes over ``fd``, also when it raises."""
    log = LogFile(path, fd, identity, Rows())
    header = os.pread(fd, FILE_HEADER_SIZE, 0)
    logformat.check_file_header(header, LOG_MAGIC, identity, path)
    checkpoint = logindex.load(names.sidecar(path), identity)
    size = os.fstat(fd).st_size
    if checkpoint.durable > size:
        raise CorruptError("the log is shorter than what was made durable", file=path, offset=size,
                           expected=f"at least {checkpoint.durable} bytes", found=size)
    log.rows = checkpoint.rows
    return log, checkpoint


def read_committed(log: LogFile, offset: int, first_look: bool) -> int:
    """Publish what was committed after ``offset``; returns the offset after the last commit.

    For readers: nothing after the last commit becomes visible. At the ``first_look`` a damaged
    header is looked behind: CorruptError when commits follow it.
    """
    scan = _scan_commits(log, offset)
    while first_look and (known := _damaged(log, scan, offset)):
        again = _scan_commits(log, offset)
        if again.offset == scan.offset:
            raise _damage(log, scan, known)
        scan = again  # no damage: the writer went on while we looked
    if not scan.commits:
        return offset
    count, end, _ = scan.commits[-1]
    scan.add_rows(log.rows, count)
    return end


def _scan_commits(log: LogFile, offset: int) -> Scan:
    scan = Scan(log, log.rows.count, offset).run()
    if scan.commits and not _proven(scan.commits[-1]):
        # A sync is under way, or was when the power went: believe only what is whole.
        durable = max(commit[2] for commit in scan.commits)
        scan = Scan(log, log.rows.count, offset).run(verify_from=durable)
    return scan


def recover(log: LogFile, offset: int) -> tuple[int, int]:
    """Publish every whole number after ``offset``, committed or not: (offset after it, durable).

    For the writer, which then cuts the file at the first offset. CorruptError when there is
    damage before what a commit says was durable.
    """
    scan = Scan(log, log.rows.count, offset).run()
    durable = max([offset, *(commit[2] for commit in scan.commits)])
    if scan.commits and _proven(scan.commits[-1]):
        durable = scan.commits[-1][1]
    if durable < os.fstat(log.fd).st_size:
        scan = Scan(log, log.rows.count, offset).run(verify_from=durable)
    if known := _damaged(log, scan, durable):
        raise _damage(log, scan, known)
    scan.add_rows(log.rows, scan.count)
    return scan.end, durable


def _proven(commit: tuple[int, int, int]) -> bool:
    """Whether the commit says that all before it was durable when it was written."""
    _, end, durable = commit
    return durable == end - RECORD_SIZE


def _damaged(log: LogFile, scan: Scan, durable: int) -> int:
    """The offset that is known to have been durable, when the walk stopped before it; else 0."""
    if scan.offset + RECORD_SIZE > os.fstat(log.fd).st_size and scan.offset >= durable:
        return 0
    known = max(durable, _durable_behind(log, scan.offset))
    return known if known > scan.offset else 0


def _damage(log: LogFile, scan: Scan, known: int) -> CorruptError:
    return CorruptError(
        f"the log is damaged after number {log.first + scan.count - 1}", file=log.path,
        offset=scan.offset, expected=f"valid records up to byte {known}, which were synced",
        found="none")


def _durable_behind(log: LogFile, offset: int) -> int:
    """The largest durable offset in any commit record found after ``offset``, 0 when none is."""
    found = 0
    while True:
        data = os.pread(log.fd, _SEARCH_BYTES, offset)
        at = data.find(COMMIT_START)
        while at >= 0:
            header = logformat.unpack_header(data, at, log.seed)
            if header is not None:
                found = max(found, header.checksum)
            at = data.find(COMMIT_START, at + 1)
        if len(data) < _SEARCH_BYTES:
            return found
        offset += _SEARCH_BYTES - RECORD_SIZE
