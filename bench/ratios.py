#!/usr/bin/env python3
"""Our speed and memory as ratios against named peers, both sides in turn within one run.

    python bench/ratios.py [--only SECTION] [--check] [--json] [--full]

Prints Markdown tables. A ratio is the median over rounds of ours / peer; a target is a bound on
it, or on our own figure where no peer is named. --check makes the exit status 1 when a target is
missed. --full imports 50,000 blocks for the memory section instead of 4,000: minutes, and 8 GB of
disk. --tiny runs everything on a few blocks, to see that it runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path

from against.pairs import Line
from against.stores import FULL, SHORT, TINY, Bench

from blockpack.measure import machine

SECTIONS = ("reads", "ranges", "imports", "opening", "cold", "memory", "roots", "decode",
            "columns", "objects", "stores")
MODULES = {"stores": "side_by_side"}


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def bound(line: Line) -> str:
    if line.target is None:
        return ""
    unit = f" {line.unit}" if line.ratio is None else ""
    return f"{'>=' if line.at_least else '<='} {line.target:g}{unit}"


def as_table(lines: list[Line]) -> str:
    """Markdown, one row a line."""
    rows = ["| what | ours | peer | ratio | target | met |", "|---|---|---|---|---|---|"]
    for line in lines:
        peer = f"{number(line.peer)} {line.unit}, {line.peer_name}" if line.peer_name else ""
        met = {None: "", True: "yes", False: "**no**"}[line.met]
        ratio = "" if line.ratio is None else f"{line.ratio:.{3 if line.ratio < 2 else 2}f}"
        note = f" ({line.note})" if line.note else ""
        rows.append(f"| {line.name}{note} | {number(line.ours)} {line.unit} | {peer} | {ratio}"
                    f" | {bound(line)} | {met} |")
    return "\n".join(rows)


def stores_table(lines: list[Line]) -> str:
    """One row a store, one column a note."""
    columns = list(dict.fromkeys(line.note for line in lines))
    cells = {(line.name, line.note): f"{number(line.ours)} {line.unit}" for line in lines}
    rows = ["| store | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in dict.fromkeys(line.name for line in lines):
        rows.append(f"| {name} | " + " | ".join(cells[name, note] for note in columns) + " |")
    return "\n".join(rows)


def report(lines: list[Line]) -> str:
    stores = [line for line in lines if line.section == "stores"]
    others = [line for line in lines if line.section != "stores"]
    tables = [as_table(others)] if others else []
    return "\n\n".join([f"{machine.describe()}; synthetic blocks of 90 KB", *tables,
                        *([stores_table(stores)] if stores else [])])


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", action="append", choices=SECTIONS, metavar="SECTION",
                        help=f"one of {', '.join(SECTIONS)}; may be repeated")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", dest="sizes", action="store_const", const=FULL, default=SHORT)
    size.add_argument("--tiny", dest="sizes", action="store_const", const=TINY)
    return parser.parse_args()


def main() -> int:
    chosen = options()
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="blockpack-ratios-", dir=chosen.folder) as folder:
        bench = Bench(Path(folder), chosen.sizes)
        for section in chosen.only or SECTIONS:
            print(f"{section} ...", file=sys.stderr)
            module = importlib.import_module(f"against.{MODULES.get(section, section)}")
            lines += module.lines(bench)
    if chosen.json:
        print(json.dumps({"machine": machine.describe(),
                          "lines": [line.as_dict() for line in lines]}, indent=1))
    else:
        print(report(lines))
    missed = [line.name for line in lines if line.met is False]
    if missed:
        print(f"{len(missed)} targets missed: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
