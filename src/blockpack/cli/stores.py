"""Commands about a store as a whole: create, info, seal, repack, truncate, verify."""

from __future__ import annotations

import os
from typing import Any

import click

import blockpack
from blockpack.chain.verify import verify_chain, verify_roots
from blockpack.cli.knobs import (
    changeable_options,
    creation_options,
    given,
    repacking_options,
    seal_threads_option,
)
from blockpack.cli.output import (
    human_bytes,
    json_option,
    print_fields,
    print_json,
    print_table,
)
from blockpack.cli.progress import progress
from blockpack.cli.ranges import NEGATIVE_NUMBERS, resolve_number
from blockpack.errors import BlockpackError

STORE = click.Path(file_okay=False)


@click.command()
@click.argument("store", type=STORE)
@click.option("--chain-id", type=int, help="Refuse blocks of other chains.  [default: learnt from "
              "the first transaction that carries one]")
@click.option("--first-block", type=int, help="Number of the first block.  [default: the first "
              "appended decides]")
@creation_options
def create(store: str, chain_id: int | None, first_block: int | None, **options: Any) -> None:
    """Make an empty STORE. `import` makes one too, with the same knobs."""
    blockpack.create(store, chain_id=chain_id, first_block=first_block, **given(options)).close()
    click.echo(f"made an empty store at {store}")


@click.command()
@click.argument("store", type=STORE)
@json_option
@click.option("--segments", is_flag=True, help="List every segment.")
@click.option("--digest", is_flag=True, help="Add the digest of all records: equal for equal "
              "history, whatever the knobs. Reads the open log.")
def info(store: str, as_json: bool, segments: bool, digest: bool) -> None:
    """What STORE holds: blocks, tables, sizes to the byte, knobs."""
    with blockpack.open(store) as opened:
        figures = opened.info()
        if digest:
            figures["digest"] = opened.digest().hex()
        if as_json:
            print_json(figures)
        else:
            _print_info(figures, segments)


def _print_info(figures: dict[str, Any], segments: bool) -> None:
    flat = {name: value for name, value in figures.items()
            if not isinstance(value, dict | list)}
    flat["total_bytes"] = f"{figures['total_bytes']} ({human_bytes(figures['total_bytes'])})"
    print_fields(flat | {f"knob {name}": value for name, value in figures["knobs"].items()})
    tables = [{"table": name, **row} for name, row in figures["tables"].items()]
    _print_rows("tables", tables)
    if segments:
        _print_rows("segments", [
            {"first": segment["first"], "last": segment["last"], "hidden": segment["hidden"],
             **file} for segment in figures["segments"] for file in segment["files"]])
        _print_rows("logs", figures["logs"])


def _print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows], title=title)


@click.command()
@click.argument("store", type=STORE)
@seal_threads_option
@changeable_options
def seal(store: str, seal_threads: int, **options: Any) -> None:
    """Pack everything that is still open in STORE now, full segments or not."""
    with blockpack.open(store, mode="a", seal_threads=seal_threads, **given(options)) as opened:
        before = opened.info()["total_bytes"]
        opened.seal()
        after = opened.info()["total_bytes"]
    click.echo(f"sealed: {human_bytes(before)} are now {human_bytes(after)}")


@click.command()
@click.argument("store", type=STORE)
@click.option("--threads", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True,
              help="Threads that pack.")
@repacking_options
@json_option
def repack(store: str, threads: int, as_json: bool, **options: Any) -> None:
    """Pack the sealed segments of STORE again with other knobs, which the store then keeps.

    Readers go on meanwhile. One segment more than before is on disk at most; run it again to go
    on after an interruption. Segments that are as asked for are left alone, and so are damaged
    ones: they are listed, and the exit code is 1.

    \b
    Examples:
      blockpack repack mainnet --compression zstd --seal-compression-level best
      blockpack repack mainnet --block-group-size 16
    """
    with blockpack.open(store, mode="a") as opened:
        before = opened.info()["total_bytes"]
        with progress("repack") as report:
            done = opened.repack(threads, lambda at, total: report(0, at, total), **given(options))
        figures = {"store": store, "segments_repacked": done.repacked, "segments_kept": done.kept,
                   "bytes_before": before, "bytes_after": opened.info()["total_bytes"],
                   "faults": [_fault(fault) for fault in done.faults]}
    if as_json:
        print_json(figures)
    else:
        for fault in done.faults:
            click.echo(f"left alone: {type(fault).__name__}: {fault}", err=True)
        print_fields({**figures, "bytes_before": human_bytes(figures["bytes_before"]),
                      "bytes_after": human_bytes(figures["bytes_after"]),
                      "faults": len(done.faults)})
    if done.faults:
        raise SystemExit(1)


@click.command(context_settings=NEGATIVE_NUMBERS)
@click.argument("store", type=STORE)
@click.argument("last")
@click.option("--yes", is_flag=True, help="Do not ask.")
def truncate(store: str, last: str, yes: bool) -> None:
    """Cut every block after LAST from STORE (a reorg, or a wrong import).

    LAST is a number, or negative to count from the head: -2 cuts the head alone.
    """
    with blockpack.open(store, mode="a") as opened:
        head = opened.head
        if head is None:
            raise click.ClickException("the store is empty")
        number = resolve_number(last, head)
        if number >= head:
            click.echo(f"nothing to cut: the head is {head}")
            return
        if not yes:
            click.confirm(f"Cut {head - number:,} blocks, {number + 1} to {head}?", abort=True)
        opened.truncate(number)
        click.echo(f"the head is now {opened.head}")


@click.command()
@click.argument("store", type=STORE)
@click.option("--level", type=click.Choice(["bytes", "chain", "roots"]), default="chain",
              show_default=True, help="bytes: every checksum, everything decoded, digests. chain: "
              "that, then parent links and header hashes. roots: that, then the transactions, "
              "uncles, withdrawals and receipts roots and the bloom of every block.")
@json_option
def verify(store: str, level: str, as_json: bool) -> None:
    """Check all of STORE. Goes on after a fault and exits with 1 when there was any."""
    with blockpack.open(store) as opened:
        with progress("verify bytes") as report:
            faults: list[Exception] = list(opened.records.verify(
                lambda done, total: report(0, done, total)))
        for check in {"bytes": (), "chain": (verify_chain,),
                      "roots": (verify_chain, verify_roots)}[level]:
            with progress(check.__name__.replace("_", " "), len(opened)) as report:
                faults += check(opened, lambda done, total: report(done, 0, None))
        result = {"store": store, "level": level, "first": opened.first, "head": opened.head,
                  "faults": [_fault(fault) for fault in faults]}
    if as_json:
        print_json(result)
    else:
        for fault in faults:
            click.echo(f"{type(fault).__name__}: {fault}")
        click.echo(f"{result['first']} to {result['head']}: {len(faults)} faults at level {level}")
    if faults:
        raise SystemExit(1)


def _fault(error: Exception) -> dict[str, Any]:
    fields = {"error": type(error).__name__, "message": str(error)}
    if isinstance(error, BlockpackError):
        fields |= {name: value for name, value in vars(error).items() if value is not None}
    return fields


store_commands = (create, info, seal, repack, truncate, verify)
