"""e2store: a file of type-length-value entries (ethereum e2store specification).

    entry := type (2 bytes) | length u32 LE | reserved u16 = 0 | data

The first entry is Version with no data; files may be concatenated; types that a reader does not
know are skipped. Entries are read in order and never by the offsets in a file, so a pipe will do.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from blockpack.chain.formats.stream import ByteStream
from blockpack.errors import CorruptError

VERSION = b"e2"
HEADER = struct.Struct("<2sIH")
# An entry holds one compressed header, body or receipts list. Real ones stay below 50 MiB, which
# is where other readers stop; a length above is refused before anything is read.
ENTRY_BYTES_MAX = 1 << 28


class Entry(NamedTuple):
    """``offset`` is where the entry's header starts in the file; the data follow 8 bytes later."""

    type: bytes
    data: memoryview
    offset: int


def read_entries(stream: ByteStream) -> Iterator[Entry]:
    """Every entry up to the end of the stream.

    Raises CorruptError for a cut entry, a reserved field that is not zero, a length above
    ``ENTRY_BYTES_MAX``, or a stream that does not start with a Version entry.
    """
    first = True
    while stream.fill(1):
        offset = stream.offset
        kind, size, reserved = HEADER.unpack(stream.require(HEADER.size, "an e2store entry header"))
        if reserved:
            raise CorruptError("the reserved bytes of an e2store entry are not zero",
                               file=stream.name, offset=offset, expected=0, found=reserved)
        if size > ENTRY_BYTES_MAX:
            raise CorruptError("an e2store entry is longer than any block", file=stream.name,
                               offset=offset, expected=f"at most {ENTRY_BYTES_MAX}", found=size)
        if first and (kind, size) != (VERSION, 0):
            raise CorruptError("an e2store file starts with a Version entry", file=stream.name,
                               offset=offset, expected="type 6532, no data",
                               found=f"type {kind.hex()}, {size} bytes")
        first = False
        yield Entry(kind, stream.require(size, f"an e2store entry of type {kind.hex()}"), offset)


def encode(kind: bytes, data: bytes = b"") -> bytes:
    """One entry."""
    if len(data) > ENTRY_BYTES_MAX:
        raise ValueError(f"an e2store entry of {len(data)} bytes; the limit is {ENTRY_BYTES_MAX}")
    return HEADER.pack(kind, len(data), 0) + data
