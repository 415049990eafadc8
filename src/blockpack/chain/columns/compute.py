"""Columns of a range of blocks, group by group, on one thread or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from blockpack._native.columns import Builder, has_storage_form
from blockpack._native.group import Group
from blockpack.chain.columns.batch import Batches, Columns
from blockpack.chain.columns.join import joined
from blockpack.chain.columns.plan import SOURCE_TABLES, Plan
from blockpack.chain.columns.senders import check_recovery, with_senders
from blockpack.chain.sharing import check_threads, in_order, shares
from blockpack.errors import MissingError
from blockpack.store.records import RecordStore
from blockpack.store.tables import BODIES, DIFFICULTY, NAMES, RECEIPTS
from blockpack.store.windows import Window, Windows

# A batch ends with the group that takes it past one of these: a dense group of 64 blocks is one
# batch of 7 MB, of a sparse chain a hundred groups of headers are.
BATCH_BYTES: Final = 4 << 20
BATCH_ROWS: Final = 1 << 16

_BODIES_SOURCE: Final = SOURCE_TABLES.index(BODIES)
_RECEIPTS_SOURCE: Final = SOURCE_TABLES.index(RECEIPTS)


class Request:
    """Columns of one table over blocks ``numbers`` of a store; everything is checked here.

    KnobError for a table, column or number of threads that there is not; MissingError, naming the
    columns, where the store lacks what they are made of; NotYetError past the head.
    """

    def __init__(self, records: RecordStore, numbers: range, table: str,
                 columns: Iterable[str] | None, threads: int) -> None:
        check_threads(threads)
        self.records = records
        self.numbers = numbers
        self.plan = Plan(table, columns)
        self.threads = threads
        if numbers:
            records.windows(numbers.start, numbers.stop)    # raises for a range outside
        builder = self._builder(0)
        if self.plan.sender_names:
            check_recovery()
        for source in builder.sources:
            if SOURCE_TABLES[source] in (RECEIPTS, DIFFICULTY):
                self._require(source)

    def columns(self) -> Columns:
        """All rows at once."""
        if self.threads > 1 and self.numbers:
            with ThreadPoolExecutor(self.threads) as pool:
                parts = list(self._jobs(pool))
                return joined(parts, self.plan.fields, self.numbers, pool)
        builder = self._builder(len(self.numbers))
        for _ in self._fill(builder, self.numbers):
            pass
        return with_senders(self.plan, self.plan.finish(builder, self.numbers), None)

    def batches(self) -> Batches:
        """A batch at a time, computed as they are taken."""
        return Batches(self.plan.fields, self._batches)

    def _batches(self) -> Iterator[Columns]:
        if self.threads > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                yield from self._jobs(pool)
            return
        # No local name of a batch: it would be held while the next one is computed.
        yield from (with_senders(self.plan, batch, None) for batch in self._cut(self.numbers))

    def _builder(self, blocks: int) -> Builder:
        return self.plan.builder(self.records.chain_id, blocks)

    def _require(self, source: int) -> None:
        table = SOURCE_TABLES[source]
        start = self.numbers.start
        for first, last in self.records.coverage(table):
            if first <= start <= last:
                start = last + 1
        if start < self.numbers.stop:
            raise MissingError(f"columns {', '.join(self.plan.needing(source))}: the store has no"
                               f" {NAMES[table]} for block {start}")

    def _fill(self, builder: Builder, numbers: range) -> Iterator[int]:
        """Adds all rows; after each window its stop."""
        windows = self.records.windows(numbers.start, numbers.stop)
        while (window := self._window(builder, windows)) is not None:
            builder.add(window.start, window.stop - window.start, _by_source(builder, window))
            windows.at = window.stop
            del window  # so that the next group can have the memory
            yield windows.at

    def _window(self, builder: Builder, windows: Windows) -> Window | None:
        """The next one, with the bodies of receipts that do not tell their types."""
        sources = builder.sources
        window = windows.read([SOURCE_TABLES[source] for source in sources])
        if (window is None or _RECEIPTS_SOURCE not in sources or _BODIES_SOURCE in sources
                or not self.plan.has_receipt_type):
            return window
        group, low = window.groups[sources.index(_RECEIPTS_SOURCE)]
        if not has_storage_form(group, low, low + window.stop - window.start):
            return window
        builder.use_bodies()
        return windows.read([SOURCE_TABLES[source] for source in builder.sources])

    def _cut(self, numbers: range) -> Iterator[Columns]:
        """Batches by size."""
        builder = self._builder(0)
        first = numbers.start
        for stop in self._fill(builder, numbers):
            if builder.nbytes >= BATCH_BYTES or builder.rows >= BATCH_ROWS or stop == numbers.stop:
                yield self.plan.finish(builder, range(first, stop))
                first = stop

    def _jobs(self, pool: ThreadPoolExecutor) -> Iterator[Columns]:
        """The columns of each job, in order, while the threads work on the next ones."""
        parts = shares(self.records, self._largest_table(), self.numbers)
        for columns in in_order(pool, self.threads, self._job, parts):
            yield with_senders(self.plan, columns, pool)

    def _job(self, numbers: range) -> Columns:
        builder = self._builder(len(numbers))
        for _ in self._fill(builder, numbers):
            pass
        return self.plan.finish(builder, numbers)

    def _largest_table(self) -> int:
        """The one of the tables to read that has most of the bytes."""
        sources = self._builder(0).sources
        by_size = (BODIES, RECEIPTS)
        tables = [SOURCE_TABLES[source] for source in sources]
        return next((one for one in by_size if one in tables), tables[0] if tables else BODIES)


def _by_source(builder: Builder, window: Window) -> list[tuple[Group, int] | None]:
    """The window's groups in the places where the builder wants them."""
    groups: list[tuple[Group, int] | None] = [None] * len(SOURCE_TABLES)
    for source, found in zip(builder.sources, window.groups, strict=True):
        groups[source] = found
    return groups
