"""Which columns of a table are wanted, and how the kernel's buffers become them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from blockpack._native.columns import FIELDS, ROWS, SOURCES, Builder
from blockpack.chain.columns.aliases import snake_case
from blockpack.chain.columns.batch import Columns
from blockpack.chain.columns.column import DTYPES, NESTED, U256_BYTES, Array, Column, Field
from blockpack.chain.columns.spec import SENDER, Spec, Table
from blockpack.chain.columns.tables import BLOCK_NUMBER, TABLES
from blockpack.errors import KnobError
from blockpack.store.tables import NAMES

# The store's table of each of the kernel's sources, in order.
_TABLE_IDS: Final = {name: table for table, name in NAMES.items()}
SOURCE_TABLES: Final = tuple(_TABLE_IDS[name] for name in SOURCES)
# Name of the block number of each row, where senders are wanted; no column has such a name.
ROW_BLOCK: Final = ""
# Positions of a column's parts in what Builder.finish gives.
_VALUES, _VALID, _OFFSETS, _CHILDREN = range(4)


class Plan:
    """Columns of one table by the names asked for; ``fields`` describes them in order.

    ``columns`` None are those that cost no more than the walk over the table's own records.
    Raises KnobError for a table or column that there is not, and for one asked for twice.
    """

    def __init__(self, table: str, columns: Iterable[str] | None = None) -> None:
        self.table = _table(table)
        self.specs = _chosen(self.table, columns)
        self.fields = tuple(spec.field(name) for name, spec in self.specs)

    def builder(self, chain_id: int | None, blocks: int) -> Builder:
        """What computes them; ``blocks`` is how many blocks will come, as a guess at sizes."""
        specs = [spec for _, spec in self.specs]
        if self.sender_names:
            specs.append(BLOCK_NUMBER)
        return Builder(ROWS[self.table.name], [spec.wanted() for spec in specs],
                       constant=chain_id, blocks=blocks)

    def needing(self, source: int) -> list[str]:
        """The columns for which Builder wants records of a source; all, if the rows are of it."""
        return [name for name, spec in self.specs
                if source in Builder(ROWS[self.table.name], [spec.wanted()]).sources]

    @property
    def sender_names(self) -> list[str]:
        """Columns whose values are as yet the transactions that the sender is computed of."""
        return [name for name, spec in self.specs if spec.kind == SENDER]

    @property
    def has_receipt_type(self) -> bool:
        """Whether a column is of what receipts in the storage form do not tell."""
        return any(spec.source == FIELDS["receipt_type"] for _, spec in self.specs)

    def finish(self, builder: Builder, blocks: range) -> Columns:
        """What the builder has computed of these blocks.

        Senders are still the raw transactions, and after all columns comes ROW_BLOCK with them.
        """
        rows = builder.rows
        specs = [*self.specs, (ROW_BLOCK, BLOCK_NUMBER)]
        made = [_column(name, spec, parts) for (name, spec), (_, parts)
                in zip(specs, builder.finish(), strict=False)]
        return Columns(made, rows, self.fields, blocks)


def _table(name: str) -> Table:
    if name not in TABLES:
        raise KnobError(f"there is no table {name!r} of columns; there are {', '.join(TABLES)}")
    return TABLES[name]


def _chosen(table: Table, columns: Iterable[str] | None) -> list[tuple[str, Spec]]:
    if columns is None:
        return [(name, spec) for name, spec in table.columns.items() if spec.is_default]
    if isinstance(columns, str):
        raise KnobError(f"columns are a list of names, not {columns!r}")
    chosen = [(name, _spec(table, name)) for name in columns]
    names = [name for name, _ in chosen]
    if not names:
        raise KnobError(f"no column of {table.name} is asked for")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise KnobError(f"column {twice} is asked for twice")
    return chosen


def _spec(table: Table, name: str) -> Spec:
    plain = snake_case(name)
    spec = table.columns.get(table.aliases.get(plain, plain))
    if spec is None:
        raise KnobError(f"table {table.name} has no column {name!r}; it has"
                        f" {', '.join(table.columns)}")
    return spec


def _array(part: Any, field: Field) -> Array:
    """A buffer as the values of a field."""
    width = U256_BYTES if field.kind == "u256" else field.width
    view = memoryview(part)
    found: Array = np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)
    found = found.view(DTYPES[field.kind])
    return found.reshape(-1, width) if field.kind in ("fixed", "u256") else found


def _numbers(part: Any) -> Array:
    """Offsets; those of no rows at all were never written."""
    view = memoryview(part)
    return np.frombuffer(view, np.int64) if view.nbytes else np.zeros(1, np.int64)


def _column(name: str, spec: Spec, parts: tuple[Any, ...]) -> Column:
    field = spec.field(name)
    view = memoryview(parts[_VALID])
    valid = np.frombuffer(view, np.bool_) if view.nbytes else None
    if spec.kind == SENDER:
        return Column(name, "binary", _array(parts[_VALUES], Field("", "binary")),
                      _numbers(parts[_OFFSETS]), valid)
    if field.kind == "list":
        child = _nested(field.children[0], list(parts[_CHILDREN:]))
        return Column(name, "list", None, _numbers(parts[_OFFSETS]), valid, (child,))
    offsets = _numbers(parts[_OFFSETS]) if field.kind in ("binary", "string") else None
    return Column(name, field.kind, _array(parts[_VALUES], field), offsets, valid)


def _nested(field: Field, parts: list[Any]) -> Column:
    """A child of a list, whose parts are taken off the front, depth first."""
    if field.kind not in NESTED:
        return Column(field.name, field.kind, _array(parts.pop(0), field))
    offsets = _numbers(parts.pop(0)) if field.kind == "list" else None
    children = tuple(_nested(child, parts) for child in field.children)
    return Column(field.name, field.kind, None, offsets, None, children)
