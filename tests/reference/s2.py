"""S2 blocks in slow, obvious Python: the oracle for the kernel. The format is in ext/s2/s2.h."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

HEADER_SIZE_MAX = 5
# Length of a repeat: code -> (smallest length, extra length bytes).
REPEATS = {0: (4, 0), 1: (5, 0), 2: (6, 0), 3: (7, 0), 4: (8, 0), 5: (8, 1), 6: (260, 2),
           7: (65540, 3)}
OFFSET_BYTES = {1: 1, 2: 2, 3: 4}


class Refused(Exception):
    """The block is not valid; the argument is the kernel's code for it, without ``BP_``."""


@dataclass(frozen=True)
class Operation:
    """``kind`` is literal, copy or repeat; ``data`` a literal's bytes; ``offset`` a copy's own."""

    kind: str
    length: int
    offset: int = 0
    data: bytes = b""


def take(block: bytes, at: int, count: int) -> bytes:
    if at + count > len(block):
        raise Refused("TRUNCATED")
    return block[at:at + count]


def number(block: bytes, at: int, count: int) -> int:
    return int.from_bytes(take(block, at, count), "little")


def header(block: bytes) -> tuple[int, int]:
    """(decoded size, header size) of a block."""
    value = 0
    for i in range(HEADER_SIZE_MAX):
        byte = number(block, i, 1)
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                raise Refused("MALFORMED")
            return value, i + 1
    raise Refused("MALFORMED")


def operation(block: bytes, at: int) -> tuple[Operation, int]:
    """The operation at a byte, and where the next one starts."""
    tag = number(block, at, 1)
    kind, m = tag & 3, tag >> 2
    at += 1
    if kind == 0:
        extra = max(m - 59, 0)
        length = (number(block, at, extra) if extra else m) + 1
        at += extra
        return Operation("literal", length, data=take(block, at, length)), at + length
    offset = number(block, at, OFFSET_BYTES[kind])
    at += OFFSET_BYTES[kind]
    if kind != 1:
        return Operation("copy", m + 1, offset), at
    offset |= (m >> 3) << 8
    if offset:
        return Operation("copy", 4 + (m & 7), offset), at
    smallest, extra = REPEATS[m & 7]
    return Operation("repeat", smallest + number(block, at, extra)), at + extra


def operations(block: bytes) -> Iterator[Operation]:
    """Every operation of a block, whether or not it makes sense there."""
    _, at = header(block)
    while at < len(block):
        found, at = operation(block, at)
        yield found


def decompress(block: bytes, max_size: int = 1 << 32, prefix: bytes = b"") -> bytes:
    """Decode a block byte by byte. Sizes over ``max_size`` are refused as TOO_LARGE."""
    size, at = header(block)
    if size > max_size:
        raise Refused("TOO_LARGE")
    output = bytearray(prefix)
    end = len(prefix) + size
    last = 0
    while at < len(block):
        found, at = operation(block, at)
        if len(output) + found.length > end:
            raise Refused("MALFORMED" if len(output) < end else "TRAILING")
        if found.kind == "literal":
            output += found.data
            continue
        offset = last if found.kind == "repeat" else found.offset
        if not 0 < offset <= len(output):
            raise Refused("BAD_OFFSET")
        for _ in range(found.length):
            output.append(output[-offset])
        last = offset
    if len(output) < end:
        raise Refused("TRUNCATED")
    return bytes(output[len(prefix):])
