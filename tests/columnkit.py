"""Columns without a store, columns as Python values, and the rows that the reference has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from blocks import header
from reference.columns import rows_of
from reference.rlp import encode

from blockpack import Block, Receipts
from blockpack._native.group import Group, pack
from blockpack.chain.columns.batch import Columns
from blockpack.chain.columns.column import Column
from blockpack.chain.columns.plan import Plan
from blockpack.chain.columns.tables import TABLES
from blockpack.chain.logs import BlockOrigin

FORMS = {"consensus": b"\1", "storage": b"\2", "slim": b"\3"}
# What is not made by the kernel from the records that a test gives, or not at all.
APART = ("from_address", "total_difficulty_binary")
NEED_RECEIPTS = ("gas_used", "success")


def names_of(table: str, *, receipts: bool = False) -> list[str]:
    """Every column that the reference has too."""
    left_out = () if receipts or table in {"receipts", "blocks"} else NEED_RECEIPTS
    return [name for name in TABLES[table].columns if name not in (*APART, *left_out)]


def built(table: str, names: Sequence[str] | None, blocks: Sequence[Block],
          receipts: Sequence[bytes] | None = None, *,
          difficulties: Sequence[bytes] | None = None, chain_id: int | None = 1) -> Columns:
    """Columns of blocks as one window; ``receipts`` are records, with the byte of their form."""
    plan = Plan(table, names)
    builder = plan.builder(chain_id, 0)
    sides: list[Sequence[Any] | None] = [[block.header.raw for block in blocks],
                                         [block.body for block in blocks], receipts, difficulties]
    groups = [None if side is None else (Group(pack(side), len(side)), 0) for side in sides]
    first = blocks[0].number
    builder.add(first, len(blocks), groups)
    return plan.finish(builder, range(first, first + len(blocks)))


def receipts_of(block: Block, raw: bytes, form: str) -> Receipts:
    """A block's receipts, with the block to ask for hashes and types."""
    origin = BlockOrigin(block.number, block.header.raw, None)
    origin._hashes = block.transactions.hashes()
    origin._types = bytes(tx.type for tx in block.transactions)
    return Receipts(raw, form, origin)


def listed(column: Column) -> list[Any]:
    """The values of a column in Python: bytes, str, numbers, lists, dictionaries, None."""
    values = _plain(column)
    if column.valid is not None:
        assert len(column.valid) == len(values)
        return [value if ok else None for value, ok in zip(values, column.valid, strict=True)]
    return values


def _plain(column: Column) -> list[Any]:
    kind, values = column.kind, column.values
    if kind == "struct":
        children = [listed(child) for child in column.children]
        names = [child.name for child in column.children]
        return [dict(zip(names, row, strict=True)) for row in zip(*children, strict=True)]
    if column.offsets is not None:
        ends = column.offsets.tolist()
        assert ends[0] == 0
        assert ends == sorted(ends)
        whole: Any = listed(column.children[0]) if values is None else values.tobytes()
        assert ends[-1] == len(whole)
        rows = [whole[a:b] for a, b in pairwise(ends)]
        return [row.decode("ascii") for row in rows] if kind == "string" else rows
    assert values is not None
    if kind in ("fixed", "u256"):
        return [row.tobytes() for row in values]
    return values.tolist()


def check(columns: Columns, expected: Sequence[dict[str, Any]], names: Iterable[str]) -> None:
    """Every column has the values of these rows."""
    assert columns.rows == len(expected)
    for name in names:
        assert listed(columns.column(name)) == [row[name] for row in expected], name


def expected_rows(table: str, blocks: list[Block], receipts: list[Receipts] | None = None,
                  chain_id: int | None = 1) -> list[dict[str, Any]]:
    return rows_of(table, blocks, receipts, chain_id)


def made_block(number: int, body: bytes, fields: int = 21) -> Block:
    """A block with this body, whose header has so many well-formed fields."""
    trees = header(number, fields=15)
    forks = [b"\x07", b"\7" * 32, b"\x08", b"", b"\x09" * 32, b"\x0a" * 32]
    return Block(encode([*trees, *forks[:fields - 15]]), body)
