"""Verification of a store as a chain: the checks that need to know what a block is.

That the bytes on disk are those that were written is the record store's to say (its ``verify``);
here it is whether they are a chain (``verify_chain``), and whether each block's body and receipts
are those that its header has roots of (``verify_roots``). All go on after a fault and list what
they found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from blockpack._native.keccak import keccak256_many
from blockpack._native.rlp import header_fields
from blockpack.chain.roots import BATCH_BLOCKS, Records, root_faults
from blockpack.chain.store import BlockStore
from blockpack.errors import BlockpackError, CorruptError, ForkError
from blockpack.store.tables import BODIES, HEADERS, RECEIPTS

# Called with blocks done, and their total.
Progress = Callable[[int, int], None]


def verify_chain(store: BlockStore, progress: Progress | None = None) -> list[Exception]:
    """Check the fields, the number and the parent link of every header.

    A link is good when the parent hash is the keccak of the header before it; it is left alone
    in a store with links none. Returns all faults, in order.
    """
    if store.head is None or store.first is None:
        return []
    check = _Links(hash_links=store.knobs.links == "hash")
    for number, headers in _header_groups(store, store.first, store.head + 1, check.faults):
        check.group(number, headers)
        if progress is not None:
            progress(number + len(headers) - store.first, len(store))
    return check.faults


def _header_groups(store: BlockStore, start: int, stop: int, faults: list[Exception]
                   ) -> Iterator[tuple[int, list[memoryview | None]]]:
    """The headers by group. A group that cannot be read is a fault, and is passed over."""
    while start < stop:
        try:
            for first, group, low, high in store.records.groups(HEADERS, start, stop):
                yield first + low, [group.view(index) for index in range(low, high)]
                start = first + high
            return
        except BlockpackError as fault:
            _note(faults, fault)
            start += 1


def _note(faults: list[Exception], fault: BlockpackError) -> None:
    """Once, though each number of a broken group comes to it again."""
    if not faults or str(faults[-1]) != str(fault):
        faults.append(fault)


def verify_roots(store: BlockStore, progress: Progress | None = None) -> list[Exception]:
    """Recompute every block's transactions, uncles, withdrawals and receipts roots, and its bloom.

    Receipts and the bloom are checked where the store has receipts, in whatever form. That headers
    are those of the chain is for ``verify_chain``. Returns all faults, in order.
    """
    if store.head is None or store.first is None:
        return []
    faults: list[Exception] = []
    for number, rows in _row_batches(store, store.first, store.head + 1, faults):
        faults += root_faults(number, rows)
        if progress is not None:
            progress(number + len(rows) - store.first, len(store))
    return faults


def _row_batches(store: BlockStore, start: int, stop: int, faults: list[Exception]
                 ) -> Iterator[tuple[int, list[Records]]]:
    """(number of the first, records) of blocks in a row; unreadable ones are passed over."""
    while start < stop:
        rows: list[Records] = []
        fault: BlockpackError | None = None
        try:
            for row in store.records.rows((HEADERS, BODIES, RECEIPTS), start, stop):
                rows.append((row[0], row[1], row[2]))
                if len(rows) == BATCH_BLOCKS:
                    yield start, rows
                    start, rows = start + len(rows), []
        except BlockpackError as error:
            fault = error
        if rows:
            yield start, rows
            start += len(rows)
        if fault is not None:
            _note(faults, fault)
            start += 1


class _Links:
    """Checks headers in number order; ``faults`` is what was wrong."""

    def __init__(self, *, hash_links: bool) -> None:
        self.faults: list[Exception] = []
        self._hash_links = hash_links
        self._previous: tuple[int, bytes] | None = None

    def group(self, first: int, headers: list[memoryview | None]) -> None:
        """The headers of consecutive numbers."""
        present = [(number, header) for number, header in enumerate(headers, first)
                   if header is not None]
        self.faults += [CorruptError(f"block {number} has no header")
                        for number, header in enumerate(headers, first) if header is None]
        hashes = keccak256_many([header for _, header in present])
        for (number, header), block_hash in zip(present, hashes, strict=True):
            self._header(number, header)
            self._previous = number, block_hash

    def _header(self, number: int, header: memoryview) -> None:
        try:
            fields = header_fields(header)
        except CorruptError as fault:
            self.faults.append(CorruptError(f"block {number}: {fault}"))
            return
        if fields.number != number:
            self.faults.append(CorruptError("a header has another number than its place",
                                            expected=number, found=fields.number))
        if not self._hash_links or self._previous is None or self._previous[0] != number - 1:
            return
        if fields.parent_hash != self._previous[1]:
            self.faults.append(ForkError(
                f"block {number} names the parent {fields.parent_hash.hex()}, block"
                f" {number - 1} has the hash {self._previous[1].hex()}", number=number,
                have=self._previous[1], got=fields.parent_hash))
