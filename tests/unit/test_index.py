"""The frame index: regular and irregular groups, and what it refuses."""

from __future__ import annotations

import itertools
import mmap
import struct
from typing import Any

import pytest
from reference import index as reference
from reference.index import Row

from blockpack._native.index import INDEX_ENTRY_BYTES, INDEX_FIRST_BYTES, FrameIndex
from blockpack.errors import CorruptError
from blockpack.segment.grouping import Grouping


def rows_of(counts: list[int], start: int = 64) -> list[Row]:
    """Frames of so many records each, of rising sizes."""
    rows: list[Row] = []
    first, offset = 0, start
    for i, records in enumerate(counts):
        rows.append(Row(offset, 10 + i, (0x0102030405060708 * (i + 1)) % 2**64, first, records))
        first, offset = first + records, offset + 10 + i
    return rows


def open_index(rows: list[Row], *, entries: bytes | None = None, firsts: bytes | None = None,
               regular: bool = False, **changed: int) -> FrameIndex:
    """An index of these rows in groups of 4, or of damaged bytes in their place."""
    last = rows[-1]
    own_entries, own_firsts = reference.encode(rows)
    limits: dict[str, Any] = {"records": last.first + last.records, "group_size": 4, "start": 64,
                              "end": last.offset + last.stored_size, **changed}
    return FrameIndex(own_entries if entries is None else entries,
                      None if regular else own_firsts if firsts is None else firsts, **limits)


REGULAR = [[1], [4], [4, 4, 4], [4, 4, 1]]
IRREGULAR = [[1, 1, 1, 1, 1], [2, 4, 1, 3, 4, 4, 1], [1, 4, 4, 4, 4], [3, 4]]


@pytest.mark.parametrize(("counts", "regular"), [
    *[(counts, True) for counts in REGULAR], *[(counts, False) for counts in REGULAR + IRREGULAR]])
def test_every_record_is_found(counts: list[int], regular: bool) -> None:
    rows = rows_of(counts)
    index = open_index(rows, regular=regular)
    assert len(index) == len(rows)
    for i, row in enumerate(rows):
        expected = (i, row.offset, row.stored_size, row.checksum, row.first, row.records)
        assert index.entry(i) == expected
        for ordinal in range(row.first, row.first + row.records):
            assert index.find(ordinal) == i
            assert index.locate(ordinal) == expected
    assert index.records == sum(counts)
    assert index.group_size == 4


@pytest.mark.parametrize("counts", [[1, 1, 1, 1, 1], [2, 4, 1, 3, 4, 4, 1], [4, 1, 4, 1]])
def test_irregular_groups_need_their_first_ordinals(counts: list[int]) -> None:
    with pytest.raises(CorruptError):
        open_index(rows_of(counts), regular=True)


@pytest.mark.parametrize("ordinal", [-1, 12, 2**32, 2**64, -(2**70)])
@pytest.mark.parametrize("regular", [True, False])
def test_no_such_record(ordinal: int, regular: bool) -> None:
    index = open_index(rows_of([4, 4, 4]), regular=regular)
    for read in (index.find, index.locate):
        with pytest.raises(IndexError):
            read(ordinal)


@pytest.mark.parametrize("i", [-1, 3])
def test_no_such_frame(i: int) -> None:
    with pytest.raises(IndexError):
        open_index(rows_of([4, 4, 4])).entry(i)


def test_entries_on_disk() -> None:
    entries, firsts = reference.encode([Row(64, 5, 9, 0, 2)])
    assert entries == bytes.fromhex("4000000000000000 0900000000000000"
                                    "4500000000000000 0000000000000000")
    assert firsts == bytes.fromhex("00000000 02000000")
    assert len(entries) == 2 * INDEX_ENTRY_BYTES
    assert len(firsts) == 2 * INDEX_FIRST_BYTES
    assert open_index([Row(64, 5, 9, 0, 2)]).locate(1) == (0, 64, 5, 9, 0, 2)


def test_it_holds_on_to_its_map() -> None:
    rows = rows_of([4, 3])
    entries, firsts = reference.encode(rows)
    memory = mmap.mmap(-1, 4096)
    memory[1:1 + len(entries)] = entries    # not aligned
    memory[103:103 + len(firsts)] = firsts
    index = FrameIndex(memoryview(memory)[1:1 + len(entries)],
                       memoryview(memory)[103:103 + len(firsts)],
                       records=7, group_size=4, start=64, end=85)
    with pytest.raises(BufferError):
        memory.close()
    assert index.find(6) == 1
    del index
    memory.close()


# entry, byte in it, its new value as u64, the entry that is blamed
BAD_ENTRIES = [
    ("first frame inside of the header", 0, 0, 63, 0),
    ("gap before the first frame", 0, 0, 65, 0),
    ("offset falls", 1, 0, 60, 1),
    ("empty frame", 1, 0, 64, 1),
    ("offset huge", 1, 0, 2**64 - 1, 1),
    ("past the end", 3, 0, 98, 3),
    ("short of the end", 3, 0, 96, 3),
    ("closing checksum", 3, 8, 1, 3),
]


@pytest.mark.parametrize(("entry", "at", "value", "blamed"), [case[1:] for case in BAD_ENTRIES],
                         ids=[case[0] for case in BAD_ENTRIES])
@pytest.mark.parametrize("regular", [True, False])
def test_hostile_entries_are_refused(entry: int, at: int, value: int, blamed: int,
                                     regular: bool) -> None:
    rows = rows_of([4, 4, 4])
    entries = bytearray(reference.encode(rows)[0])
    struct.pack_into("<Q", entries, entry * INDEX_ENTRY_BYTES + at, value)
    with pytest.raises(CorruptError) as caught:
        open_index(rows, entries=bytes(entries), regular=regular)
    assert caught.value.offset == blamed


BAD_FIRSTS = [
    ("first ordinal not 0", 0, 1, 0),
    ("ordinal falls", 2, 3, 2),
    ("frame without records", 1, 0, 1),
    ("more records than a group", 1, 5, 1),
    ("ordinal huge", 1, 2**32 - 1, 1),
    ("too few records in all", 3, 11, 3),
    ("too many records in all", 3, 13, 3),
]


@pytest.mark.parametrize(("entry", "value", "blamed"), [case[1:] for case in BAD_FIRSTS],
                         ids=[case[0] for case in BAD_FIRSTS])
def test_hostile_first_ordinals_are_refused(entry: int, value: int, blamed: int) -> None:
    rows = rows_of([4, 4, 4])
    firsts = bytearray(reference.encode(rows)[1])
    struct.pack_into("<I", firsts, entry * INDEX_FIRST_BYTES, value)
    with pytest.raises(CorruptError) as caught:
        open_index(rows, firsts=bytes(firsts))
    assert caught.value.offset == blamed


@pytest.mark.parametrize("records", [1, 8, 13, 2**32 - 1])
def test_a_regular_index_of_another_record_count(records: int) -> None:
    with pytest.raises(CorruptError):
        open_index(rows_of([4, 4, 4]), regular=True, records=records)


def test_buffers_of_other_sizes_are_refused() -> None:
    rows = rows_of([4, 4])
    entries, firsts = reference.encode(rows)
    for wrong in (b"", entries[:16], entries[:-1], entries + b"\0"):
        with pytest.raises(ValueError, match="index entries"):
            open_index(rows, entries=wrong)
    for wrong in (b"", firsts[:-1], firsts + bytes(4)):
        with pytest.raises(ValueError, match="first ordinals"):
            open_index(rows, firsts=wrong)
    for changed in ({"group_size": 0}, {"records": 0}, {"records": 2**32}):
        with pytest.raises(ValueError, match="an index of"):
            open_index(rows, **changed)


GROUPINGS = [Grouping(8, 2, 4, 1), Grouping(8, 2, 3, 4), Grouping(8, 3, 1, 2), Grouping(5, 9, 1, 1),
             Grouping(7, 1, 5, 3), Grouping(1, 1, 1, 1)]


def open_keyed(grouping: Grouping, counts: list[int], *, regular: bool = False,
               first_frames: bytes | None = None,
               count: int | None = None) -> tuple[FrameIndex, list[Row], list[list[int]]]:
    """The index of groups of so many records each, its frames, and the ordinals in each."""
    rows, held = reference.keyed_rows(counts, grouping.frames, lambda i: 10 + i, 64)
    entries, _ = reference.encode(rows)
    last = rows[-1]
    frames = first_frames or reference.firsts_of([len(grouping.frames(n)) for n in counts])
    index = FrameIndex(entries, None if regular else reference.firsts_of(counts),
                       frames=None if regular else frames, keying=grouping.keying,
                       records=sum(counts) if count is None else count,
                       group_size=grouping.group_size, start=64,
                       end=last.offset + last.stored_size)
    return index, rows, held


@pytest.mark.parametrize("regular", [True, False])
@pytest.mark.parametrize("grouping", GROUPINGS, ids=str)
@pytest.mark.parametrize("short", [False, True])
def test_every_record_of_keyed_groups_is_found(grouping: Grouping, short: bool,
                                               regular: bool) -> None:
    size = grouping.group_size
    for last in range(1, size + 1):
        counts = ([size, last] if regular else
                  [last, size, 1, last] if short else [size, last, size])
        index, rows, held = open_keyed(grouping, counts, regular=regular)
        assert index.keyed
        at = 0
        for count in counts:
            frames = len(grouping.frames(count))
            first = sum(1 for row in rows if row.offset < rows[at].offset)
            stored = sum(row.stored_size for row in rows[at:at + frames])
            ordinals = sorted(itertools.chain(*held[at:at + frames]))
            for ordinal in ordinals:
                assert index.group(ordinal) == (ordinals[0], count, first, stored)
            for i in range(at, at + frames):
                row = rows[i]
                assert index.entry(i) == (i, row.offset, row.stored_size, row.checksum, row.first,
                                          row.records)
                assert index.ordinals(i) == held[i]
                assert index.key(i) == first
                assert [index.find(ordinal) for ordinal in held[i]] == [i] * row.records
                assert [index.position(o) for o in held[i]] == list(range(row.records))
            at += frames


def test_a_keyed_index_that_does_not_add_up_is_refused() -> None:
    grouping = Grouping(8, 2, 4, 1)
    with pytest.raises(CorruptError):
        open_keyed(grouping, [3, 3, 8], regular=True)
    for wrong in ([7, 4, 7], [7, 3], [0, 10, 7], [2**32 - 1, 1, 7]):
        with pytest.raises((CorruptError, ValueError)):
            open_keyed(grouping, [8, 3, 8],
                       first_frames=b"".join(struct.pack("<I", sum(wrong[:i]) % 2**32)
                                             for i in range(len(wrong) + 1)))
    with pytest.raises(CorruptError):
        open_keyed(grouping, [8, 3], regular=True, count=12)


def test_keying_and_first_frames_go_together() -> None:
    rows = rows_of([4, 4])
    entries, firsts = reference.encode(rows)
    limits: dict[str, Any] = {"records": 8, "group_size": 4, "start": 64, "end": 85}
    for frames, keying in ((firsts, None), (None, (1, 1, 1))):
        with pytest.raises(ValueError, match="first frames are for keyed lanes"):
            FrameIndex(entries, firsts, frames=frames, keying=keying, **limits)
    for keying in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        with pytest.raises(ValueError, match="a keyed lane with keying"):
            FrameIndex(entries, None, keying=keying, **limits)
