"""Shares a range of blocks out to threads, and takes what they make of it in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Final, TypeVar

from blockpack.errors import KnobError
from blockpack.store.records import RecordStore

# What a thread is given at a time: groups up to these, by their stored bytes.
JOB_BYTES: Final = 1 << 20
JOB_BLOCKS: Final = 1 << 12
# Jobs that are begun before the first one's result is taken, for each thread.
JOBS_AHEAD: Final = 2

_Result = TypeVar("_Result")


def check_threads(threads: int) -> None:
    """KnobError unless it is a number of threads."""
    if threads < 1:
        raise KnobError(f"threads is {threads}, it must be at least 1")


def shares(records: RecordStore, table: int, numbers: range) -> Iterator[range]:
    """The range in runs of whole groups of ``table``, which should be that of most bytes."""
    windows = records.windows(numbers.start, numbers.stop)
    first, size = numbers.start, 0
    for _, stop, stored in windows.pieces(table):
        size += stored
        if size >= JOB_BYTES or stop - first >= JOB_BLOCKS or stop == numbers.stop:
            yield range(first, stop)
            first, size = stop, 0


def in_order(pool: ThreadPoolExecutor, threads: int, job: Callable[[range], _Result],
             parts: Iterable[range]) -> Iterator[_Result]:
    """What ``job`` makes of each part, in their order, while the threads work on the next ones.

    A job's error is raised in its turn. Ending the iteration early calls off what was not begun.
    """
    with ExitStack() as stack:
        running: deque[Future[_Result]] = deque()
        stack.callback(lambda: [future.cancel() for future in running])
        for part in parts:
            running.append(pool.submit(job, part))
            if len(running) > JOBS_AHEAD * threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
