"""Blocks of a range: each group inflated once, and few objects a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from blockpack.chain.records import join
from blockpack.chain.sharing import check_threads, in_order, shares
from blockpack.errors import MissingError
from blockpack.store.records import RecordStore
from blockpack.store.tables import BODIES, HEADERS, NAMES

Views = tuple[memoryview, memoryview]
BLOCK_TABLES = (HEADERS, BODIES)


def views(records: RecordStore, start: int, stop: int) -> Iterator[Views]:
    """(header, body) of each block of start..stop - 1, as views that pin their groups.

    Raises for a range outside of the store at the call, not at the first ``next``.
    """
    return _present(records.rows(BLOCK_TABLES, start, stop), start)


def views_by_threads(records: RecordStore, start: int, stop: int, threads: int) -> Iterator[Views]:
    """As ``views``, the groups inflated by several threads ahead of the one that iterates."""
    check_threads(threads)
    records.windows(start, stop)    # raises for a range outside

    def job(numbers: range) -> list[Views]:
        return list(views(records, numbers.start, numbers.stop))

    def ordered() -> Iterator[Views]:
        with ThreadPoolExecutor(threads, thread_name_prefix="blockpack-read") as pool:
            for part in in_order(pool, threads, job, shares(records, BODIES, range(start, stop))):
                # Not the whole part in memory until its last block.
                part.reverse()
                while part:
                    yield part.pop()

    return ordered()


def _present(rows: Iterable[tuple[memoryview | None, ...]], start: int) -> Iterator[Views]:
    # No enumerate here and below: it would hold a block while the next group is inflated.
    number = start
    for header, body in rows:
        if header is None or body is None:
            raise missing(HEADERS if header is None else BODIES, number)
        yield header, body
        del header, body
        number += 1


def raws(pairs: Iterable[Views]) -> Iterator[bytes]:
    """The RLP of each block."""
    for header, body in pairs:
        block = join(header, body)
        del header, body
        yield block


def limited(pairs: Iterable[Views], max_bytes: int) -> Iterator[Views]:
    """Blocks as long as their records' bytes stay within ``max_bytes``; the first one always."""
    left, some = max_bytes, False
    for header, body in pairs:
        left -= len(header) + len(body)
        if left < 0 and some:
            return
        some = True
        yield header, body
        del header, body


def runs(numbers: Iterable[int], gap_max: int) -> Iterator[range]:
    """Ascending numbers as stretches: none wider apart inside of one than ``gap_max``."""
    start = last = None
    for number in numbers:
        if start is not None and last is not None and number - last > gap_max:
            yield range(start, last + 1)
            start = None
        start = number if start is None else start
        last = number
    if start is not None and last is not None:
        yield range(start, last + 1)


def missing(table: int, number: int) -> MissingError:
    """The error for a number that a table does not cover."""
    return MissingError(f"the store has no {NAMES[table]} for block {number}")
