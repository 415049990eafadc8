"""Bytes of the open log: file header, record headers, commit records (FORMAT.md, section Store).

    file    = header (64) , { record }
    record  = record header (40) , payload (stored bytes; none for a commit)

A number's records stand together in table order; the last one has LAST set. Little-endian.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import xxhash

from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.segment import layout
from blockpack.store import tables

VERSION: Final = 0
LOG_MAGIC: Final = b"\x89bplog\r\n"
SIDECAR_MAGIC: Final = b"\x89bpidx\r\n"

FILE_HEADER: Final = struct.Struct("<8sIIQQ16sQ")  # then its checksum, u64: 64 bytes
FILE_HEADER_SIZE: Final = FILE_HEADER.size + 8
RECORD: Final = struct.Struct("<BBBBIIIQQ")  # then its checksum, u64: 40 bytes
RECORD_SIZE: Final = RECORD.size + 8
U64: Final = struct.Struct("<Q")

LAST: Final = 1  # flag: the last record of its number
COMMIT: Final = 255  # in place of a table id
RECORD_BYTES_MAX: Final = layout.RECORD_BYTES_MAX
# What every commit record starts with: its table, then flags, codec, tier, both sizes and the
# reserved field, all zero.
COMMIT_START: Final = bytes((COMMIT,)) + bytes(15)

xxh64 = xxhash.xxh3_64_intdigest


class RecordHeader(NamedTuple):
    """A record header's fields; for a commit ``number`` counts the complete numbers before it
    and ``checksum`` is the file offset up to which an fsync had returned when it was written."""

    table: int
    flags: int
    codec: int
    tier: int
    stored: int
    decoded: int
    reserved: int
    number: int
    checksum: int


class LogIdentity(NamedTuple):
    """Which log: of which store, from which number on, in which file generation."""

    store_id: str
    first: int
    generation: int

    @property
    def seed(self) -> int:
        """Seed of every checksum in the log: a record of another log or store never passes."""
        return xxh64(bytes.fromhex(self.store_id), self.generation)


def pack_file_header(magic: bytes, identity: LogIdentity) -> bytes:
    start = FILE_HEADER.pack(magic, VERSION, tables.COUNT, identity.first, identity.generation,
                             bytes.fromhex(identity.store_id), identity.seed)
    return start + U64.pack(xxh64(start))


def check_file_header(data: bytes, magic: bytes, identity: LogIdentity, path: str) -> None:
    """CorruptError unless the first bytes of a log or sidecar are the ones it must have."""
    wanted = pack_file_header(magic, identity)
    if data[:FILE_HEADER_SIZE] == wanted:
        return
    if len(data) >= FILE_HEADER_SIZE and data[:8] == magic:
        version = int.from_bytes(data[8:12], "little")
        intact = xxh64(data[:FILE_HEADER.size]) == U64.unpack_from(data, FILE_HEADER.size)[0]
        if version != VERSION and intact:
            raise UnsupportedVersionError(
                f"{path}: written by log format {version}, this version reads {VERSION}")
    raise CorruptError("the file header is not this log's", file=path, offset=0,
                       expected=wanted.hex(), found=bytes(data[:FILE_HEADER_SIZE]).hex())


def pack_commit(count: int, durable: int, seed: int) -> bytes:
    """A commit record: ``count`` numbers are complete before it, ``durable`` bytes were synced."""
    start = RECORD.pack(COMMIT, 0, 0, 0, 0, 0, 0, count, durable)
    return start + U64.pack(xxh64(start, seed))


def unpack_header(data: bytes | memoryview, at: int, seed: int) -> RecordHeader | None:
    """The record header at ``data[at:]``; None when it is incomplete or not valid."""
    if at + RECORD_SIZE > len(data):
        return None
    header = RecordHeader(*RECORD.unpack_from(data, at))
    start = data[at:at + RECORD.size]
    if xxh64(start, seed) != U64.unpack_from(data, at + RECORD.size)[0]:
        return None
    # Whoever has the header may take that much memory for the record.
    return header if header.decoded <= RECORD_BYTES_MAX else None
