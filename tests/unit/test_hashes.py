"""The hash index: against its reference, what it refuses, and what a search gives."""

from __future__ import annotations

import struct

import pytest
from reference import hashes as reference

from blockpack._native.hashes import HashIndex, build, hash_records
from blockpack._native.keccak import keccak256
from blockpack.errors import CorruptError

COUNTS = [0, 1, 2, 7, 15, 16, 17, 100, 255, 256, 257, 300, 1000]


def records(count: int) -> list[bytes]:
    return [b"record %d" % i for i in range(count)]


@pytest.mark.parametrize("count", COUNTS[1:])
def test_agrees_with_the_reference_and_finds_every_record(count: int) -> None:
    made = records(count)
    index = build(hash_records(made[:3], 0) + hash_records(made[3:], 3), count)
    assert index == reference.build(made)
    found = HashIndex(index, count)
    assert all(i in found.find(keccak256(record)) for i, record in enumerate(made))


def test_absent_records_have_no_entry() -> None:
    made = [None, b"one", None, b"", b"four", None]
    index = build(hash_records(made, 0), len(made))
    assert index == reference.build(made)
    assert HashIndex(index, len(made)).find(keccak256(b"")) == [3]
    empty = build(hash_records([None, None], 0), 2)
    assert empty == reference.build([None, None])
    assert HashIndex(empty, 2).find(bytes(32)) == []


@pytest.mark.parametrize(("count", "width"), [(256, 1), (257, 2), (1 << 16, 2), (1 << 16 | 1, 3),
                                              (1 << 24, 3), (1 << 24 | 1, 4), (2**32 - 1, 4)])
def test_ordinals_take_as_few_bytes_as_they_can(count: int, width: int) -> None:
    last = hash_records([b"last"], count - 1)
    index = build(last, count)
    assert len(index) == 8 + 2 * 4 + 2 + width
    assert HashIndex(index, count).find(keccak256(b"last")) == [count - 1]


def test_equal_records_are_all_found() -> None:
    index = HashIndex(build(hash_records([b"same"] * 40, 0), 40), 40)
    assert index.find(keccak256(b"same")) == list(range(40))


def test_few_others_are_candidates() -> None:
    index = HashIndex(build(hash_records(records(5000), 0), 5000), 5000)
    wrong = sum(len(index.find(keccak256(b"other %d" % i))) for i in range(5000))
    assert wrong <= 10    # one or two are expected


@pytest.mark.parametrize(("offset", "value", "error"), [
    (0, 99, CorruptError), (0, 101, CorruptError), (4, 4, CorruptError), (5, 2, CorruptError),
    (6, 1, CorruptError), (8, 1, CorruptError), (12, 200, CorruptError), (-1, 100, IndexError)])
def test_what_is_not_an_index_is_refused(offset: int, value: int, error: type[Exception]) -> None:
    index = bytearray(build(hash_records(records(100), 0), 100))
    index[offset] = value
    with pytest.raises(error):
        HashIndex(bytes(index), 100)


def test_a_wrong_size_is_refused() -> None:
    index = build(hash_records(records(100), 0), 100)
    for size in range(len(index)):
        with pytest.raises(CorruptError, match=r"ends before|grammar"):
            HashIndex(index[:size], 100)
    with pytest.raises(CorruptError, match="do not belong"):
        HashIndex(index + b"\0", 100)
    with pytest.raises(CorruptError):
        HashIndex(index, 99)


def test_tags_out_of_order_are_refused() -> None:
    index = bytearray(build(hash_records(records(8), 0), 8))
    start = 8 + 2 * 4
    first, second = index[start:start + 3], index[start + 3:start + 6]
    assert first[:2] != second[:2]
    index[start:start + 6] = second + first
    with pytest.raises(CorruptError, match="grammar"):
        HashIndex(index, 8)


def test_entries_and_hashes_of_a_wrong_size_are_refused() -> None:
    with pytest.raises(ValueError, match="bytes of entries"):
        build(bytes(17), 5)
    with pytest.raises(ValueError, match="bytes of entries"):
        build(bytes(32), 1)
    index = HashIndex(build(struct.pack("<QQ", 0, 0), 1), 1)
    with pytest.raises(ValueError, match="32 bytes"):
        index.find(bytes(31))
