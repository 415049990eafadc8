"""Columns of ranges against the bare inflation of their frames, and against Parquet.

The Parquet files hold the columns that are read, as pyarrow writes them: zstd, 15,000-row groups.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import blockpack
from against import frames
from against.frames import Frame, bare_inflate
from against.pairs import Line, Times, median_ratio, take_turns, timed
from against.ranges import exhaust
from against.stores import Bench

CODEC = "zstd"
ROWS_A_GROUP = 15_000
# At most so many microseconds a block, or a header, beside the bare inflation.
TRANSACTIONS_US, HEADERS_US = 30.0, 0.3
PARQUET_SPEED, TWO_THREADS = 1.1, 1.6
FOUR = ("block_number", "to_address", "gas_limit", "nonce")
# Measured apart: what is hashed or printed in decimal, beside the columns that are read.
APART = {"transactions": ("transaction_hash", "value_string"), "blocks": ("block_hash",)}
HASHED = ("block_hash", "parent_hash")


def lines(bench: Bench) -> list[Line]:
    path = bench.sealed(CODEC, bench.sizes.group_blocks)
    headers, bodies = (frames.table_frames(path, table) for table in ("headers", "bodies"))
    with blockpack.open(path) as store:
        return [*transactions(bench, store, [*headers, *bodies]), *blocks(bench, store, headers),
                *threads(bench, store)]


def columns(store: blockpack.BlockStore, table: str, names: Sequence[str],
            count: int = 1) -> Callable[[], object]:
    """A side that makes these columns of all blocks."""
    return lambda: store[:].columns(table, names, threads=count) and None


def read_names(table: str) -> list[str]:
    """The columns that are read as they stand, for those who ask for none by name."""
    return [name for name, spec in blockpack.TABLES[table].columns.items()
            if spec.is_default and name not in HASHED]


def inflation(every: Sequence[Frame]) -> Callable[[], object]:
    inflate = bare_inflate(CODEC)
    return lambda: exhaust(inflate(frame.data) for frame in every)


def transactions(bench: Bench, store: blockpack.BlockStore, every: list[Frame]) -> list[Line]:
    names = read_names("transactions")
    sides = {"ours": columns(store, "transactions", names), "bare": inflation(every),
             "four": columns(store, "transactions", FOUR),
             **{name: columns(store, "transactions", [*names, name])
                for name in APART["transactions"]},
             **parquet(bench, store, "transactions", {"parquet": names, "parquet four": FOUR})}
    times = turns(bench, sides)
    what = "transaction columns"
    return [
        beside(f"{len(names)} {what}", times, "ours", len(store), TRANSACTIONS_US),
        *(extra(f"{name} besides", times, name, len(store)) for name in APART["transactions"]),
        *against(f"{len(names)} {what}", times, "ours", "parquet", len(store),
                 target=PARQUET_SPEED),
        *against(f"4 {what}", times, "four", "parquet four", len(store)),
    ]


def blocks(bench: Bench, store: blockpack.BlockStore, headers: list[Frame]) -> list[Line]:
    names = read_names("blocks")
    sides = {"ours": columns(store, "blocks", names), "bare": inflation(headers),
             "block_hash": columns(store, "blocks", [*names, "block_hash"]),
             **parquet(bench, store, "blocks", {"parquet": names})}
    times = turns(bench, sides)
    return [beside(f"{len(names)} header columns", times, "ours", len(store), HEADERS_US),
            extra("block_hash besides", times, "block_hash", len(store)),
            *against(f"{len(names)} header columns", times, "ours", "parquet", len(store))]


def threads(bench: Bench, store: blockpack.BlockStore) -> list[Line]:
    names = read_names("transactions")
    stop = len(store)
    sides = {"columns": columns(store, "transactions", names),
             "columns, 2": columns(store, "transactions", names, 2),
             "raw_range": lambda: exhaust(store.raw_range(0, stop, views=True)),
             "raw_range, 2": lambda: exhaust(store.raw_range(0, stop, views=True, threads=2))}
    times = turns(bench, sides)
    found = []
    for name in ("columns", "raw_range"):
        ratio = median_ratio(times[name], times[f"{name}, 2"])
        found.append(Line("columns", f"{name}, threads=2 against 1", ratio, "x", ratio=ratio,
                          target=TWO_THREADS, at_least=True))
    return found


def turns(bench: Bench, sides: dict[str, Callable[[], object]]) -> Times:
    return take_turns({name: timed(work) for name, work in sides.items()}, bench.sizes.rounds)


def parquet(bench: Bench, store: blockpack.BlockStore, table: str,
            sides: dict[str, Sequence[str]]) -> dict[str, Callable[[], object]]:
    """Sides that read columns of a Parquet file on one thread; none without pyarrow."""
    if importlib.util.find_spec("pyarrow") is None:
        return {}
    arrow: Any = importlib.import_module("pyarrow")
    files: Any = importlib.import_module("pyarrow.parquet")
    path = bench.new_path()
    names = list(dict.fromkeys(name for names in sides.values() for name in names))
    files.write_table(arrow.table(store[:].columns(table, names)), path, compression="zstd",
                      row_group_size=ROWS_A_GROUP)

    def side(wanted: Sequence[str]) -> Callable[[], object]:
        return lambda: read(files, path, wanted)

    return {name: side(wanted) for name, wanted in sides.items()}


def read(files: Any, path: Path, names: Sequence[str]) -> None:
    with files.ParquetFile(path) as file:
        file.read(columns=list(names), use_threads=False)


def beside(name: str, times: Times, ours: str, count: int, target: float) -> Line:
    """What a block costs beside the bare inflation of its frames."""
    taken = median(a - b for a, b in zip(times[ours], times["bare"], strict=True)) * 1e6 / count
    bare = median(times["bare"]) * 1e6 / count
    return Line("columns", f"{name}, beside the inflation", taken, "us a block", target=target,
                note=f"the inflation takes {bare:.3g}")


def extra(name: str, times: Times, side: str, count: int) -> Line:
    taken = median(a - b for a, b in zip(times[side], times["ours"], strict=True)) * 1e6 / count
    return Line("columns", name, taken, "us a block")


def against(name: str, times: Times, ours: str, peer: str, count: int, *,
            target: float | None = None) -> list[Line]:
    """Blocks a second, ours and Parquet's."""
    if peer not in times:
        return []
    return [Line("columns", f"{name}, inflation included", count / median(times[ours]), "blocks/s",
                 count / median(times[peer]), "Parquet",
                 1 / median_ratio(times[ours], times[peer]), target, at_least=True)]
