"""Blocks of a range: each group inflated once, and few objects a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from blockpack._native.rlp import join_block
from blockpack.errors import MissingError
from blockpack.store.records import RecordStore
from blockpack.store.tables import BODIES, HEADERS, NAMES

View = memoryview | None


def walk(records: RecordStore, table: int, start: int, stop: int) -> Iterator[View]:
    """One view, or None where the table has no record, for each number of start..stop - 1.

    Raises for a range outside of the store at the call, not at the first ``next``.
    """
    return _walk(records.groups(table, start, stop))


def _walk(groups: Iterator[tuple[int, Any, int, int]]) -> Iterator[View]:
    for _, group, low, high in groups:
        view = group.view
        for index in range(low, high):
            yield view(index)


def views(records: RecordStore, start: int, stop: int) -> Iterator[tuple[memoryview, memoryview]]:
    """(header, body) of each block of start..stop - 1, as views that pin their groups."""
    return _present(walk(records, HEADERS, start, stop), walk(records, BODIES, start, stop), start)


def _present(headers: Iterable[View], bodies: Iterable[View], start: int
             ) -> Iterator[tuple[memoryview, memoryview]]:
    for number, (header, body) in enumerate(zip(headers, bodies, strict=True), start):
        if header is None or body is None:
            raise missing(HEADERS if header is None else BODIES, number)
        yield header, body


def raws(pairs: Iterable[tuple[memoryview, memoryview]]) -> Iterator[bytes]:
    """The RLP of each block."""
    return (join_block(header, body) for header, body in pairs)


def limited_views(pairs: Iterable[tuple[memoryview, memoryview]], max_bytes: int
                  ) -> Iterator[tuple[memoryview, memoryview]]:
    """Blocks as long as their records' bytes stay within ``max_bytes``; the first one always."""
    left = max_bytes
    for index, (header, body) in enumerate(pairs):
        left -= len(header) + len(body)
        if left < 0 and index:
            return
        yield header, body


def missing(table: int, number: int) -> MissingError:
    """The error for a number that a table does not cover."""
    return MissingError(f"the store has no {NAMES[table]} for block {number}")
