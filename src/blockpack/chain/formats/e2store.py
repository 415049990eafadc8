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
    expected = VERSION
    while stream.fill(1):
        offset = stream.offset
        if not stream.fill(HEADER.size):
            raise _cut(stream, "an e2store entry header", HEADER.size)
        chunk, start = stream.window()
        kind, size, reserved = HEADER.unpack_from(chunk, start)
        if reserved or size > ENTRY_BYTES_MAX or kind != (expected or kind):
            raise _bad_header(stream, kind, size, reserved)
        end = HEADER.size + size
        if not stream.fill(end):
            raise _cut(stream, f"an e2store entry of type {kind.hex()}", end)
        chunk, start = stream.window()
        stream.skip(end)
        expected = b""
        yield Entry(kind, chunk[start + HEADER.size:start + end], offset)


def _cut(stream: ByteStream, what: str, size: int) -> CorruptError:
    return CorruptError(f"the input ends inside {what}", file=stream.name, offset=stream.offset,
                        expected=f"{size} bytes", found=f"{stream.left} bytes")


def _bad_header(stream: ByteStream, kind: bytes, size: int, reserved: int) -> CorruptError:
    what: tuple[str, object, object]
    if reserved:
        what = "the reserved bytes of an e2store entry are not zero", 0, reserved
    elif size > ENTRY_BYTES_MAX:
        what = "an e2store entry is longer than any block", f"at most {ENTRY_BYTES_MAX}", size
    else:
        what = "an e2store file starts with a Version entry", VERSION.hex(), kind.hex()
    message, expected, found = what
    return CorruptError(message, file=stream.name, offset=stream.offset, expected=expected,
                        found=found)


def encode(kind: bytes, data: bytes = b"") -> bytes:
    """One entry."""
    if len(data) > ENTRY_BYTES_MAX:
        raise ValueError(f"an e2store entry of {len(data)} bytes; the limit is {ENTRY_BYTES_MAX}")
    return HEADER.pack(kind, len(data), 0) + data
