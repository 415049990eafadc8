"""The content of a frame, slowly and plainly: the oracle of the group kernel."""

from __future__ import annotations

from collections.abc import Sequence


def pack(records: Sequence[bytes | None]) -> bytes:
    """Width, planes of length + 1 (0 when absent), records."""
    entries = [0 if record is None else len(record) + 1 for record in records]
    width = max(1, (max(entries).bit_length() + 7) // 8)
    rows = [entry.to_bytes(width, "little") for entry in entries]
    planes = b"".join(bytes(row[k] for row in rows) for k in range(width))
    return bytes([width]) + planes + b"".join(record or b"" for record in records)


def unpack(content: bytes, count: int) -> list[bytes | None]:
    """The records; ValueError where the content breaks the format."""
    width = content[0] if content else 0
    if not 1 <= width <= 4 or len(content) < 1 + width * count:
        raise ValueError("no table")
    planes = [content[1 + k * count:1 + (k + 1) * count] for k in range(width)]
    entries = [int.from_bytes(bytes(plane[i] for plane in planes), "little")
               for i in range(count)]
    records: list[bytes | None] = []
    end = 1 + width * count
    for entry in entries:
        start, end = end, end + max(0, entry - 1)
        records.append(None if entry == 0 else content[start:end])
    if end != len(content) or max(entries) > (1 << 30) + 1:
        raise ValueError("lengths do not add up")
    if content != pack(records):
        raise ValueError("not the narrowest table")
    return records
