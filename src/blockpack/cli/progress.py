"""Progress bars on standard error: blocks, bytes, rate, time left; silent without a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from blockpack.cli.output import human_bytes

# Called with blocks done, bytes done, and the total of bytes (or None where nobody knows it).
Report = Callable[[int, int, "int | None"], None]


class _BytesColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        done = int(task.fields.get("nbytes", 0))
        rate = done / task.elapsed if task.elapsed else 0
        return Text(f"{human_bytes(done)} at {human_bytes(rate)}/s")


def _silent(blocks: int, nbytes: int, nbytes_total: int | None) -> None:
    """The report of a run that nobody watches."""


@contextmanager
def progress(what: str, blocks_total: int | None = None) -> Iterator[Report]:
    """A bar over blocks when their number is known, over bytes otherwise."""
    if not sys.stderr.isatty():
        yield _silent
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(),
        TextColumn("{task.fields[blocks]:,} blocks"), _BytesColumn(),
        TimeElapsedColumn(), TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=blocks_total, blocks=0, nbytes=0)

        def report(blocks: int, nbytes: int, nbytes_total: int | None) -> None:
            if blocks_total is not None:
                bars.update(task, completed=blocks, blocks=blocks, nbytes=nbytes)
            else:
                bars.update(task, completed=nbytes, total=nbytes_total, blocks=blocks,
                            nbytes=nbytes)

        yield report
