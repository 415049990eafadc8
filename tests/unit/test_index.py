"""The frame index: regular and irregular groups, and what it refuses."""

from __future__ import annotations

import mmap
from typing import Any

import pytest
from reference import index as reference
from reference.index import Row

from blockpack._native.index import INDEX_ENTRY_BYTES, FrameIndex
from blockpack.errors import CorruptError, LimitError


def rows_of(counts: list[int], start: int = 64) -> list[Row]:
    """Frames of so many records each, of rising sizes."""
    rows: list[Row] = []
    first, offset = 0, start
    for i, records in enumerate(counts):
        rows.append(Row(offset, 10 + i, 100 + i, (0x0102030405060708 * (i + 1)) % 2**64, first,
                        records))
        first, offset = first + records, offset + 10 + i
    return rows


def open_index(rows: list[Row], data: bytes | None = None, **changed: int) -> FrameIndex:
    last = rows[-1]
    limits: dict[str, Any] = {
        "records": last.first + last.records, "group_size": 4, "offset_min": 64,
        "offset_max": last.offset + last.stored_size, "group_bytes_max": 1000,
        "single_bytes_max": 2000, **changed}
    return FrameIndex(data if data is not None else reference.encode(rows), len(rows), **limits)


@pytest.mark.parametrize("counts", [[1], [4], [4, 4, 4], [4, 4, 1], [1, 1, 1, 1, 1],
                                    [2, 4, 1, 3, 4, 4, 1], [1, 4, 4, 4, 4]])
def test_every_record_is_found(counts: list[int]) -> None:
    rows = rows_of(counts)
    index = open_index(rows)
    assert len(index) == len(rows)
    for i, row in enumerate(rows):
        expected = (i, row.offset, row.stored_size, row.decoded_size, row.checksum, row.first,
                    row.records)
        assert index.entry(i) == expected
        for ordinal in range(row.first, row.first + row.records):
            assert index.find(ordinal) == i
            assert index.locate(ordinal) == expected
    assert index.decoded_size_max == 100 + len(rows) - 1
    assert index.records == sum(counts)
    assert index.group_size == 4


@pytest.mark.parametrize("ordinal", [-1, 12, 2**32, 2**64, -(2**70)])
def test_no_such_record(ordinal: int) -> None:
    index = open_index(rows_of([4, 4, 4]))
    for read in (index.find, index.locate):
        with pytest.raises(IndexError):
            read(ordinal)


@pytest.mark.parametrize("i", [-1, 3])
def test_no_such_frame(i: int) -> None:
    with pytest.raises(IndexError):
        open_index(rows_of([4, 4, 4])).entry(i)


def test_entry_on_disk() -> None:
    data = reference.encode([Row(64, 5, 7, 9, 0, 2)])
    assert data == bytes.fromhex(
        "4000000000000000 0900000000000000 00000000 07000000"
        "4500000000000000 0000000000000000 02000000 00000000")
    assert len(data) == 2 * INDEX_ENTRY_BYTES
    assert open_index([Row(64, 5, 7, 9, 0, 2)]).locate(1) == (0, 64, 5, 7, 9, 0, 2)


def test_it_holds_on_to_its_map() -> None:
    rows = rows_of([4, 4])
    data = reference.encode(rows)
    memory = mmap.mmap(-1, 4096)
    memory[1:1 + len(data)] = data    # not aligned
    view = memoryview(memory)[1:1 + len(data)]
    index = FrameIndex(view, 2, records=8, group_size=4, offset_min=64, offset_max=1000,
                       group_bytes_max=1000, single_bytes_max=1000)
    del view
    with pytest.raises(BufferError):
        memory.close()
    assert index.find(7) == 1
    del index
    memory.close()


def patched(entry: int, at: int, value: int, size: int) -> bytes:
    data = bytearray(reference.encode(rows_of([4, 4, 4])))
    place = entry * INDEX_ENTRY_BYTES + at
    data[place:place + size] = value.to_bytes(size, "little")
    return bytes(data)


REFUSED = [
    ("first frame inside of the header", 0, 0, 63, 8),
    ("first ordinal not 0", 0, 16, 1, 4),
    ("offset falls", 1, 0, 60, 8),
    ("empty frame", 1, 0, 64, 8),
    ("offset huge", 1, 0, 2**64 - 1, 8),
    ("past the end", 3, 0, 98, 8),
    ("ordinal falls", 2, 16, 3, 4),
    ("frame without records", 1, 16, 0, 4),
    ("more records than a group", 1, 16, 5, 4),
    ("ordinal huge", 1, 16, 2**32 - 1, 4),
    ("decoded size 0", 1, 20, 0, 4),
    ("too few records in all", 3, 16, 11, 4),
    ("closing checksum", 3, 8, 1, 8),
    ("closing decoded size", 3, 20, 1, 4),
]


@pytest.mark.parametrize(("entry", "at", "value", "size"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])
def test_a_hostile_index_is_refused(entry: int, at: int, value: int, size: int) -> None:
    with pytest.raises(CorruptError) as caught:
        open_index(rows_of([4, 4, 4]), patched(entry, at, value, size))
    # The frame that is wrong, or the one before it that reaches into it.
    assert caught.value.offset in {entry * INDEX_ENTRY_BYTES, (entry - 1) * INDEX_ENTRY_BYTES}


def test_decoded_sizes_have_limits() -> None:
    with pytest.raises(LimitError):
        open_index(rows_of([4, 4]), group_bytes_max=100)
    assert len(open_index(rows_of([4, 4]), group_bytes_max=101)) == 2
    with pytest.raises(LimitError):
        open_index(rows_of([1, 1]), single_bytes_max=100)
    assert len(open_index(rows_of([1, 1]), single_bytes_max=101, group_bytes_max=1)) == 2


def test_a_buffer_of_another_size_is_refused() -> None:
    data = reference.encode(rows_of([4, 4]))
    for wrong in (b"", data[:-24], data + bytes(24)):
        with pytest.raises(ValueError, match="index entries"):
            open_index(rows_of([4, 4]), wrong)
    with pytest.raises(CorruptError):
        FrameIndex(data[:24], 0, records=0, group_size=1, offset_min=0, offset_max=10,
                   group_bytes_max=1, single_bytes_max=1)
    with pytest.raises(ValueError, match="groups of 0"):
        open_index(rows_of([4, 4]), group_size=0)
