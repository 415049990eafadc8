"""Does a block belong together? By the roots that its header has of its body and receipts."""

from __future__ import annotations

from typing import Any

from blockpack._native.roots import check_roots
from blockpack.chain.records import Buffer
from blockpack.errors import CorruptError

# Blocks whose records are checked in one crossing: 13 ms of hashes for dense ones.
BATCH_BLOCKS = 64

Records = tuple[Buffer | None, Buffer | None, Buffer | None]


def body_matches(header: Buffer, body: Buffer) -> bool:
    """Whether transactions, uncles and withdrawals are those that the header has roots of.

    False too for a chain that defines these fields otherwise, and for a body that is no list of
    lists.
    """
    return not check_roots([header], [body], [None])


def root_faults(first: int, records: list[Records]) -> list[CorruptError]:
    """What is wrong in blocks first, first + 1, ..., each a (header, body, receipts).

    Receipts of any form are checked where there are some, and the header's bloom with them.
    """
    headers, bodies, receipts = (list(column) for column in zip(*records, strict=True))
    if None not in headers and None not in bodies:
        return [_fault(first + index, *problem)
                for index, *problem in check_roots(headers, bodies, receipts)]
    if len(records) > 1:
        return [fault for number, row in enumerate(records, first)
                for fault in root_faults(number, [row])]
    return [CorruptError(f"block {first} has no {name}")
            for name, (record,) in (("header", headers), ("body", bodies)) if record is None]


def _fault(number: int, name: str, expected: Any, found: Any) -> CorruptError:
    if not name:
        return CorruptError(f"block {number}: {found.args[0]}", offset=found.offset)
    if name == "logs bloom":
        return CorruptError(f"block {number}: the header's bloom is not that of its receipts")
    if isinstance(found, int):
        return CorruptError(f"block {number}: another number of receipts than of transactions",
                            expected=expected, found=found)
    return CorruptError(f"block {number}: the {name} in the header is not that of the block's"
                        " records", expected=expected.hex() or "none", found=found.hex())
