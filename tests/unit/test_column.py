"""Columns as plain arrays: lengths, sizes, slices, and the field that describes one."""

from __future__ import annotations

import numpy as np
import pytest

from blockpack.chain.columns.column import DTYPES, Column, Field


def numbers(*values: int) -> Column:
    return Column("n", "u64", np.array(values, np.uint64))


def words(*values: bytes) -> Column:
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return Column("w", "binary", np.frombuffer(b"".join(values), np.uint8), offsets)


def test_rows_are_counted_in_every_shape() -> None:
    assert len(numbers(1, 2, 3)) == 3
    assert len(words(b"a", b"", b"bcd")) == 3
    pair = Column("p", "struct", children=(numbers(1, 2), words(b"x", b"y")))
    assert len(pair) == 2
    assert len(Column("l", "list", None, np.array([0, 2, 2, 2], np.int64), None, (pair,))) == 3


def test_a_slice_shares_the_values() -> None:
    column = Column("n", "u64", np.arange(6, dtype=np.uint64), None, np.arange(6) != 3)
    part = column[2:5]
    assert part.values is not None
    assert part.values.tolist() == [2, 3, 4]
    assert np.shares_memory(part.values, column.values)    # type: ignore[arg-type]
    assert part.valid is not None
    assert part.valid.tolist() == [True, False, True]


def test_a_slice_of_variable_values_cuts_the_offsets_alone() -> None:
    column = words(b"a", b"bc", b"def")
    part = column[1:]
    assert part.values is column.values
    assert part.offsets is not None
    assert part.offsets.tolist() == [1, 3, 6]
    assert len(column[3:1]) == 0


def test_a_slice_of_a_struct_cuts_its_children() -> None:
    pair = Column("p", "struct", children=(numbers(1, 2, 3), words(b"x", b"y", b"z")))
    part = pair[1:2]
    assert len(part) == len(part.children[0]) == len(part.children[1]) == 1
    with pytest.raises(ValueError, match="steps of 1"):
        pair[::2]


def test_the_size_is_that_of_all_arrays() -> None:
    column = Column("l", "list", None, np.zeros(3, np.int64), np.ones(2, bool), (numbers(1),))
    assert column.nbytes == 24 + 2 + 8


@pytest.mark.parametrize("kind", DTYPES)
def test_an_empty_column_is_described_by_its_field(kind: str) -> None:
    field = Field("c", kind, 20 if kind == "fixed" else 0)
    empty = field.empty()
    assert len(empty) == 0
    assert empty.values is not None
    assert empty.values.dtype == DTYPES[kind]
    assert empty.field == field


def test_an_empty_list_of_structs_is_described_by_its_field() -> None:
    item = Field("item", "struct", children=(Field("a", "fixed", 32), Field("b", "u256")))
    field = Field("l", "list", children=(item,))
    assert field.empty().field == field
    assert len(field.empty().children[0]) == 0
