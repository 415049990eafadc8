"""The frame index as plain rows: the oracle of the index kernel."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ENTRY = struct.Struct("<QQ")
FIRST = struct.Struct("<I")


@dataclass(frozen=True)
class Row:
    """One frame."""

    offset: int
    stored_size: int
    checksum: int
    first: int
    records: int


def encode(rows: Sequence[Row]) -> tuple[bytes, bytes]:
    """Entries and first ordinals of these frames, the closing ones included."""
    last = rows[-1]
    entries = b"".join(ENTRY.pack(row.offset, row.checksum) for row in rows)
    firsts = b"".join(FIRST.pack(row.first) for row in rows)
    return (entries + ENTRY.pack(last.offset + last.stored_size, 0),
            firsts + FIRST.pack(last.first + last.records))


def decode(entries: bytes, firsts: bytes) -> list[Row]:
    """The frames of these entries, believed."""
    places = itertools.pairwise(ENTRY.iter_unpack(entries))
    ordinals = itertools.pairwise(first for first, in FIRST.iter_unpack(firsts))
    return [Row(start, end - start, checksum, first, following - first)
            for ((start, checksum), (end, _)), (first, following)
            in zip(places, ordinals, strict=True)]


def regular(rows: Sequence[Row], group_size: int) -> bool:
    """True when every frame but the last is full."""
    return all(row.records == group_size for row in rows[:-1])


def keyed_rows(counts: Sequence[int], frames_of: Callable[[int], list[Sequence[int]]],
               size_of: Callable[[int], int], start: int) -> tuple[list[Row], list[list[int]]]:
    """Frames of groups of so many records, split by ``frames_of``; and the ordinals in each."""
    rows: list[Row] = []
    held: list[list[int]] = []
    first, offset = 0, start
    for count in counts:
        for positions in frames_of(count):
            ordinals = [first + position for position in positions]
            row = Row(offset, size_of(len(rows)), (0x0102030405060708 * (len(rows) + 1)) % 2**64,
                      ordinals[0], len(ordinals))
            rows.append(row)
            held.append(ordinals)
            offset += row.stored_size
        first += count
    return rows, held


def firsts_of(counts: Sequence[int]) -> bytes:
    """First ordinals of groups of so many records; or first frames, of so many frames."""
    return b"".join(map(FIRST.pack, itertools.accumulate(counts, initial=0)))


def find(rows: Sequence[Row], ordinal: int) -> int:
    """The frame that holds a record."""
    return next(i for i, row in enumerate(rows) if row.first <= ordinal < row.first + row.records)
