"""Sums over a field of rows."""

from __future__ import annotations

import struct

import pytest

from blockpack._native.strided import sum_u32


def test_sums_one_field_of_every_row() -> None:
    rows = [(2**63 + i, i, 2**32 - 1 - i) for i in range(1000)]
    data = b"".join(struct.pack("<QII", *row) for row in rows)
    assert sum_u32(data, 8, 16) == sum(row[1] for row in rows)
    assert sum_u32(memoryview(bytearray(data)), 12, 16) == sum(row[2] for row in rows)


def test_what_does_not_lie_inside_is_left_out() -> None:
    assert sum_u32(b"", 0, 4) == 0
    assert sum_u32(b"\x01\0\0", 0, 4) == 0
    assert sum_u32(b"\x01\0\0\0\x02\0\0", 0, 4) == 1
    assert sum_u32(b"\x01\0\0\0\x02\0\0\0", 8, 4) == 0


@pytest.mark.parametrize(("start", "step"), [(-1, 4), (0, 0), (0, -4)])
def test_rows_that_are_none(start: int, step: int) -> None:
    with pytest.raises(ValueError, match="rows"):
        sum_u32(bytes(16), start, step)
