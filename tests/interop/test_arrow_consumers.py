"""pyarrow, polars, duckdb and pandas read made-up columns of every kind as what they are."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import arrowkit as kit
import pytest
from arrowconsumers import CONSUMERS, Rows

from blockpack.chain.columns.batch import Batches, Columns

consumers = pytest.mark.parametrize("read", CONSUMERS)


@consumers
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 17])
def test_every_kind_is_read(read: Callable[[Any], Rows], rows: int, nulls: bool) -> None:
    columns, expected = kit.table(rows, nulls)
    assert read(columns) == expected


@consumers
@pytest.mark.parametrize("nulls", [False, True])
def test_a_slice_is_read(read: Callable[[Any], Rows], nulls: bool) -> None:
    columns, expected = kit.table(40, nulls)
    part = Columns([columns.column(name)[7:30] for name in columns])
    assert read(part) == {name: values[7:30] for name, values in expected.items()}


@consumers
def test_batches_are_read_one_after_another(read: Callable[[Any], Rows]) -> None:
    columns, expected = kit.table(40, True)

    def compute() -> Iterator[Columns]:
        for start in range(0, 40, 9):
            yield Columns([columns.column(name)[start:start + 9] for name in columns])

    assert read(Batches(columns.fields, compute)) == expected


@consumers
def test_no_batches_are_an_empty_table(read: Callable[[Any], Rows]) -> None:
    columns, expected = kit.table(0)
    assert read(Batches(columns.fields, lambda: iter(()))) == expected


@consumers
def test_an_error_of_the_iterator_reaches_the_caller(read: Callable[[Any], Rows]) -> None:
    columns, _ = kit.table(4)

    def compute() -> Iterator[Columns]:
        yield columns
        raise ValueError("block 7 has no receipts")

    with pytest.raises(Exception, match="block 7 has no receipts"):
        read(Batches(columns.fields, compute))


@consumers
def test_everything_is_freed_with_what_was_read(read: Callable[[Any], Rows]) -> None:
    alive: list[Any] = []
    assert read(kit.counted(20, alive))["n"] == [at for at in range(20) for _ in range(100)]
    gc.collect()
    assert not any(ref() is not None for ref in alive)


def test_a_reader_of_pyarrow_holds_one_batch() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    alive: list[Any] = []
    most = 0
    for batch in pyarrow.RecordBatchReader.from_stream(kit.counted(30, alive)):
        assert batch.num_rows == 100
        most = max(most, sum(ref() is not None for ref in alive))
    assert len(alive) == 30
    assert most <= 2


def test_a_column_of_pyarrow_outlives_its_table() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    alive: list[Any] = []
    column = pyarrow.table(kit.counted(2, alive)).column("n")
    gc.collect()
    assert column.to_pylist() == [0] * 100 + [1] * 100
    del column
    gc.collect()
    assert not any(ref() is not None for ref in alive)


def test_values_are_not_copied_on_the_way_to_pyarrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns, _ = kit.table(10, True)
    batch = pyarrow.record_batch(columns)
    for name in ("u64", "fixed", "u256"):
        assert batch.column(name).buffers()[1].address == columns[name].ctypes.data
    assert batch.column("binary").buffers()[2].address == columns["binary"].ctypes.data


def test_pandas_reads_capsules_itself() -> None:
    pandas = pytest.importorskip("pandas", minversion="3")
    pytest.importorskip("pyarrow")
    columns, expected = kit.table(10)
    frame = pandas.DataFrame.from_arrow(columns)
    for name in ("u64", "f64", "bool", "fixed", "u256", "binary", "string"):
        assert frame[name].tolist() == expected[name]


def test_pyarrow_types() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns, _ = kit.table(2)
    assert {str(field.name): str(field.type) for field in pyarrow.schema(columns)} == {
        "u8": "uint8", "u32": "uint32", "u64": "uint64", "i64": "int64", "f64": "double",
        "bool": "bool", "binary": "large_binary", "string": "large_string",
        "fixed": "fixed_size_binary[20]", "u256": "fixed_size_binary[32]",
        "list": "large_list<item: struct<number: uint64, address: fixed_size_binary[20]>>",
        "struct": "struct<number: uint64, address: fixed_size_binary[20]>"}


def test_a_schema_asked_of_pyarrow_is_negotiated() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns, _ = kit.table(2)
    ours = pyarrow.schema(columns)
    reader = pyarrow.RecordBatchReader.from_stream(columns, schema=ours)
    assert reader.read_all().schema == ours
    with pytest.raises(ValueError, match="a schema of x is requested"):
        pyarrow.RecordBatchReader.from_stream(columns, schema=pyarrow.schema({"x": "uint64"}))


def test_threads_read_one_set_of_columns() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    columns, expected = kit.table(50, True)

    def work(index: int) -> None:
        for _ in range(20):
            if index % 2:
                assert pyarrow.table(columns).column("u64").to_pylist() == expected["u64"]
            else:
                assert polars.DataFrame(columns)["u256"].to_list() == expected["u256"]

    kit.in_threads(6, work)
