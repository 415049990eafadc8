"""RLP encoding of the few shapes that a synthetic block needs.

Source: Ethereum yellow paper, appendix B.
"""

from __future__ import annotations


def prefix(base: int, size: int) -> bytes:
    """Return the header of a string (base 0x80) or list (0xC0) of ``size`` payload bytes."""
    if size < 56:
        return bytes((base + size,))
    if size < 256:
        return bytes((base + 56, size))
    if size < 65536:
        return bytes((base + 57, size >> 8, size & 255))
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((base + 55 + len(length),)) + length


def text(data: bytes) -> bytes:
    """Return the RLP of a byte string."""
    if len(data) == 1 and data[0] < 0x80:
        return data
    return prefix(0x80, len(data)) + data


def number(value: int) -> bytes:
    """Return the RLP of an unsigned number."""
    return text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def sequence(*items: bytes) -> bytes:
    """Return the RLP of a list of items that are RLP already."""
    payload = b"".join(items)
    return prefix(0xC0, len(payload)) + payload
