"""Columns as text, column by column: cells of JSON, from which those of CSV differ a little.

Binary is 0x and hex digits, u256 decimal digits in quotes (no JSON reader would keep them as a
number). A column at a time, because one call a value costs more than the value: a batch's hex is
made by one ``bytes.hex`` and cut.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from blockpack.chain.columns.column import Array, Column

Cells = list[str]
JSON_NULL = "null"
CSV_NULL = ""
_CSV_SPECIAL = re.compile('[",\r\n]')


def json_cells(column: Column) -> Cells:
    """One JSON text a row; a null is ``null``."""
    if column.kind in _PLAIN:
        cells = _PLAIN[column.kind](column)
        if column.kind == "f64":
            cells = [cell if math.isfinite(float(cell)) else JSON_NULL for cell in cells]
    elif column.kind in _QUOTED:
        cells = [f'"{cell}"' for cell in _QUOTED[column.kind](column)]
    elif column.kind == "string":
        cells = [json.dumps(text, ensure_ascii=False) for text in _strings(column)]
    elif column.kind == "list":
        cells = _lists(column)
    else:
        cells = _structs(column)
    return _nulled(cells, column, JSON_NULL)


def csv_cells(column: Column) -> Cells:
    """One text a row, quoted where it must be; a null is empty, lists and structs are JSON.

    Not by ``csv.writer``: it looks at every character, and hex digits never need a quote (36 us a
    transaction, 5 without).
    """
    if column.kind in _PLAIN:
        cells = _PLAIN[column.kind](column)
    elif column.kind in _QUOTED:
        cells = _QUOTED[column.kind](column)
    elif column.kind == "string":
        cells = list(map(csv_quoted, _strings(column)))
    else:
        cells = list(map(csv_quoted, json_cells(column)))
    return _nulled(cells, column, CSV_NULL)


def csv_rows(columns: tuple[Column, ...]) -> Cells:
    """One line a row, without its end, of all columns."""
    rows = map(",".join, zip(*map(csv_cells, columns), strict=True))
    if len(columns) == 1:   # readers pass over an empty line
        return [row or '""' for row in rows]
    return list(rows)


def csv_quoted(text: str) -> str:
    """The text as a CSV field (RFC 4180)."""
    if _CSV_SPECIAL.search(text) is None:
        return text
    return '"' + text.replace('"', '""') + '"'


def _nulled(cells: Cells, column: Column, null: str) -> Cells:
    if column.valid is not None:
        for row in np.flatnonzero(~column.valid).tolist():
            cells[row] = null
    return cells


def _integers(column: Column) -> Cells:
    return list(map(str, _values(column).tolist()))


def _floats(column: Column) -> Cells:
    return list(map(repr, _values(column).tolist()))


def _bools(column: Column) -> Cells:
    return ["true" if value else "false" for value in _values(column).tolist()]


def _hex(column: Column) -> Cells:
    """Of variable binary."""
    start, ends = _span(column)
    digits = _values(column)[start:start + ends[-1]].tobytes().hex()
    return ["0x" + digits[2 * low:2 * high] for low, high in pairwise(ends)]


def _fixed_hex(column: Column) -> Cells:
    values = _values(column)
    width = 2 * values.shape[1]
    digits = values.tobytes().hex()
    return ["0x" + digits[at * width:(at + 1) * width] for at in range(len(values))]


def _decimals(column: Column) -> Cells:
    """Of u256; most of a chain's fit 64 bits, which NumPy converts at once."""
    values = np.ascontiguousarray(_values(column))
    if not len(values):
        return []
    words = values.view(">u8")
    cells = list(map(str, words[:, 3].tolist()))
    for row in np.flatnonzero(words[:, :3].any(axis=1)).tolist():
        cells[row] = str(int.from_bytes(values[row].tobytes(), "big"))
    return cells


def _strings(column: Column) -> Cells:
    start, ends = _span(column)
    data = _values(column)[start:start + ends[-1]].tobytes()
    return [data[low:high].decode(errors="replace") for low, high in pairwise(ends)]


def _lists(column: Column) -> Cells:
    """The items are those of the rows alone: a slice's column keeps the child of the whole."""
    start, ends = _span(column)
    items = json_cells(column.children[0][start:start + ends[-1]])
    return ["[" + ",".join(items[low:high]) + "]" for low, high in pairwise(ends)]


def _structs(column: Column) -> Cells:
    return json_rows(column.children)


def json_rows(columns: tuple[Column, ...]) -> Cells:
    """One JSON object a row, of all columns."""
    names = [json.dumps(column.name).replace("%", "%%") for column in columns]
    template = "{" + ",".join(f"{name}:%s" for name in names) + "}"
    rows = zip(*map(json_cells, columns), strict=True)
    return list(map(template.__mod__, rows))


def _values(column: Column) -> Array:
    assert column.values is not None
    return column.values


def _span(column: Column) -> tuple[int, list[int]]:
    """Where the first row begins, and the offsets counted from there."""
    assert column.offsets is not None
    start = int(column.offsets[0])
    return start, (column.offsets - start).tolist()


_PLAIN: dict[str, Callable[[Column], Cells]] = {
    "u8": _integers, "u32": _integers, "u64": _integers, "i64": _integers, "f64": _floats,
    "bool": _bools,
}
_QUOTED: dict[str, Callable[[Column], Cells]] = {
    "binary": _hex, "fixed": _fixed_hex, "u256": _decimals,
}
