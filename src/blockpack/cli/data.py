"""Commands that move blocks: import, export, get, scan."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

import blockpack
from blockpack.chain.exporter import export_era1, export_rlp
from blockpack.chain.importer import import_blocks
from blockpack.cli.knobs import creation_options, given, seal_threads_option
from blockpack.cli.output import human_bytes, json_option, print_fields, print_json
from blockpack.cli.progress import progress
from blockpack.cli.ranges import NEGATIVE_NUMBERS, resolve_number, resolve_range
from blockpack.cli.stores import STORE
from blockpack.store.names import MANIFEST


@click.command(name="import")
@click.argument("store", type=STORE)
@click.argument("sources", nargs=-1, required=True)
@click.option("--direct", is_flag=True, help="For finalised history: pack straight into sealed "
              "segments on all cores, without the open log. The sealed bytes are the same.")
@click.option("--threads", type=int, help="Packing threads of --direct.  [default: all cores]")
@click.option("--chain-id", type=int, help="For a store that is made: refuse other chains.")
@seal_threads_option
@creation_options
@json_option
def import_command(*, store: str, sources: tuple[str, ...], direct: bool, threads: int | None,
                   chain_id: int | None, seal_threads: int, as_json: bool, **options: Any) -> None:
    """Import SOURCES into STORE, made with the knobs given when it does not exist.

    A source is a file of concatenated block RLP (as `geth export` writes, plain or .gz), an era1
    file, a folder of such files, or - for standard input; which one is found from its content.
    What the store has already is compared and skipped, so an import that was cut short is simply
    run again.
    """
    knobs = given(options) | {"seal_threads": seal_threads}
    with _open_or_create(store, chain_id, knobs) as opened:
        with progress("import") as report:
            result = import_blocks(opened, sources, direct=direct, threads=threads,
                                   progress=report)
        figures = {"store": store, "appended": result.appended, "skipped": result.skipped,
                   "bytes": result.nbytes, "passed_over": [str(p) for p in result.passed_over],
                   "first": opened.first, "head": opened.head}
    if as_json:
        print_json(figures)
    else:
        print_fields(figures)


def _open_or_create(store: str, chain_id: int | None, knobs: dict[str, Any]
                    ) -> blockpack.BlockStore:
    if (Path(store) / MANIFEST).exists():
        return blockpack.open(store, mode="a", **knobs)
    return blockpack.create(store, chain_id=chain_id, **knobs)


@click.command(context_settings=NEGATIVE_NUMBERS)
@click.argument("store", type=STORE)
@click.argument("words", nargs=-1, required=True, metavar="[RANGE] TARGET")
@click.option("--to", "--format", "form", default="rlp", show_default=True,
              type=click.Choice(["rlp", "era1", "parquet", "arrow", "csv", "json"]),
              help="What to write; see above.")
@click.option("--range", "option_span", hidden=True, help="RANGE, as an option.")
@click.option("--table", help="blocks, transactions, withdrawals, receipts or logs.")
@click.option("--columns", help="Names with commas between; a name that there is not lists those"
              " that there are.  [default: all that cost no hashing]")
@click.option("--file-blocks", type=click.IntRange(1), default=10_000, show_default=True,
              help="Cut tables into files at multiples of this many blocks.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True,
              help="Threads that decode a table.")
@click.option("--network", help="For era1 file names.  [default: from the chain id]")
@json_option
def export(*, store: str, words: tuple[str, ...], form: str,
           option_span: str | None, table: str | None, columns: str | None, file_blocks: int,
           threads: int, network: str | None, as_json: bool) -> None:
    """Write blocks of STORE to TARGET in a format that other programs read.

    \b
    --to rlp       one file of concatenated block RLP, gzipped when TARGET ends in .gz;
                   - is standard output
    --to era1      a folder of era1 files
    --to parquet   a folder of TABLE-FIRST-LAST.parquet files; needs blockpack[arrow]
    --to arrow     the same as Arrow IPC files; needs blockpack[arrow]
    --to csv       the same as CSV: binary as 0x..., 256-bit numbers in decimal, null empty
    --to json      the same as JSON lines (.jsonl): 256-bit numbers as strings

    \b
    Examples:
      blockpack export mainnet all.rlp.gz
      blockpack export mainnet 16M:17M era/ --to era1
      blockpack export mainnet 16M:17M out/ --to parquet --table transactions
      blockpack export mainnet -1000: out/ --to csv --table logs --columns address,topic0,data

    Run it again to go on: a file has its name only when all of it is on disk, so tables' files
    that are there are kept. When the chain has grown, the last file is replaced by a longer one.
    """
    span, target = _words(words, option_span)
    if form not in ("rlp", "era1"):
        if table is None:
            raise click.UsageError(f"--to {form} writes a table: say which with --table")
        _export_table(store, span, target, as_json, to=form, table=table, file_blocks=file_blocks,
                      columns=columns.split(",") if columns else None, threads=threads)
        return
    if table is not None or columns is not None:
        raise click.UsageError(f"--to {form} writes whole blocks: leave out --table and --columns")
    with blockpack.open(store) as opened:
        start, stop = _range(opened, span)
        with progress("export", stop - start) as report:
            files = [Path(target)]
            if form == "era1":
                files = export_era1(opened, target, start, stop, network=network, progress=report)
            else:
                export_rlp(opened, target, start, stop, progress=report)
    figures = {"blocks": stop - start, "start": start, "stop": stop,
               "files": [str(name) for name in files]}
    if as_json:
        print_json(figures)
    elif target != "-":
        print_fields(figures)


def _words(words: tuple[str, ...], option_span: str | None) -> tuple[str, str]:
    """The range and the target; options that there are not came along as words."""
    for word in words:
        if word.startswith("--"):
            raise click.NoSuchOption(word)
    *span, target = words
    if option_span is not None:
        span.append(option_span)
    if len(span) > 1:
        raise click.UsageError(f"one range and a target expected, not {' '.join(words)}")
    return span[0] if span else ":", target


def _export_table(store: str, span: str, target: str, as_json: bool, **options: Any) -> None:
    # Here, because it brings NumPy, which other commands do without.
    from blockpack.chain.tableexport.export import export_table

    began = time.perf_counter()
    with blockpack.open(store) as opened:
        start, stop = _range(opened, span)
        with progress("export", stop - start) as report:
            try:
                done = export_table(opened, target, start=start, stop=stop, progress=report,
                                    **options)
            except ImportError as error:
                raise click.ClickException(str(error)) from error
    figures: dict[str, Any] = {
        "table": options["table"], "to": options["to"], "blocks": stop - start, "start": start,
        "stop": stop, "rows": done.rows, "bytes": done.nbytes,
        "seconds": round(time.perf_counter() - began, 3),
        "written": [str(path) for path in done.written],
        "kept": [str(path) for path in done.kept],
        "replaced": [str(path) for path in done.replaced]}
    if as_json:
        print_json(figures)
        return
    if done.kept:
        click.echo(f"{len(done.kept)} files were there already, whole, and are kept")
    if done.replaced:
        click.echo(f"{len(done.replaced)} shorter files are replaced by longer ones")
    print_fields({**figures, "bytes": human_bytes(done.nbytes), "written":
                  f"{len(done.written)} files", "kept": len(done.kept),
                  "replaced": len(done.replaced)})


def _range(store: blockpack.BlockStore, text: str) -> tuple[int, int]:
    if store.first is None or store.head is None:
        raise click.ClickException("the store is empty")
    return resolve_range(text, store.first, store.head)


@click.command(context_settings=NEGATIVE_NUMBERS)
@click.argument("store", type=STORE)
@click.argument("number", required=False)
@click.option("--hash", "block_hash", help="The block with this hash, in place of NUMBER.")
@click.option("--part", type=click.Choice(["block", "header", "body", "receipts"]),
              default="block", show_default=True)
@click.option("--hex", "as_hex", is_flag=True, help="Print 0x... instead of raw bytes.")
@json_option
def get(store: str, number: str | None, *, block_hash: str | None, part: str, as_hex: bool,
        as_json: bool) -> None:
    """Write block NUMBER of STORE to standard output (-1 is the head)."""
    if (number is None) == (block_hash is None):
        raise click.UsageError("say which block: NUMBER, or --hash and its hash")
    if as_json and (as_hex or part != "block"):
        raise click.UsageError("--json prints the block's fields: leave out --part and --hex")
    with blockpack.open(store) as opened:
        wanted = _wanted(opened, number, block_hash)
        block = opened[wanted]
        if as_json:
            print_json({"number": block.number, "hash": block.hash, "parent_hash":
                        block.parent_hash, "timestamp": block.timestamp, "size": block.size,
                        "header": block.header.raw, "body": block.body})
            return
        data = {"block": lambda: block.raw, "header": lambda: block.header.raw,
                "body": lambda: block.body,
                "receipts": lambda: bytes(opened.receipts(wanted))}[part]()
    if as_hex:
        click.echo("0x" + data.hex())
    else:
        sys.stdout.buffer.write(data)


def _wanted(store: blockpack.BlockStore, number: str | None, block_hash: str | None) -> int:
    if number is not None:
        return resolve_number(number, store.head if store.head is not None else -1)
    try:
        found = store.find(block_hash or "")
    except ValueError as error:
        raise click.UsageError(f"--hash: {error}") from error
    if found is None:
        raise click.ClickException(f"{store.path} has no block with the hash {block_hash}")
    return found


@click.command(context_settings=NEGATIVE_NUMBERS)
@click.argument("store", type=STORE)
@click.argument("span", default=":", metavar="[RANGE]")
@json_option
def scan(store: str, span: str, as_json: bool) -> None:
    """Read RANGE of STORE from end to end, and say how fast that went."""
    with blockpack.open(store) as opened:
        start, stop = _range(opened, span)
        began = time.perf_counter()
        nbytes = 0
        with progress("scan", stop - start) as report:
            for done, (header, body) in enumerate(opened.raw_range(start, stop, views=True), 1):
                nbytes += len(header) + len(body)
                if done % 256 == 0:
                    report(done, nbytes, None)
        seconds = time.perf_counter() - began
        counters = opened.counters.snapshot()
    figures = {"blocks": stop - start, "bytes": nbytes, "seconds": round(seconds, 6),
               "blocks_per_second": round((stop - start) / seconds, 1), "counters": counters}
    if as_json:
        print_json(figures)
        return
    print_fields({**figures, "bytes": f"{nbytes} ({human_bytes(nbytes / seconds)}/s)",
                  "counters": ", ".join(f"{k} {v}" for k, v in counters.items() if v)})


data_commands = (import_command, export, get, scan)
