"""Finding records by their Keccak-256: sealed ones by their segment's index, open ones by a map."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from typing import Final

from blockpack._native.keccak import keccak256
from blockpack.errors import CorruptError
from blockpack.store.openlog import LogFile
from blockpack.store.state import State

# Logs whose hashes are kept: the one that grows, and those that wait for the sealer.
LOGS_MAX: Final = 8


class Finder:
    """What one handle knows of its open logs' hashes; for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: dict[tuple[int, int], _LogHashes] = {}    # by generation and table

    def find(self, state: State, table: int, digest: bytes) -> int | None:
        """The highest number whose record has this hash; None where there is none.

        FileNotFoundError where the state is out of date. The first search in open logs hashes
        what is in them, about 6 us a record.
        """
        for number in self._candidates(state, table, digest):
            record = state.record(table, number)
            if record is not None and keccak256(record) == digest:
                return number
        return None

    def _candidates(self, state: State, table: int, digest: bytes) -> Iterator[int]:
        end = state.end or 0
        for log, low, high in reversed(list(state.log_parts(state.sealed_end, end))):
            number = self._in_log(log, table, digest, high)
            if number is not None and number >= low:
                yield number
        for row in reversed(list(state.manifest.segments)):
            reader = state.reader(row, table)
            if reader is None:
                continue
            for number in reversed(reader.find(digest)):
                if number < row.first + row.visible:
                    yield number

    def _in_log(self, log: LogFile, table: int, digest: bytes, stop: int) -> int | None:
        with self._lock:
            key = log.identity.generation, table
            known = self._logs.pop(key, None)
            if known is None or known.log is not log or known.cuts != log.rows.cuts:
                known = _LogHashes(log, table)
            self._logs[key] = known
            if len(self._logs) > LOGS_MAX:
                del self._logs[next(iter(self._logs))]
            return known.find(digest, stop)


class _LogHashes:
    """The hashes of one log's records of a table, as far as was asked for."""

    def __init__(self, log: LogFile, table: int) -> None:
        self.log = log
        self._table = table
        self.cuts = log.rows.cuts
        self._numbers: dict[bytes, int] = {}
        self._next = log.first

    def find(self, digest: bytes, stop: int) -> int | None:
        for number in range(self._next, stop):
            try:
                record = self.log.record(self._table, number)
            except (CorruptError, struct.error):
                if self.cuts == self.log.rows.cuts:
                    raise
                break    # a failed write took the number back; the next search starts anew
            if record is not None:
                self._numbers[keccak256(record)] = number
            self._next = number + 1
        return self._numbers.get(digest)
