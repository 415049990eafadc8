"""Commands that measure: demo, bench."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from blockpack.cli.knobs import level
from blockpack.cli.output import (
    human_bytes,
    human_seconds,
    json_option,
    print_json,
    print_table,
)
from blockpack.measure import demo as demonstration
from blockpack.measure import machine
from blockpack.measure.source import Blocks, blocks_of
from blockpack.measure.synthetic import SyntheticChain
from blockpack.measure.tuning import (
    GROUP_SIZES,
    GroupTable,
    LevelTable,
    Progress,
    group_table,
    level_table,
)
from blockpack.store.knobs import CODECS, LINKS


@contextmanager
def steps() -> Iterator[Progress | None]:
    """A spinner that names the step on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status("starting") as status:
        yield lambda what, done, total: status.update(f"{what} ({done + 1} of {total})")


@click.command()
@click.option("--blocks", type=click.IntRange(min=2), default=demonstration.BLOCKS,
              show_default=True, help="How many synthetic blocks of 90 KB.")
@json_option
def demo(blocks: int, as_json: bool) -> None:
    """Run the main job on a synthetic chain: import, seal, and what each group size costs here.

    Takes under a minute and 330 MB of temporary disk, and leaves nothing behind.
    """
    with steps() as report:
        result = demonstration.run(blocks, progress=report)
    if as_json:
        print_json(result.to_dict())
        return
    click.echo(f"{result.blocks} {result.note}")
    click.echo(f"{human_bytes(result.raw_bytes)} of block RLP, made in "
               f"{human_seconds(result.make_seconds)} on {result.machine}\n")
    for figures in result.imports:
        speed = result.raw_bytes / figures.append_seconds
        click.echo(f"{figures.compression}: imported at {human_bytes(speed)}/s into "
                   f"{human_bytes(figures.open_bytes)}, sealed in "
                   f"{human_seconds(figures.seal_seconds)} into "
                   f"{human_bytes(figures.sealed_bytes)}")
    for table in result.tables:
        _print_groups(table)
    click.echo(f"done in {human_seconds(result.seconds)}")


def _print_groups(table: GroupTable) -> None:
    rows = [
        (row.group_size, f"{row.blocks_per_group:.4g}", human_bytes(row.sealed_bytes),
         "-" if row.group_size == 1 else f"{-100 * row.saved:+.1f} %",
         f"{row.read_ms:.3f} ms", f"{row.scan_ms:.3f} ms")
        for row in table.rows
    ]
    print_table(
        ("group size", "blocks a group", "sealed size", "against per-record",
         "random single-block read", "sequential scan per block"), rows,
        title=f"\n{table.compression}, sealed at tier {table.seal_tier}")


def _print_levels(table: LevelTable) -> None:
    rows = [(f"{row.level} ({row.tier})", f"{row.import_ms:.3f} ms", human_bytes(row.open_bytes),
             human_bytes(row.sealed_bytes)) for row in table.rows]
    print_table(
        ("import level", "import cost per block", "open size", "sealed size"), rows,
        title=f"\n{table.compression}, groups of {table.group_size}, sealed at tier "
              f"{table.seal_tier}")


def _numbers(context: click.Context, parameter: click.Parameter, text: str | None) -> list[int]:
    try:
        return [int(word) for word in text.split(",")] if text else []
    except ValueError as error:
        raise click.BadParameter("write whole numbers with commas between: 1,16,64") from error


def numbers_option(name: str, text: str, default: Sequence[int] = ()) -> Callable[[Any], Any]:
    """An option that takes numbers with commas between."""
    return click.option(name, callback=_numbers, default=",".join(map(str, default)) or None,
                        show_default=bool(default), help=text)


def _chosen(source: str, count: int | None) -> Blocks:
    if source == "synthetic":
        return lambda: islice(SyntheticChain(), count or demonstration.BLOCKS)
    if not Path(source).exists():
        raise click.BadParameter(f"{source} is neither a file nor a folder, nor `synthetic`")
    return blocks_of(source, count)


@click.command()
@click.argument("source")
@numbers_option("--groups", "Group sizes to compare.", GROUP_SIZES)
@numbers_option("--levels", "Import levels to compare too, such as 1,6,10.")
@click.option("--compression", type=click.Choice(CODECS), default="s2",
              show_default=True)
@click.option("--seal-compression-level", default="6", show_default=True)
@click.option("--blocks", type=click.IntRange(min=1), help="Only the first so many.")
@click.option("--links", type=click.Choice(LINKS), default="hash", show_default=True)
@json_option
def bench(*, source: str, groups: list[int], levels: list[int], compression: str,
          seal_compression_level: str, blocks: int | None, links: str, as_json: bool) -> None:
    """Measure what the knobs cost on your own blocks: SOURCE is a store or chain files.

    SOURCE may also be the word `synthetic`, for the chain of the demo (with --blocks).

    Builds one temporary store for each group size (and import level), and compares sealed size,
    a random single-block read and a sequential scan.
    """
    knobs: dict[str, Any] = {"compression": compression, "links": links,
                             "seal_compression_level": level(seal_compression_level)}
    chosen = _chosen(source, blocks)
    with steps() as report:
        by_group = group_table(chosen, groups, progress=report, **knobs)
        by_level = level_table(chosen, levels, progress=report, **knobs) if levels else None
    if as_json:
        print_json({"machine": machine.describe(), "groups": by_group.to_dict(),
                    "levels": by_level.to_dict() if by_level else None})
        return
    click.echo(f"{by_group.blocks} blocks, {human_bytes(by_group.raw_bytes)}, "
               f"on {machine.describe()}")
    _print_groups(by_group)
    if by_level is not None:
        _print_levels(by_level)


measure_commands = (demo, bench)
