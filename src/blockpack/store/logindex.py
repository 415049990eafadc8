"""Where each record of an open log is: rows in memory, and their checkpoint in the sidecar.

A row per number: for every table (file offset u64, stored u32, decoded u32), offset 0 = none.
The sidecar is those rows again, in checksummed chunks, each written only after the log up to its
``durable`` offset was fsynced; so it never knows more than the log's disk does. It is a cache:
whatever is wrong with it, the log is scanned instead.

    sidecar = header (64) , { chunk header (40) , rows }
    chunk header = rows u32, reserved u32, first row u64, durable u64, rows' checksum u64, checksum
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from blockpack._native.strided import sum_u32
from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.store import logformat, tables
from blockpack.store.fs import FileSystem
from blockpack.store.logformat import SIDECAR_MAGIC, U64, LogIdentity, xxh64

if TYPE_CHECKING:
    # Imported where it is used: it takes 7 MB and half of the start-up time of a process that
    # reads sealed segments alone.
    import numpy as np

ENTRY: Final = struct.Struct("<QII")
ROW: Final = struct.Struct("<" + "QII" * tables.COUNT)
ROW_SIZE: Final = ROW.size
CHUNK: Final = struct.Struct("<IIQQQ")
CHUNK_SIZE: Final = CHUNK.size + 8
ENTRY_FIELDS: Final = [("offset", "<u8"), ("stored", "<u4"), ("decoded", "<u4")]


class Rows:
    """The rows of one log. Only its owner adds; any thread may read rows below ``count``."""

    __slots__ = ("count", "cuts", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self.count = 0
        self.cuts = 0    # how often rows were forgotten: others may stand in their place

    def entry(self, row: int, table: int) -> tuple[int, int, int]:
        """(offset, stored, decoded) of one record."""
        at = row * ROW_SIZE + (table - 1) * ENTRY.size
        return ENTRY.unpack_from(self.data, at)

    def cut(self, count: int) -> None:
        """Forget the rows from ``count`` on."""
        self.cuts += 1
        self.count = count
        del self.data[count * ROW_SIZE:]

    def array(self, low: int, high: int) -> np.ndarray[Any, np.dtype[Any]]:
        """A copy of rows low..high as a structured array of shape (rows, tables)."""
        import numpy as np

        part = bytes(self.data[low * ROW_SIZE:high * ROW_SIZE])
        return np.frombuffer(part, np.dtype(ENTRY_FIELDS)).reshape(-1, tables.COUNT)

    def decoded_total(self, low: int, high: int) -> int:
        """Decoded bytes of all records of the rows."""
        part = bytes(self.data[low * ROW_SIZE:high * ROW_SIZE])
        return sum_u32(part, ENTRY.size - 4, ENTRY.size)

    def decoded_bytes(self, low: int, high: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Decoded bytes of all tables together, per row."""
        import numpy as np

        sizes: np.ndarray[Any, np.dtype[np.uint64]]
        sizes = self.array(low, high)["decoded"].sum(axis=1, dtype=np.uint64)
        return sizes


@dataclass
class Checkpoint:
    """What a sidecar gave: rows, the durable log offset after them, and its own valid size."""

    rows: Rows = field(default_factory=Rows)
    durable: int = logformat.FILE_HEADER_SIZE
    size: int = 0  # 0: no usable sidecar, write a new one
    saved: int = 0  # rows in it


def load(path: str, identity: LogIdentity) -> Checkpoint:
    """Read a sidecar as far as it is valid; never raises for what is wrong with its bytes."""
    found = Checkpoint()
    try:
        with open(path, "rb", buffering=0) as file:
            data = memoryview(file.read())
    except FileNotFoundError:
        return found
    try:
        logformat.check_file_header(bytes(data[:logformat.FILE_HEADER_SIZE]), SIDECAR_MAGIC,
                                    identity, path)
    except (CorruptError, UnsupportedVersionError):
        return found
    found.size = logformat.FILE_HEADER_SIZE
    while _load_chunk(found, data, identity.seed):
        pass
    return found


def _load_chunk(found: Checkpoint, data: memoryview, seed: int) -> bool:
    at = found.size
    if at + CHUNK_SIZE > len(data):
        return False
    if xxh64(data[at:at + CHUNK.size], seed) != U64.unpack_from(data, at + CHUNK.size)[0]:
        return False
    count, _, first_row, durable, checksum = CHUNK.unpack_from(data, at)
    rows = data[at + CHUNK_SIZE:at + CHUNK_SIZE + count * ROW_SIZE]
    if first_row != found.rows.count or len(rows) != count * ROW_SIZE:
        return False
    if durable < found.durable or xxh64(rows, seed) != checksum:
        return False
    found.rows.data += rows
    found.rows.count += count
    found.saved += count
    found.durable = durable
    found.size = at + CHUNK_SIZE + len(rows)
    return True


def pack_chunk(rows: Rows, low: int, high: int, durable: int, seed: int) -> bytes:
    """The bytes of one chunk: rows low..high, whose log bytes are durable up to ``durable``."""
    part = bytes(rows.data[low * ROW_SIZE:high * ROW_SIZE])
    start = CHUNK.pack(high - low, 0, low, durable, xxh64(part, seed))
    return b"".join((start, U64.pack(xxh64(start, seed)), part))


class Sidecar:
    """Writes the checkpoints of one log. A failed write costs the checkpoint, nothing else."""

    # Rows between checkpoints: a scan costs about 2 us a record, so 128 rows keep it under 1 ms.
    STEP: Final = 128

    def __init__(self, path: str, fs: FileSystem, header: bytes, checkpoint: Checkpoint) -> None:
        self._path = path
        self._fs = fs
        self._header = header
        self._size = checkpoint.size
        self._saved = checkpoint.saved
        self._fd = -1

    def save(self, rows: Rows, count: int, durable: int, seed: int, force: bool) -> None:
        """Append the rows below ``count`` that are not saved yet, if enough or ``force``."""
        if count <= self._saved or (count - self._saved < self.STEP and not force):
            return
        chunk = pack_chunk(rows, self._saved, count, durable, seed)
        try:
            self._open()
            self._fs.pwrite(self._fd, chunk, self._size)
        except OSError:
            self.close()  # the next one starts from the last good size again
            return
        self._size += len(chunk)
        self._saved = count

    def _open(self) -> None:
        if self._fd >= 0:
            return
        if self._size == 0:
            self._fs.unlink(self._path)
            self._fd = self._fs.create(self._path)
            self._fs.pwrite(self._fd, self._header, 0)
            self._size = len(self._header)
        else:
            self._fd = self._fs.open_existing(self._path)
            self._fs.truncate(self._fd, self._size)

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.close()
