"""Chunks of a framed stream, S2's or Snappy's (google/snappy, framing_format.txt).

    chunk = type u8, length u24 LE, that many bytes

    type        holds
    0xff        an identifier, which starts a stream; streams may follow each other
    0x00        masked CRC-32C of the content u32 LE, and the content as a block
    0x01        masked CRC-32C of the content u32 LE, and the content itself
    0x02..0x7f  nothing that this reader knows, and it may not be skipped
    0x80..0xfe  what may be skipped: padding, or an index for seeking (0x99)

A chunk's content is at most 4 MiB in a stream of S2 and 64 KiB in one of Snappy.
"""

from __future__ import annotations

from typing import Final

from blockpack._native import s2
from blockpack._native.crc32c import masked
from blockpack.errors import CorruptError, LimitError

Buffer = bytes | bytearray | memoryview

HEADER_BYTES: Final = 4
CHECKSUM_BYTES: Final = 4
BLOCK, PLAIN, SKIPPABLE_MIN, IDENTIFIER = 0x00, 0x01, 0x80, 0xFF
S2_IDENTIFIER = b"\xff\x06\x00\x00S2sTwO"
SNAPPY_IDENTIFIER = b"\xff\x06\x00\x00sNaPpY"
S2_CONTENT_MAX: Final = 4 << 20
SNAPPY_CONTENT_MAX: Final = 64 << 10
# Content that one identifier allows in a chunk of the stream that it starts.
CONTENT_MAX: Final = {S2_IDENTIFIER[HEADER_BYTES:]: S2_CONTENT_MAX,
                      SNAPPY_IDENTIFIER[HEADER_BYTES:]: SNAPPY_CONTENT_MAX}
BLOCK_HEADER_MAX: Final = 5


def body_max(content_max: int) -> int:
    """Bytes that the body of a data chunk may have; longer ones are not even read.

    Snappy's own bound for a block, n + n / 6 + 32, is the largest of any encoder's.
    """
    return content_max + content_max // 6 + 32 + CHECKSUM_BYTES


def identified(body: Buffer, offset: int) -> int:
    """Return the largest content of a chunk in the stream that an identifier's body starts."""
    try:
        return CONTENT_MAX[bytes(body)]
    except KeyError:
        raise CorruptError("unknown stream identifier", offset=offset,
                           expected=b" or ".join(CONTENT_MAX).decode(),
                           found=bytes(body[:16])) from None


def check_kind(kind: int, body_size: int, content_max: int, offset: int) -> None:
    """CorruptError unless a chunk may stand here; ``content_max`` is 0 before any identifier."""
    if content_max == 0 and kind != IDENTIFIER:
        raise CorruptError("this is no stream of S2 or Snappy; a block on its own lacks the"
                           " identifier", offset=offset, expected=hex(IDENTIFIER),
                           found=hex(kind))
    if kind == IDENTIFIER and body_size != len(S2_IDENTIFIER) - HEADER_BYTES:
        raise CorruptError("identifier of a wrong length", offset=offset,
                           expected=len(S2_IDENTIFIER) - HEADER_BYTES, found=body_size)
    if PLAIN < kind < SKIPPABLE_MIN:
        raise CorruptError("unknown chunk type that may not be skipped", offset=offset,
                           expected="0x00, 0x01 or 0x80..0xff", found=hex(kind))
    if kind <= PLAIN and not CHECKSUM_BYTES <= body_size <= body_max(content_max):
        raise CorruptError("chunk of an impossible size", offset=offset,
                           expected=f"{CHECKSUM_BYTES}..{body_max(content_max)}", found=body_size)


def content_size(kind: int, start: Buffer, body_size: int, content_max: int, offset: int) -> int:
    """Return what a data chunk decodes to, by the first 9 bytes of its body."""
    if kind == PLAIN:
        size = body_size - CHECKSUM_BYTES
    else:
        try:
            size = s2.decompressed_size(start[CHECKSUM_BYTES:CHECKSUM_BYTES + BLOCK_HEADER_MAX])
        except CorruptError as error:
            raise _inside(error, offset) from None
    if size > content_max:
        raise CorruptError("chunk with more content than its stream allows", offset=offset,
                           expected=f"at most {content_max}", found=size)
    return size


def decode_into(kind: int, body: memoryview, target: memoryview, offset: int) -> None:
    """Put the content of a data chunk into a target of its size; its checksum must hold.

    ``offset`` is the chunk's, for the errors.
    """
    data = body[CHECKSUM_BYTES:]
    if kind == PLAIN:
        target[:] = data
    else:
        try:
            s2.decompress_into(data, target)
        except CorruptError as error:
            raise _inside(error, offset) from None
    expected, found = int.from_bytes(body[:CHECKSUM_BYTES], "little"), masked(target)
    if expected != found:
        raise CorruptError("checksum of a chunk's content does not hold", offset=offset,
                           expected=f"{expected:#010x}", found=f"{found:#010x}")


def _inside(error: CorruptError, offset: int) -> CorruptError:
    """The same error at its place in the stream, for one with an offset in the block."""
    place = offset + HEADER_BYTES + CHECKSUM_BYTES + (error.offset or 0)
    return CorruptError(str(error.args[0]), offset=place)


def chunk(data: Buffer, tier: str) -> list[Buffer]:
    """Return the parts of one data chunk: a header with the checksum, and the body."""
    if len(data) > S2_CONTENT_MAX:
        raise LimitError(f"a chunk holds at most {S2_CONTENT_MAX} bytes, not {len(data)}")
    kind, body = BLOCK, s2.compress(data, tier)
    rest: Buffer = body
    if len(body) >= len(data):
        kind, rest = PLAIN, data
    size = (CHECKSUM_BYTES + len(rest)).to_bytes(3, "little")
    return [bytes([kind]) + size + masked(data).to_bytes(CHECKSUM_BYTES, "little"), rest]
