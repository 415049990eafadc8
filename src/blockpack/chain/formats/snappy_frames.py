"""Framed snappy (google/snappy, framing_format.txt), as era1 entries hold it.

A stream is an identifier chunk and chunks of at most 64 KiB decoded, each: type u8, length u24 LE,
data. Streams that follow each other are one stream. cramjam costs 11 us a call and under 1 us
more for a 600-byte stream, so many small streams are inflated in one call.
"""

from __future__ import annotations

from collections.abc import Sequence

import cramjam

from blockpack.errors import CorruptError
from blockpack.s2.chunks import BLOCK as _COMPRESSED
from blockpack.s2.chunks import CHECKSUM_BYTES as _CHECKSUM_BYTES
from blockpack.s2.chunks import PLAIN as _PLAIN
from blockpack.s2.chunks import SKIPPABLE_MIN as _SKIPPABLE_MIN
from blockpack.s2.chunks import SNAPPY_CONTENT_MAX as _CHUNK_DECODED_MAX
from blockpack.s2.chunks import SNAPPY_IDENTIFIER as IDENTIFIER

# A copy of 64 bytes takes 3: no chunk decodes to 32 times its size.
_EXPANSION_MAX = 32


def decoded_size(data: memoryview) -> int:
    """Bytes that a framed stream decodes to, by its chunk headers alone.

    Raises CorruptError, with the offset in ``data``. A claim that the chunk cannot hold is
    refused, so the result is at most 32 times the input.
    """
    if data[:10] != IDENTIFIER:
        raise CorruptError("this is no framed snappy stream; a raw snappy block lacks the"
                           " identifier", offset=0, expected=IDENTIFIER.hex(),
                           found=bytes(data[:10]).hex())
    position, total = 10, 0
    while position < len(data):
        kind = data[position]
        start = position + 4
        end = start + int.from_bytes(data[position + 1:start], "little")
        if end > len(data) or start > len(data):
            raise CorruptError("a snappy chunk ends outside of its stream", offset=position,
                               expected=f"at most {len(data)}", found=end)
        total += _chunk_size(kind, data[start:end], position)
        position = end
    return total


def _chunk_size(kind: int, data: memoryview, offset: int) -> int:
    if kind == _COMPRESSED:
        size = _varint(data[_CHECKSUM_BYTES:_CHECKSUM_BYTES + 3])
        size_max = min(_CHUNK_DECODED_MAX, _EXPANSION_MAX * len(data))
    elif kind == _PLAIN:
        size, size_max = len(data) - _CHECKSUM_BYTES, _CHUNK_DECODED_MAX
    elif kind >= _SKIPPABLE_MIN:
        return 0
    else:
        raise CorruptError("unknown snappy chunk type that may not be skipped", offset=offset,
                           expected="0x00, 0x01 or 0x80..0xff", found=hex(kind))
    if not 0 <= size <= size_max:
        raise CorruptError("a snappy chunk of an impossible size", offset=offset,
                           expected=f"0..{size_max}", found=size)
    return size


def _varint(data: memoryview) -> int:
    """A LEB128 of up to three bytes, enough for 64 KiB; -1 when it does not end."""
    value = 0
    for index, byte in enumerate(data):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value
    return -1


class StreamError(Exception):
    """Stream ``index`` of those given does not decode to its size."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


def inflate(streams: Sequence[memoryview], sizes: Sequence[int]) -> list[memoryview]:
    """Decode framed streams whose decoded sizes are known, in one call.

    Raises StreamError, which names the first stream that is not good.
    """
    try:
        return _inflate_joined(streams, sizes)
    except cramjam.DecompressionError:
        pass  # one of them is bad: find it, so that those before it can be used
    for index, (stream, size) in enumerate(zip(streams, sizes, strict=True)):
        try:
            _inflate_joined([stream], [size])
        except cramjam.DecompressionError as error:
            raise StreamError(index, str(error)) from None
    raise StreamError(0, "streams that decode alone do not decode together")


def _inflate_joined(streams: Sequence[memoryview], sizes: Sequence[int]) -> list[memoryview]:
    target = bytearray(sum(sizes))
    source = streams[0] if len(streams) == 1 else b"".join(streams)
    written = cramjam.snappy.decompress_into(source, target) if source else 0
    if written != len(target):
        raise cramjam.DecompressionError(f"{written} bytes instead of {len(target)}")
    content, start, parts = memoryview(target).toreadonly(), 0, []
    for size in sizes:
        parts.append(content[start:start + size])
        start += size
    return parts


def deflate(data: bytes | memoryview) -> bytes:
    """One framed stream; of nothing, the identifier alone."""
    return bytes(cramjam.snappy.compress(data)) or IDENTIFIER
