"""How figures leave the program: one JSON object for machines, tables and lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table


def json_option(command: Any) -> Any:
    """Adds ``--json`` to a command that prints figures."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, default=_jsonable))


def _jsonable(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return "0x" + bytes(value).hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def print_fields(fields: Mapping[str, Any]) -> None:
    """One ``name  value`` line each, names aligned."""
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        click.echo(f"{name:<{width}}  {value}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    table = Table(title=title or None, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    # Piped output has no width of its own; 80 columns would cut the wider tables short.
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)


def human_bytes(count: float) -> str:
    """``1.8 GB``: decimal units, three significant figures."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} TB" if count < 1000 else f"{count:,.0f} TB"


def human_seconds(seconds: float) -> str:
    """``840 us``, ``21.3 ms``, ``4.2 s``."""
    for scale, unit in ((1e-6, "us"), (1e-3, "ms")):
        if seconds < scale * 1000:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"
