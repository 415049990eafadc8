"""The command that recommends knobs: advise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blockpack.cli.measuring import numbers_option, steps
from blockpack.cli.output import human_bytes, json_option, print_json, print_table
from blockpack.measure import advice, machine
from blockpack.measure.advice import Advice, AdviceRow
from blockpack.measure.source import sample_of
from blockpack.store.knobs import CODECS, LINKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TIERS = ", ".join(f"{codec}:{level}" for codec, level in advice.CODEC_TIERS)


def _codec_tiers(context: click.Context, parameter: click.Parameter,
                 text: str | None) -> list[tuple[str, int | str]]:
    if text is None:
        return list(advice.CODEC_TIERS)
    pairs = [word.partition(":") for word in text.split(",")]
    for codec, colon, level in pairs:
        if codec not in CODECS or not colon or not level:
            raise click.BadParameter(f"write CODEC:TIER with commas between, as {_TIERS}; the "
                                     f"codecs are {', '.join(CODECS)}")
    return [(codec, int(level) if level.isdigit() else level) for codec, _, level in pairs]


@click.command()
@click.argument("source")
@click.option("--max-random-read-us", type=click.FloatRange(0, min_open=True),
              help="Recommend the smallest whose mean random read takes at most this.")
@click.option("--codecs", callback=_codec_tiers, help=f"Codecs and tiers to try, such as {_TIERS}"
              ", which is the default.")
@numbers_option("--groups", "Group sizes to try.", advice.GROUP_SIZES)
@click.option("--blocks", type=click.IntRange(min=2), default=advice.SAMPLE_BLOCKS,
              show_default=True, help="Use at most so many.")
@click.option("--megabytes", type=click.IntRange(min=1), default=advice.SAMPLE_BYTES >> 20,
              show_default=True, help="Use at most so many MiB of blocks.")
@click.option("--links", type=click.Choice(LINKS), default="hash", show_default=True)
@click.option("--plot", type=click.Path(dir_okay=False),
              help="Draw size against random read into this file, .png or .svg; needs "
              "blockpack[plot].")
@json_option
def advise(*, source: str, max_random_read_us: float | None,
           codecs: list[tuple[str, int | str]], groups: list[int], blocks: int, megabytes: int,
           links: str, plot: str | None, as_json: bool) -> None:
    """Recommend knobs for your own blocks: SOURCE is a store or chain files.

    Builds a temporary store of a part of the blocks with every choice of codec, tier, group size
    and shared prefixes, and prints what each costs: size, a random read over ten times the cache,
    a read of what was just read, a scan, and what import and sealing take. Rows with * are on the
    frontier: nothing else is both smaller and read faster. The store itself is only read.

    \b
    Examples:
      blockpack advise mainnet
      blockpack advise blocks.rlp.gz --max-random-read-us 200 --plot advice.png
    """
    if not Path(source).exists():
        raise click.BadParameter(f"{source} is neither a file nor a folder")
    sample = sample_of(source, blocks, megabytes << 20)
    if len(sample) < 2:
        raise click.ClickException(f"{source} has fewer than two blocks to measure with")
    with steps() as report:
        found = advice.advise(lambda: sample, codec_tiers=codecs, group_sizes=groups, links=links,
                              max_read_us=max_random_read_us, progress=report)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        print_json({"machine": machine.describe(), **found.to_dict()})
    else:
        _print(found)


def _print(found: Advice) -> None:
    click.echo(f"{found.blocks} blocks, {human_bytes(found.raw_bytes)}, on {machine.describe()}")
    print_table(
        ("", "codec, tier", "group size", "prefixes", "sealed size", "of raw", "random read",
         "inflates", "again", "scan, a block", "import, a block", "pack, a block",
         "largest group"),
        [_cells(row, i == found.best, found.raw_bytes) for i, row in enumerate(found.rows)])
    for doubt in found.doubts:
        click.echo(f"not so sure: {doubt}")
    best = found.rows[found.best].variant
    click.echo(
        f"recommended: --compression {best.compression} --seal-compression-level "
        f"{best.seal_compression_level} --block-group-size {best.block_group_size} "
        f"--seal-dictionary {best.seal_dictionary}  ({found.why})")


def _cells(row: AdviceRow, is_best: bool, raw_bytes: int) -> tuple[str, ...]:
    variant = row.variant
    return (
        ">" if is_best else "*" if row.frontier else "",
        f"{variant.compression} {variant.seal_compression_level}",
        str(variant.block_group_size), variant.seal_dictionary, human_bytes(row.sealed_bytes),
        f"{100 * row.sealed_bytes / raw_bytes:.1f} %",
        f"{row.read_us:.1f} us ± {row.read_error_us:.1f}", human_bytes(row.read_bytes),
        f"{row.cached_us:.1f} us", f"{row.scan_us:.1f} us", f"{row.import_us:.1f} us",
        f"{row.pack_us:.1f} us", human_bytes(row.group_bytes))


def _draw(found: Advice, target: str) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise click.ClickException("--plot needs matplotlib: pip install 'blockpack[plot]'"
                                   ) from error
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    _fill(axes, found)
    figure.savefig(target)
    click.echo(f"drawn: {target}", err=True)


def _fill(axes: Axes, found: Advice) -> None:
    """A point for each row, with its group size; a line along the frontier."""
    series: dict[str, list[AdviceRow]] = {}
    for row in found.rows:
        variant = row.variant
        name = f"{variant.compression} {variant.seal_compression_level}"
        series.setdefault(name + (", prefixes" if variant.seal_dictionary == "auto" else ""),
                          []).append(row)
    for name, rows in series.items():
        axes.scatter([row.read_us for row in rows], [row.sealed_bytes / 1e6 for row in rows],
                     label=name)
        for row in rows:
            axes.annotate(str(row.variant.block_group_size),
                          (row.read_us, row.sealed_bytes / 1e6), textcoords="offset points",
                          xytext=(4, 4), fontsize=8)
    frontier = [row for row in found.rows if row.frontier]
    axes.plot([row.read_us for row in frontier], [row.sealed_bytes / 1e6 for row in frontier],
              linewidth=0.8, color="grey", zorder=0)
    axes.set(xscale="log", xlabel="random read, us (a cache of a tenth)", ylabel="sealed size, MB",
             title=f"{found.blocks} blocks; numbers are group sizes")
    axes.legend()


advise_commands = (advise,)
