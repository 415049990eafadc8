"""What every reader hands to the importer."""

from __future__ import annotations

from typing import NamedTuple

from blockpack._native.rlp import BlockSpans


class SourceBlock(NamedTuple):
    """One block of a file.

    ``rlp`` is a view of exactly the block, ``spans`` its split. ``offset`` is where it starts in
    the file (of the decompressed stream, for compressed input). ``receipts`` are in the form
    named by ``receipts_form``; both are None where the format has none, like ``difficulty``, the
    total difficulty up to and with this block.
    """

    rlp: memoryview | bytes
    spans: BlockSpans
    offset: int
    receipts: bytes | None = None
    receipts_form: str | None = None
    difficulty: int | None = None
