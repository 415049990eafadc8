"""Columns as text: what a reader of JSON and of CSV gets back is what went in."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import arrowkit as kit
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpack.chain.columns.column import Column
from blockpack.chain.tableexport.cells import (
    csv_cells,
    csv_quoted,
    csv_rows,
    json_cells,
    json_rows,
)


def textual(kind: str, value: Any) -> Any:
    """A Python value as JSON has it."""
    if isinstance(value, bytes):
        return str(int.from_bytes(value, "big")) if kind == "u256" else "0x" + value.hex()
    if isinstance(value, dict):
        return {name: textual(name, inner) for name, inner in value.items()}
    return [textual("item", inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", kit.KINDS)
def test_a_cell_is_json(kind: str, nulls: bool) -> None:
    column, expected = kit.made(kind, 25, nulls)
    wanted = [textual(kind, value) for value in expected]
    assert [json.loads(cell) for cell in json_cells(column)] == wanted
    assert [json.loads(cell) for cell in json_cells(column[7:19])] == wanted[7:19]
    assert json_cells(column[3:3]) == []


@pytest.mark.parametrize("kind", kit.KINDS)
def test_a_cell_of_csv_is_the_same_without_quotes(kind: str) -> None:
    column, expected = kit.made(kind, 25, True)
    wanted = [textual(kind, value) for value in expected]
    lines = "\n".join([*csv_cells(column), ""])
    cells = [row[0] if row else "" for row in csv.reader(io.StringIO(lines))]
    for cell, value in zip(cells, wanted, strict=True):
        if value is None or isinstance(value, str):
            assert cell == (value or "")
        else:
            assert json.loads(cell) == value


@given(st.lists(st.integers(0, 2**256 - 1) | st.integers(0, 2**64), max_size=20))
def test_a_u256_is_its_decimal_digits(numbers: list[int]) -> None:
    data = b"".join(number.to_bytes(32, "big") for number in numbers)
    column = Column("n", "u256", np.frombuffer(data, np.uint8).reshape(-1, 32))
    assert csv_cells(column) == list(map(str, numbers))


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_any_text_comes_back(texts: list[str]) -> None:
    values, offsets = kit.packed([text.encode() for text in texts])
    column = Column("a,%s", "string", values, offsets)
    assert [json.loads(row) for row in json_rows((column, column))] \
        == [{"a,%s": text} for text in texts]
    rows = "\n".join([*csv_rows((column, column)), ""])
    assert list(csv.reader(io.StringIO(rows, newline=""))) == [[text, text] for text in texts]


def test_what_a_null_row_holds_does_not_matter() -> None:
    values, offsets = kit.packed([b"\xff\xfe", b"ok"])
    column = Column("t", "string", values, offsets, np.array([False, True]))
    assert json_cells(column) == ["null", '"ok"']
    assert csv_cells(column) == ["", "ok"]


def test_a_double_that_json_has_not_is_null() -> None:
    column = Column("f", "f64", np.array([1.5, np.nan, np.inf, 1e300]))
    assert json_cells(column) == ["1.5", "null", "null", "1e+300"]
    assert csv_cells(column) == ["1.5", "nan", "inf", "1e+300"]


def test_a_line_of_one_empty_cell_is_not_an_empty_line() -> None:
    column, _ = kit.made("u64", 2, True)
    assert csv_rows((column,)) == [csv_cells(column)[0], '""']
    assert csv_rows((column, column))[1] == ","


def test_csv_quotes_where_it_must() -> None:
    assert csv_quoted("0xab") == "0xab"
    assert csv_quoted('a "b"') == '"a ""b"""'
    assert csv_quoted("a,b") == '"a,b"'
    assert csv_quoted("a\nb") == '"a\nb"'
