"""A slice of the store: ``store[a:b:step]``."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

from blockpack._native.block import Block

if TYPE_CHECKING:
    from blockpack.chain.columns.batch import Batches, Columns
    from blockpack.chain.columns.compute import Request
    from blockpack.chain.store import BlockStore

# A step up to this reads every group of the span once; a longer one leaves groups out and reads
# its blocks one by one.
_SCAN_STEP_MAX = 16
# A backward scan goes forward through windows of this many blocks, last window first: 23 MB of
# 90 KB blocks at a time. A group that lies in two windows, one in four of 64, is inflated twice.
_BACKWARD_BLOCKS = 256


class BlockRange(Sequence[Block]):
    """Blocks of a store by absolute number, cut to what the store holds, as a sequence would.

    Nothing is read before it is asked for. It can be iterated any number of times; every
    iteration inflates each group of its span once (backward, some of them twice).
    """

    __slots__ = ("_numbers", "_store")

    def __init__(self, store: BlockStore, numbers: range) -> None:
        self._store = store
        self._numbers = numbers

    @property
    def numbers(self) -> range:
        """The block numbers."""
        return self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Block: ...

    @overload
    def __getitem__(self, index: slice) -> BlockRange: ...

    def __getitem__(self, index: int | slice) -> Block | BlockRange:
        """The block, or the blocks, at a position in the range."""
        if isinstance(index, slice):
            return BlockRange(self._store, self._numbers[index])
        return self._store[self._numbers[index]]

    def __contains__(self, block: object) -> bool:
        """Whether it has this block, or (an int) this number."""
        if isinstance(block, Block):
            return block.number in self._numbers and self._store[block.number] == block
        return block in self._numbers

    def __iter__(self) -> Iterator[Block]:
        step = self._numbers.step
        if abs(step) > _SCAN_STEP_MAX:
            return map(self._store.__getitem__, self._numbers)
        return self._forward(self._numbers) if step > 0 else self._backward()

    def __reversed__(self) -> Iterator[Block]:
        return iter(BlockRange(self._store, self._numbers[::-1]))

    def _forward(self, numbers: range) -> Iterator[Block]:
        if not numbers:
            return
        skip = 0
        for header, body in self._store.raw_range(numbers[0], numbers[-1] + 1, views=True):
            if not skip:
                yield Block(bytes(header), bytes(body))
            skip = (skip or numbers.step) - 1

    def _backward(self) -> Iterator[Block]:
        size = max(1, _BACKWARD_BLOCKS // -self._numbers.step)
        for start in range(0, len(self._numbers), size):
            window = self._numbers[start:start + size]
            yield from reversed(list(self._forward(window[::-1])))

    def columns(self, table: str = "transactions", columns: Iterable[str] | None = None,
                threads: int = 1) -> Columns:
        """Rows of all blocks as columns: NumPy arrays by name, which any Arrow consumer reads.

        ``table`` is blocks, transactions, withdrawals, receipts or logs, and ``columns`` names of
        ``blockpack.TABLES[table].columns`` (or ethereum-etl's or web3's names for them); None
        are all that are read straight from the table's records. Only the columns asked for are
        computed, and only the records they need inflated. ``threads`` share the groups.

        KnobError for a name that there is not, ValueError for a step other than 1; MissingError
        where the store has no receipts for the columns, ImportError for from_address without
        coincurve; LimitError for a number that its column cannot hold, CorruptError for a record
        that is not what it must be, both naming the block. Where the writer cuts the store
        meanwhile, as in ``raw_range``.
        """
        return self._request(table, columns, threads).columns()

    def batches(self, table: str = "transactions", columns: Iterable[str] | None = None,
                threads: int = 1) -> Batches:
        """As ``columns``, some groups of blocks at a time: iterable again and again, and an Arrow
        stream that holds one batch, with several threads a few."""
        return self._request(table, columns, threads).batches()

    def __arrow_c_schema__(self) -> object:
        return self.batches("blocks").__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The blocks table."""
        return self.batches("blocks").__arrow_c_stream__(requested_schema)

    def _request(self, table: str, columns: Iterable[str] | None, threads: int) -> Request:
        from blockpack.chain.columns.compute import Request  # late: it imports NumPy

        if self._numbers.step != 1:
            raise ValueError(f"columns are of a range of step 1, not {self._numbers.step}")
        return Request(self._store.records, self._numbers, table, columns, threads)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockRange):
            return NotImplemented
        return self._store is other._store and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash((id(self._store), self._numbers))

    def __repr__(self) -> str:
        return f"<BlockRange {self._numbers!r} of {self._store.path}>"


def clamped(index: slice, first: int | None, head: int | None) -> range:
    """The numbers that a slice by absolute number selects; negative ones count from the head."""
    if first is None or head is None:
        return range(0)
    step = 1 if index.step is None else operator.index(index.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (first, head + 1) if step > 0 else (first - 1, head)

    def cut(number: int | None, default: int) -> int:
        if number is None:
            return default
        number = operator.index(number)
        return min(max(number + head + 1 if number < 0 else number, low), high)

    begin, end = (low, high) if step > 0 else (high, low)
    return range(cut(index.start, begin), cut(index.stop, end), step)
