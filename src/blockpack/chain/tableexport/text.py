"""CSV and JSON lines, in UTF-8 with LF line ends; nothing but the standard library."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from blockpack.chain.columns.batch import Columns
from blockpack.chain.columns.column import Column, Field
from blockpack.chain.tableexport.cells import csv_quoted, csv_rows, json_rows

# Text is some ten times its columns while it is made: this many bytes of these at a time.
_SLICE_BYTES = 256 << 10


class CsvWriter:
    """A header line of the names, and a line a row. A null and an empty string look alike."""

    def __init__(self, file: BinaryIO, fields: tuple[Field, ...]) -> None:
        self._file = file
        self._file.write((",".join(csv_quoted(field.name) for field in fields) + "\n").encode())

    def write(self, columns: Columns) -> None:
        """Append the rows."""
        for part in slices(columns):
            self._file.write("\n".join([*csv_rows(part), ""]).encode())

    def close(self) -> None:
        """Write what is pending: nothing is."""

    def abandon(self) -> None:
        """Write nothing more: nothing would be written."""


class JsonWriter:
    """A JSON object a line."""

    def __init__(self, file: BinaryIO, fields: tuple[Field, ...]) -> None:
        self._file = file

    def write(self, columns: Columns) -> None:
        """Append the rows."""
        for part in slices(columns):
            self._file.write("\n".join([*json_rows(part), ""]).encode())

    def close(self) -> None:
        """Write what is pending: nothing is."""

    def abandon(self) -> None:
        """Write nothing more: nothing would be written."""


def slices(columns: Columns) -> Iterator[tuple[Column, ...]]:
    """The rows in pieces of about equal count, small ones where rows are large."""
    parts, rows = columns.parts
    if not rows:
        return
    count = max(1, rows * _SLICE_BYTES // max(columns.nbytes, _SLICE_BYTES))
    for start in range(0, rows, count):
        yield tuple(column[start:start + count] for column in parts)


def csv_names(path: Path) -> list[str] | None:
    """The columns that a CSV file has."""
    with open(path, encoding="utf-8", newline="") as file:
        return next(csv.reader(file), None)


def json_names(path: Path) -> list[str] | None:
    """The columns that a file of JSON lines has; None where it has no line to tell."""
    with open(path, encoding="utf-8") as file:
        line = file.readline()
    return list(json.loads(line)) if line else None
