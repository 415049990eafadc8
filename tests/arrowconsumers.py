"""Programs that read Arrow's C data interface: each gives rows as Python values, by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Rows = dict[str, list[Any]]


def by_pyarrow(source: Any) -> Rows:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(source)
    table.validate(full=True)
    return dict(table.to_pydict())


def by_polars(source: Any) -> Rows:
    polars = pytest.importorskip("polars")
    return dict(polars.DataFrame(source).to_dict(as_series=False))


def by_duckdb(source: Any) -> Rows:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select * from source")
    return {name: [row[at] for row in rows]
            for rows in [relation.fetchall()] for at, name in enumerate(relation.columns)}


def by_pandas(source: Any) -> Rows:
    """As Arrow's types: pandas' own have no integer beside a null, but a float."""
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pyarrow.table(source).to_pandas(types_mapper=pandas.ArrowDtype)
    return dict(pyarrow.Table.from_pandas(frame, preserve_index=False).to_pydict())


CONSUMERS: list[Callable[[Any], Rows]] = [by_pyarrow, by_polars, by_duckdb, by_pandas]
