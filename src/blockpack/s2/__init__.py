"""S2, the extension of Snappy by klauspost/compress, on its own: blocks, and .s2 streams.

A *block* is one piece without magic or checksum: ``compress`` and ``decompress``. A *stream* is
what ``.s2`` files hold: independent chunks with checksums, any size, magic at its start: ``open``
for files, ``compress_stream`` and ``decompress_stream`` for bytes. Snappy's blocks and streams are
read as well. A ``Prefix`` is shared by many blocks, of which each then stores what it adds. Every
function takes any contiguous buffer and releases the GIL while it works.
"""

from blockpack._native.s2 import (
    SIZE_MAX,
    TIERS,
    Prefix,
    compress,
    compress_bound,
    compress_into,
    decompress,
    decompress_into,
    decompress_range,
    decompress_until,
    decompressed_size,
)
from blockpack.s2.reader import StreamReader, decompress_stream
from blockpack.s2.stream import open_stream as open
from blockpack.s2.writer import StreamWriter, compress_stream

__all__ = [
    "SIZE_MAX",
    "TIERS",
    "Prefix",
    "StreamReader",
    "StreamWriter",
    "compress",
    "compress_bound",
    "compress_into",
    "compress_stream",
    "decompress",
    "decompress_into",
    "decompress_range",
    "decompress_stream",
    "decompress_until",
    "decompressed_size",
    "open",
]
