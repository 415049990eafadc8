"""The group kernel on cases made by hand: varints, absent and empty records, every refusal."""

from __future__ import annotations

import gc
import mmap
import sys

import pytest
from reference import group as reference

from blockpack._native.group import (
    GROUP_RECORDS_MAX,
    GROUP_VARINT_MAX,
    RECORD_BYTES_MAX,
    Group,
    pack,
    table_size_max,
)
from blockpack.errors import CorruptError, LimitError

CASES: list[tuple[str, list[bytes | None]]] = [
    ("one", [b"abc"]),
    ("one absent", [None]),
    ("one empty", [b""]),
    ("absent and empty differ", [None, b"", None, b"x"]),
    ("base of one byte", [b"a" * 126]),
    ("base of two bytes", [b"a" * 127]),
    ("delta of one byte", [b"", b"a" * 127]),
    ("delta of two bytes", [b"", b"a" * 128]),
    ("16,382 and absent: two bytes", [b"a" * 16_382, None]),
    ("16,383 and absent: three bytes", [b"a" * 16_383, None]),
    ("2^21 - 2 and absent: three bytes", [bytes((1 << 21) - 2), None]),
    ("2^21 - 1 and absent: four bytes", [None, bytes((1 << 21) - 1)]),
    ("alike and long", [b"a" * 600, b"b" * 601, b"c" * 600]),
    ("most records", [b"ab", None] * (GROUP_RECORDS_MAX // 2)),
]


@pytest.mark.parametrize(("records"), [case[1] for case in CASES], ids=[c[0] for c in CASES])
def test_pack_is_the_reference_and_reads_back(records: list[bytes | None]) -> None:
    content = pack(records)
    assert content == reference.pack(records)
    group = Group(content, len(records))
    assert len(group) == len(records)
    assert [group.record(i) for i in range(len(records))] == records
    for i, record in enumerate(records):
        view = group.view(i)
        assert (view is None) == (record is None)
        assert view is None or view == record
    assert group.content is content
    assert group.nbytes == len(content) + 4 * len(records)
    assert group.table_size == len(content) - sum(len(record or b"") for record in records)
    assert group.decoded_size == len(content)


def test_bytes_on_disk() -> None:
    # base, deltas, records
    assert pack([b"abc", None, b"", b"x" * 255]) == (
        b"\x00" + b"\x04" + b"\x00" + b"\x01" + b"\x80\x02" + b"abc" + b"x" * 255)
    assert pack([b"x" * 600, b"y" * 603]) == b"\xd9\x04" + b"\x00\x03" + b"x" * 600 + b"y" * 603


def test_spans_and_ends() -> None:
    group = Group(pack([b"abc", None, b"", b"xy"]), 4)
    assert [group.span(i) for i in range(4)] == [(5, 8), None, (8, 8), (8, 10)]
    assert [group.end(i) for i in range(4)] == [8, 8, 8, 10]
    assert (group.table_size, group.decoded_size) == (5, 10)


def test_any_buffer_can_be_a_record_and_a_content() -> None:
    with mmap.mmap(-1, 4096) as memory:
        memory[:3] = b"abc"
        view = memoryview(memory)[:3]
        content = pack([bytearray(b"12"), view, memoryview(b"xy")])
        view.release()
    assert content == reference.pack([b"12", b"abc", b"xy"])
    group = Group(memoryview(b"--" + content)[2:], 3)
    assert [group.record(i) for i in range(3)] == [b"12", b"abc", b"xy"]


def test_a_view_keeps_its_group_alive_and_cannot_write() -> None:
    group = Group(pack([b"abc", b"def"]), 2)
    view = group.view(1)
    del group
    gc.collect()
    assert view == b"def"
    assert view is not None
    assert view.readonly


def test_records_are_released_after_packing() -> None:
    record = bytearray(b"abc")
    pack([record, None, record])
    record.append(0)    # BufferError while exported


def test_records_are_released_when_one_is_no_buffer() -> None:
    record = bytearray(b"abc")
    with pytest.raises(TypeError):
        pack([record, 3])    # type: ignore[list-item]
    record.append(0)


def test_a_first_part_serves_what_it_holds() -> None:
    content = pack([b"abc", b"def", None, b"ghi"])
    part = Group(content[:8], 4, len(content))
    assert part.record(0) == b"abc"
    assert part.record(2) is None
    assert part.span(3) == (11, 14)
    for read in (part.record, part.view):
        with pytest.raises(IndexError, match="past the part"):
            read(1)


def test_limits() -> None:
    assert (GROUP_RECORDS_MAX, GROUP_VARINT_MAX, RECORD_BYTES_MAX) == (65_536, 5, 1 << 30)
    assert table_size_max(64) == 325
    with pytest.raises(IndexError):
        pack([])
    with pytest.raises(LimitError):
        pack([None] * (GROUP_RECORDS_MAX + 1))
    with mmap.mmap(-1, RECORD_BYTES_MAX + 1) as memory:    # untouched: costs no memory
        view = memoryview(memory)
        with pytest.raises(LimitError):
            pack([view])
        view.release()


@pytest.mark.parametrize("i", [-1, 2, sys.maxsize])
def test_a_record_out_of_range(i: int) -> None:
    group = Group(pack([b"a", b"b"]), 2)
    for read in (group.record, group.view, group.span, group.end):
        with pytest.raises(IndexError):
            read(i)


REFUSED = [
    ("empty", b"", 1),
    ("all zero", bytes(10), 4),
    ("table cut", b"\x02\x01", 2),
    ("varint cut", b"\x02\x00\x80", 2),
    ("varint of six bytes", b"\xff\xff\xff\xff\xff\x01\x00", 1),
    ("base not the shortest", b"\x82\x00\x00a", 1),
    ("delta not the shortest", b"\x02\x80\x00a", 1),
    ("records end early", b"\x03\x00\x00abc", 2),
    ("records end late", b"\x03\x00\x00abcde", 2),
    ("base not the smallest", b"\x01\x01\x01ab", 2),
    ("record above the limit", b"\x82\x80\x80\x80\x04\x00" + bytes(10), 1),
    ("sum above 32 bits", b"\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f", 1),
]


@pytest.mark.parametrize(("content", "count"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])
def test_a_broken_table_is_refused(content: bytes, count: int) -> None:
    with pytest.raises((CorruptError, LimitError)):
        Group(content, count)


@pytest.mark.parametrize("count", [0, -1, GROUP_RECORDS_MAX + 1])
def test_a_wrong_count_is_refused(count: int) -> None:
    with pytest.raises(IndexError):
        Group(pack([b"a"]), count)


def test_every_truncation_is_refused() -> None:
    content = pack([b"abc", None, b"x" * 300])
    for size in range(len(content)):
        with pytest.raises(CorruptError):
            Group(content[:size], 3)
