"""Columns by name and batches of them: the mapping, its parts, and pulling one at a time."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import arrowkit as kit
import numpy as np
import pytest

from blockpack.chain.columns.batch import Batches, Columns
from blockpack.chain.columns.column import Column, Field


def test_columns_are_arrays_by_name() -> None:
    columns = Columns([kit.made("u64", 5)[0], kit.made("binary", 5, nulls=True)[0]])
    assert list(columns) == ["u64", "binary"]
    assert list(columns.keys()) == ["u64", "binary"]
    assert dict(columns)["u64"] is columns["u64"]
    assert len(columns) == columns.rows == 5
    assert "u64" in columns
    assert columns["u64"] is columns.column("u64").values
    assert columns.valid("u64") is None
    valid = columns.valid("binary")
    assert valid is not None
    assert valid.tolist() == [True, False, True, True, False]
    offsets = columns.offsets("binary")
    assert [bytes(columns["binary"][offsets[row]:offsets[row + 1]]).decode() for row in range(5)] \
        == ["", "é", "é\U0001f600" * 2, "", "éééé"]
    assert columns.nbytes == 40 + columns["binary"].nbytes + 48 + 5
    assert repr(columns) == "<Columns of 5 rows: u64: u64, binary: binary>"


def test_what_a_column_has_not_is_said() -> None:
    columns = Columns([kit.made("u64", 5)[0], kit.made("list", 5)[0]])
    with pytest.raises(KeyError, match="there is no column gas; there are u64, list"):
        columns["gas"]
    with pytest.raises(TypeError, match=r"list is nested.*column\('list'\)"):
        columns["list"]
    with pytest.raises(TypeError, match="u64 is a column of kind u64: no offsets"):
        columns.offsets("u64")
    assert "gas" not in columns


def test_columns_can_be_pickled_and_copied() -> None:
    table, _ = kit.table(4, nulls=True)
    columns = Columns(table.parts[0], 4, table.fields, range(7, 9))
    for twin in (pickle.loads(pickle.dumps(columns)), copy.copy(columns), copy.deepcopy(columns)):
        assert twin.rows == 4
        assert twin.fields == columns.fields
        assert twin.blocks == range(7, 9)
        assert twin["u64"].tolist() == columns["u64"].tolist()


def test_no_columns_have_the_rows_that_are_given() -> None:
    assert Columns([]).rows == 0
    capsules = Columns([], rows=7).__arrow_c_array__()
    assert kit.inside(capsules[1], kit.Array).length == 7


def test_batches_are_computed_anew_by_each_reader() -> None:
    alive: list[Any] = []
    batches = kit.counted(3, alive)
    assert [columns["n"][0] for columns in batches] == [0, 1, 2]
    assert [columns["n"][0] for columns in batches] == [0, 1, 2]
    assert len(alive) == 6
    assert repr(batches) == "<Batches of n: u64>"


def test_a_schema_computes_nothing() -> None:
    def compute() -> Iterator[Columns]:
        raise AssertionError

    batches = Batches([Field("n", "u64"), Field("l", "list", children=(Field("item", "u8"),))],
                      compute)
    schema = kit.inside(batches.__arrow_c_schema__(), kit.Schema)
    assert schema.n_children == 2


def test_a_stream_is_computed_as_it_is_read() -> None:
    alive: list[Any] = []
    capsule = kit.counted(4, alive).__arrow_c_stream__()
    assert not alive
    kit.release(kit.pull(kit.inside(capsule, kit.Stream))[1])
    assert len(alive) == 1


def test_columns_are_a_stream_of_one_batch() -> None:
    columns = Columns([Column("n", "u64", np.arange(4, dtype=np.uint64))])
    capsule = columns.__arrow_c_stream__()
    stream = kit.inside(capsule, kit.Stream)
    _, array = kit.pull(stream)
    assert array.length == 4
    kit.release(array)
    assert not kit.pull(stream)[1].release
