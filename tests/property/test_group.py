"""The group and index kernels decide as their references do, on generated and hostile input."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from reference import group as reference
from reference import index as reference_index
from reference.index import Row

from blockpack._native.group import Group, pack
from blockpack._native.index import FrameIndex
from blockpack.errors import CorruptError, LimitError

# Sizes around the borders of varints, and everything small.
SIZES = st.one_of(st.integers(0, 40),
                  st.sampled_from([126, 127, 128, 129, 16_382, 16_383, 16_384, 70_000]))
RECORDS = st.lists(st.one_of(st.none(), st.binary(max_size=12),
                             SIZES.map(lambda size: b"r" * size)), min_size=1, max_size=70)


@given(RECORDS)
def test_pack_and_unpack(records: list[bytes | None]) -> None:
    content = pack(records)
    assert content == reference.pack(records)
    assert reference.unpack(content, len(records)) == records
    group = Group(content, len(records))
    assert [group.record(i) for i in range(len(records))] == records
    assert [group.view(i) for i in range(len(records))] == records


@given(RECORDS, st.data())
def test_any_first_part_gives_its_records_or_refuses(records: list[bytes | None],
                                                     data: st.DataObject) -> None:
    content = pack(records)
    size = data.draw(st.integers(0, len(content)))
    whole = Group(content, len(records))
    try:
        part = Group(content[:size], len(records), len(content))
    except CorruptError:
        assert size < whole.table_size
        return
    assert size >= whole.table_size
    for i, record in enumerate(records):
        assert part.span(i) == whole.span(i)
        assert part.end(i) == whole.end(i)
        try:
            assert part.record(i) == record
        except IndexError:
            assert whole.end(i) > size


def decided(content: bytes, count: int) -> list[bytes | None] | None:
    try:
        group = Group(content, count)
    except (CorruptError, LimitError):
        return None
    return [group.record(i) for i in range(count)]


@given(st.one_of(st.binary(max_size=40), st.builds(
    lambda records, at, value: bytes(value if i == at else byte
                                     for i, byte in enumerate(pack(records))),
    RECORDS, st.integers(0, 80), st.integers(0, 255))), st.integers(1, 70))
def test_hostile_content_is_judged_as_by_the_reference(content: bytes, count: int) -> None:
    try:
        expected = reference.unpack(content, count)
    except ValueError:
        expected = None
    assert decided(content, count) == expected


@st.composite
def frames(draw: st.DrawFn) -> list[Row]:
    rows: list[Row] = []
    first, offset = 0, draw(st.integers(64, 2**40))
    regular = draw(st.booleans())
    for records in draw(st.lists(st.integers(1, 5), min_size=1, max_size=40)):
        row = Row(offset, draw(st.integers(1, 2**33)), draw(st.integers(0, 2**64 - 1)), first,
                  5 if regular else records)
        rows.append(row)
        first, offset = first + row.records, offset + row.stored_size
    return rows


def open_index(entries: bytes, firsts: bytes | None, rows: list[Row]) -> FrameIndex:
    last = rows[-1]
    return FrameIndex(entries, firsts, records=last.first + last.records, group_size=5,
                      start=rows[0].offset, end=last.offset + last.stored_size)


@given(frames())
def test_index_finds_what_the_reference_finds(rows: list[Row]) -> None:
    entries, firsts = reference_index.encode(rows)
    assert reference_index.decode(entries, firsts) == rows
    indexes = [open_index(entries, firsts, rows)]
    if reference_index.regular(rows, 5):
        indexes.append(open_index(entries, None, rows))
    for ordinal in range(rows[-1].first + rows[-1].records):
        i = reference_index.find(rows, ordinal)
        row = rows[i]
        for index in indexes:
            assert index.find(ordinal) == i
            assert index.locate(ordinal) == (i, row.offset, row.stored_size, row.checksum,
                                             row.first, row.records)


@given(frames(), st.data())
def test_a_damaged_index_is_refused_or_tiles_as_it_must(rows: list[Row],
                                                        data: st.DataObject) -> None:
    encoded = [bytearray(part) for part in reference_index.encode(rows)]
    part = data.draw(st.sampled_from(encoded))
    part[data.draw(st.integers(0, len(part) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        index = open_index(bytes(encoded[0]), bytes(encoded[1]), rows)
    except CorruptError:
        return
    last = rows[-1]
    end, ordinal = rows[0].offset, 0
    for i in range(len(index)):
        _, offset, stored_size, _, first, records = index.entry(i)
        assert (offset, first) == (end, ordinal)
        assert stored_size > 0
        assert 1 <= records <= 5
        end, ordinal = offset + stored_size, first + records
    assert end == last.offset + last.stored_size
    assert ordinal == last.first + last.records
