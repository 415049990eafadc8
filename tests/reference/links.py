"""Contents without links, as slow and obvious as can be: the oracle of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from reference import group as reference_group
from reference.keccak import keccak256


def place_of(record: bytes) -> int | None:
    """Where the link of a record is: the first item of its list, if that is of 32 bytes."""
    if len(record) < 34 or record[0] <= 0xC0:
        return None
    at = 1 if record[0] < 0xF8 else record[0] - 0xF8 + 2
    return at + 1 if record[at:at + 1] == b"\xa0" and at + 33 <= len(record) else None


def cut(records: Sequence[bytes | None], follows: Sequence[bool]) -> bytes:
    """The stored form of these records."""
    content = reference_group.pack(records)
    table = content[:len(content) - sum(len(record) for record in records if record is not None)]
    count, parts = 0, []
    for i, record in enumerate(records):
        before = records[i - 1] if i and follows[i] else None
        if record is None:
            continue
        if before is not None:
            place = place_of(record)
            if place is None or record[place:place + 32] != keccak256(before):
                return b"\0" + content
            count += 1
            parts.append(record[:place] + record[place + 32:])
        else:
            parts.append(record)
    assert count < 128
    return bytes([count]) + table + b"".join(parts)
