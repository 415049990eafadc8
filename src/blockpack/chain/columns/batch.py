"""Columns of equal length, in one piece or a batch at a time, and their Arrow face.

Every Arrow consumer reads them as they are: ``pyarrow.table(x)``, ``polars.DataFrame(x)``,
``duckdb.sql("... from x")``. None of these has to be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView
from typing import Any

from blockpack._native.arrow import array_capsules, schema_capsule, stream_capsule
from blockpack.chain.columns.column import Array, Column, Field

Rows = tuple[tuple[Column, ...], int]


class Columns:
    """Columns by name, as NumPy arrays; ``len`` counts rows, as of a data frame.

    Numbers and bools are arrays of (rows,), fixed-size binary of (rows, width) uint8. Of variable
    binary and strings the array is the bytes of all rows, and ``offsets(name)`` cuts them: row i
    is ``x[name][x.offsets(name)[i]:x.offsets(name)[i + 1]]``. What a null row holds means
    nothing; ``valid(name)`` tells which are null. ``dict(x)`` is one of arrays. (It is no
    ``Mapping``: polars would take it apart as one, array by array.)
    """

    __slots__ = ("_by_name", "blocks", "fields", "rows")

    def __init__(self, columns: Iterable[Column], rows: int | None = None,
                 fields: Iterable[Field] | None = None, blocks: range | None = None) -> None:
        """``rows`` None is the length of the first column, ``fields`` None what the columns say.

        ``blocks`` are the numbers of the blocks that the rows are of, where there are such.
        """
        self.blocks = blocks
        self._by_name = {column.name: column for column in columns}
        first = next(iter(self._by_name.values()), None)
        if rows is None:
            rows = 0 if first is None else len(first)
        self.rows = rows
        self.fields = tuple(column.field for column in self._by_name.values()) \
            if fields is None else tuple(fields)

    def column(self, name: str) -> Column:
        """The column with all its parts."""
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"there is no column {name}; there are {', '.join(self)}") from None

    def __getitem__(self, name: str) -> Array:
        values = self.column(name).values
        if values is None:
            raise TypeError(f"{name} is nested, not one array: column({name!r}) has its parts")
        return values

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return self.rows

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._by_name.keys()

    def valid(self, name: str) -> Array | None:
        """(rows,) bool, False where the row is null; None when no row is."""
        return self.column(name).valid

    def offsets(self, name: str) -> Array:
        """(rows + 1,) int64: where the rows of a variable column begin and end."""
        offsets = self.column(name).offsets
        if offsets is None:
            raise TypeError(f"{name} is a column of kind {self.column(name).kind}: no offsets")
        return offsets

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(column.nbytes for column in self._by_name.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns, (tuple(self._by_name.values()), self.rows, self.fields, self.blocks)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{column.name}: {column.kind}" for column in self._by_name.values())
        return f"<Columns of {self.rows} rows: {kinds}>"

    def __arrow_c_schema__(self) -> object:
        return schema_capsule(self.fields)

    def __arrow_c_array__(self, requested_schema: object | None = None
                          ) -> tuple[object, object]:
        return array_capsules(self.fields, tuple(self._by_name.values()), self.rows,
                              requested_schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return stream_capsule(self.fields, [self.parts], requested_schema)

    @property
    def parts(self) -> Rows:
        """The columns and the number of rows."""
        return tuple(self._by_name.values()), self.rows


class Batches:
    """Columns a batch at a time: each iteration computes them anew.

    The blocks of the batches (``Columns.blocks``) follow one another without a gap or an overlap.
    A consumer of its Arrow stream is given a batch when it asks for one; nothing of a batch is
    kept here, so what a consumer does not hold is freed.
    """

    __slots__ = ("_compute", "fields")

    def __init__(self, fields: Iterable[Field], compute: Callable[[], Iterator[Columns]]) -> None:
        self.fields = tuple(fields)
        self._compute = compute

    def __iter__(self) -> Iterator[Columns]:
        return self._compute()

    def __repr__(self) -> str:
        return f"<Batches of {', '.join(f'{field.name}: {field.kind}' for field in self.fields)}>"

    def __arrow_c_schema__(self) -> object:
        return schema_capsule(self.fields)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        # map, not a generator: no frame holds the batch while the next one is computed.
        return stream_capsule(self.fields, map(_parts, self._compute()), requested_schema)


def _parts(columns: Columns) -> Rows:
    return columns.parts
