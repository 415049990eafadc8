"""The content of a frame, slowly and plainly: the oracle of the group kernel."""

from __future__ import annotations

from collections.abc import Sequence


def varint(value: int) -> bytes:
    """LEB128 in its shortest form."""
    output = bytearray()
    while value > 0x7F:
        output.append(value & 0x7F | 0x80)
        value >>= 7
    output.append(value)
    return bytes(output)


def pack(records: Sequence[bytes | None]) -> bytes:
    """Smallest entry, differences to it, records; an entry is length + 1, or 0 when absent."""
    entries = [0 if record is None else len(record) + 1 for record in records]
    base = min(entries)
    table = b"".join(varint(entry - base) for entry in entries)
    return varint(base) + table + b"".join(record or b"" for record in records)


def unpack(content: bytes, count: int) -> list[bytes | None]:
    """The records; ValueError where the content breaks the format."""
    values: list[int] = []
    value = shift = end = 0
    for byte in content:
        end += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
        if len(values) == count + 1:
            break
    if len(values) != count + 1:
        raise ValueError("no table")
    entries = [values[0] + delta for delta in values[1:]]
    records: list[bytes | None] = []
    for entry in entries:
        start, end = end, end + max(0, entry - 1)
        records.append(None if entry == 0 else content[start:end])
    if end != len(content) or max(entries) > (1 << 30) + 1:
        raise ValueError("lengths do not add up")
    if content != pack(records):
        raise ValueError("not the shortest table")
    return records
