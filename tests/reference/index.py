"""The frame index as plain rows: the oracle of the index kernel."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass

ENTRY = struct.Struct("<QQII")


@dataclass(frozen=True)
class Row:
    """One frame."""

    offset: int
    stored_size: int
    decoded_size: int
    checksum: int
    first: int
    records: int


def encode(rows: Sequence[Row]) -> bytes:
    """Entries of these frames and the closing one."""
    data = b"".join(ENTRY.pack(row.offset, row.checksum, row.first, row.decoded_size)
                    for row in rows)
    last = rows[-1]
    return data + ENTRY.pack(last.offset + last.stored_size, 0, last.first + last.records, 0)


def decode(data: bytes) -> list[Row]:
    """The frames of these entries, believed."""
    entries = list(ENTRY.iter_unpack(data))
    return [Row(a[0], b[0] - a[0], a[3], a[1], a[2], b[2] - a[2])
            for a, b in itertools.pairwise(entries)]


def find(rows: Sequence[Row], ordinal: int) -> int:
    """The frame that holds a record."""
    return next(i for i, row in enumerate(rows) if row.first <= ordinal < row.first + row.records)
