"""Verification, level bytes: every checksum, every record decoded, every digest compared."""

from __future__ import annotations

import os
from collections.abc import Callable

from blockpack.errors import BlockpackError, CorruptError
from blockpack.store import tables
from blockpack.store.manifest import SegmentRow, TableFile, segment_path
from blockpack.store.openlog import LogFile
from blockpack.store.state import State

Progress = Callable[[int, int], None]


def verify_store(state: State, path: str, progress: Progress | None,
                 is_cut: Callable[[SegmentRow], bool]) -> list[BlockpackError]:
    """All faults of a state, in order of numbers; goes on after each.

    ``is_cut(segment)`` says whether a file is missing because the store was truncated meanwhile.
    """
    report = _Report(_total_bytes(state), progress, is_cut)
    for row in state.manifest.segments:
        for file in row.files:
            _verify_file(state, path, row, file, report)
    for log, low, high in state.log_parts(state.sealed_end, state.end or 0):
        _verify_log(log, low, high, report)
    return report.faults


class _Report:
    def __init__(self, total: int, progress: Progress | None,
                 is_cut: Callable[[SegmentRow], bool]) -> None:
        self.faults: list[BlockpackError] = []
        self.is_cut = is_cut
        self._done = 0
        self._total = total
        self._progress = progress

    def advance(self, size: int) -> None:
        self._done += size
        if self._progress is not None:
            self._progress(self._done, self._total)


def _total_bytes(state: State) -> int:
    sealed = sum(file.file_bytes for row in state.manifest.segments for file in row.files)
    return sealed + sum(os.fstat(view.log.fd).st_size for view in state.logs)


def _verify_file(state: State, path: str, row: SegmentRow, file: TableFile,
                 report: _Report) -> None:
    try:
        reader = state.reader(row, file.table)
        assert reader is not None
        report.faults += _mismatches(reader.path, row, file, (
            reader.table, reader.first, reader.count, reader.present))
        report.faults += reader.verify(report.advance)
    except BlockpackError as error:
        report.faults.append(error)
    except FileNotFoundError:
        if report.is_cut(row):
            return
        report.faults.append(CorruptError(
            f"the {tables.NAMES[file.table]} of {row.first}..{row.first + row.count - 1} are "
            "missing", file=segment_path(path, row, file.table)))


def _mismatches(name: str, row: SegmentRow, file: TableFile,
                found: tuple[int, int, int, int]) -> list[BlockpackError]:
    expected = (file.table, row.first, row.count, file.present)
    if found == expected:
        return []
    return [CorruptError("the file is not the segment that the manifest names: table, first, "
                         "count, present differ", file=name, expected=expected, found=found)]


def _verify_log(log: LogFile, low: int, high: int, report: _Report) -> None:
    for number in range(low, high):
        for table in tables.IDS:
            try:
                log.record(table, number)
            except BlockpackError as error:
                report.faults.append(error)
        report.advance(sum(log.rows.entry(number - log.first, table)[1] for table in tables.IDS))
