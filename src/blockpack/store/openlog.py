"""Reading an open log: single records and stretches of them.

A LogFile is shared by all threads. Rows below ``rows.count`` never change while they are there,
so reads need no lock; records that the writer has not written out yet are in ``pending``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from blockpack.errors import CorruptError, naming
from blockpack.segment import codecs
from blockpack.store import logformat, tables
from blockpack.store.logformat import (
    RECORD_SIZE,
    LogIdentity,
    RecordHeader,
    xxh64,
)
from blockpack.store.logindex import Rows

# A stretch is read in pieces of about this many bytes: sequential enough, small in memory.
STRETCH_BYTES: Final = 2 << 20


class LogFile:
    """One open log. ``count`` numbers from ``first`` are visible in it."""

    def __init__(self, path: str, fd: int, identity: LogIdentity, rows: Rows) -> None:
        self.path = path
        self.fd = fd
        self.identity = identity
        self.first = identity.first
        self.seed = identity.seed
        self.rows = rows
        self.pending: dict[int, tuple[int, bytes]] = {}  # file offset -> codec, payload

    def close(self) -> None:
        """Close the descriptor. Not while another thread may read: let __del__ do it then."""
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def record(self, table: int, number: int) -> bytes | None:
        """One record, None when absent; the number must be below first + rows.count."""
        offset, stored, decoded = self.rows.entry(number - self.first, table)
        if not offset:
            return None
        pending = self.pending.get(offset)
        if pending is not None:
            return decode(pending[0], pending[1], decoded, self.path, offset)
        with naming(self.path):
            data = pread_all(self.fd, RECORD_SIZE + stored, offset)
        header = self._header(data, 0, offset, table, number)
        return self._payload(data, 0, header, offset)

    def _header(self, data: bytes | memoryview, at: int, offset: int, table: int,
                number: int) -> RecordHeader:
        header = logformat.unpack_header(data, at, self.seed)
        if header is None or (header.table, header.number) != (table, number):
            raise CorruptError(
                "not the log record that the index names", file=self.path, offset=offset,
                expected=f"{tables.NAMES[table]} of {number}", found=_describe(header))
        return header

    def _payload(self, data: bytes | memoryview, at: int, header: RecordHeader,
                 offset: int) -> bytes:
        payload = memoryview(data)[at + RECORD_SIZE:at + RECORD_SIZE + header.stored]
        check_payload(payload, header, self.seed, self.path, offset)
        return decode(header.codec, payload, header.decoded, self.path, offset)

    def records(self, low: int, high: int,
                wanted: tuple[int, ...] = tables.IDS) -> Iterator[tuple[int, dict[int, bytes]]]:
        """(number, {table: record}) of the numbers low..high, high excluded, checksums verified.

        Reads the file in stretches of about 2 MiB; what is pending must have been written out.
        """
        while low < high:
            high_part, start, end = self._stretch(low, high)
            with naming(self.path):
                data = memoryview(pread_all(self.fd, end - start, start))
            for number in range(low, high_part):
                yield number, self._decode_row(number, data, start, wanted)
            low = high_part

    def _stretch(self, low: int, high: int) -> tuple[int, int, int]:
        """As many of the numbers low..high as fit a stretch (one at least), and their bytes."""
        rows = self.rows.array(low - self.first, min(high, low + 4096) - self.first)
        offsets = rows["offset"]
        ends = (offsets + rows["stored"] + RECORD_SIZE * (offsets > 0)).max(axis=1)
        start = int(offsets[0][offsets[0] > 0].min())
        fit = max(1, int((ends <= start + STRETCH_BYTES).sum()))
        return low + fit, start, int(ends[fit - 1])

    def _decode_row(self, number: int, data: memoryview, start: int,
                    wanted: tuple[int, ...]) -> dict[int, bytes]:
        found = {}
        for table in wanted:
            offset, _, _ = self.rows.entry(number - self.first, table)
            if offset:
                header = self._header(data, offset - start, offset, table, number)
                found[table] = self._payload(data, offset - start, header, offset)
        return found


def check_payload(payload: memoryview | bytes, header: RecordHeader, seed: int, path: str,
                  offset: int) -> None:
    """CorruptError unless the payload is complete and has the checksum in its header."""
    found = xxh64(payload, seed)
    if len(payload) != header.stored or found != header.checksum:
        raise CorruptError(f"log record of {header.number}: checksum mismatch", file=path,
                           offset=offset, expected=f"{header.checksum:016x}",
                           found=f"{found:016x}")


def decode(codec: int, payload: memoryview | bytes, decoded: int, path: str, offset: int) -> bytes:
    """Decompress one record's payload; errors name the log and the record's offset."""
    found = codecs.codec_of_id(codec)
    if found is None:
        raise CorruptError("log record names an unknown codec", file=path, offset=offset,
                           found=codec)
    try:
        return found.decompress(payload, decoded)
    except CorruptError as error:
        raise CorruptError(f"log record does not decompress: {error}", file=path,
                           offset=offset) from error


def pread_all(fd: int, size: int, offset: int) -> bytes:
    """``size`` bytes from ``offset`` on, fewer only where the file ends."""
    data = os.pread(fd, size, offset)
    while len(data) < size:
        more = os.pread(fd, size - len(data), offset + len(data))
        if not more:
            break  # the file is shorter than its index says: the record's check reports it
        data += more
    return data


def _describe(header: RecordHeader | None) -> str:
    if header is None:
        return "no valid record header"
    return f"{tables.NAMES.get(header.table, header.table)} of {header.number}"
