"""What a block is in the store: which records it makes, and how they make it again.

    headers     the header, as it stands in the block
    bodies      the bytes after the header in the outer list: transactions, uncles, withdrawals
                and whatever a fork adds
    receipts    form u8 | the source's receipts, untouched
    difficulty  total difficulty up to and with the block, u256 little-endian

``split``, ``join`` and ``joined_size`` alone know how a block is taken apart. FORMAT.md, section
Chain records, is the specification.
"""

from __future__ import annotations

from typing import Final

from blockpack._native.rlp import BlockSpans, item_span, join_block, outer_prefix
from blockpack.errors import CorruptError

CONSENSUS: Final = "consensus"
STORAGE: Final = "storage"
SLIM: Final = "slim"

# Stored as one byte before the receipts; a value is never reused.
FORM_IDS: Final = {CONSENSUS: 1, STORAGE: 2, SLIM: 3}
_FORMS: Final = {number: form for form, number in FORM_IDS.items()}
DIFFICULTY_BYTES: Final = 32

Buffer = bytes | bytearray | memoryview

# (header, body) -> the block's RLP again, byte for byte.
join = join_block


def split(rlp: Buffer, spans: BlockSpans) -> tuple[memoryview, memoryview]:
    """Header and body of a block, as views."""
    view = memoryview(rlp)
    return view[spans.header_start:spans.header_end], view[spans.header_end:spans.end]


def joined_size(header: Buffer, body: Buffer) -> int:
    """Bytes of ``join(header, body)``, without making it."""
    payload = len(header) + len(body)
    return len(outer_prefix(payload)) + payload


class ReceiptsRlp(bytes):
    """The receipts of one block as their source had them: an RLP list, in the form ``form``.

    ``consensus``: [status or root, gas, bloom, logs], typed ones as strings type || payload.
    ``storage``: [status or root, gas, logs] (geth's freezer). ``slim``: [type, status or root,
    gas, logs] (.ere).
    """

    form: str


def encode_receipts(receipts: Buffer, form: str) -> bytes:
    """The record. ValueError for an unknown form, CorruptError unless it is one RLP list."""
    if form not in FORM_IDS:
        raise ValueError(f"receipts form {form!r}: the forms are {', '.join(FORM_IDS)}")
    _, end = item_span(receipts)
    if end != len(receipts) or receipts[0] < 0xC0:
        raise CorruptError("receipts are one RLP list", offset=0,
                           expected=f"a list of {len(receipts)} bytes",
                           found=f"an item of {end} bytes")
    return bytes((FORM_IDS[form],)) + receipts


def split_receipts(record: Buffer) -> tuple[memoryview, str]:
    """A view of the receipts in a record, and their form."""
    view = memoryview(record)
    form = _FORMS.get(view[0]) if view else None
    if form is None:
        raise CorruptError("a receipts record of an unknown form",
                           expected=sorted(_FORMS), found=bytes(view[:1]).hex())
    return view[1:], form


def decode_receipts(record: Buffer) -> ReceiptsRlp:
    """Receipts and their form, from the record."""
    view, form = split_receipts(record)
    receipts = ReceiptsRlp(view)
    receipts.form = form
    return receipts


def encode_difficulty(difficulty: int) -> bytes:
    """The record. ValueError unless 0 <= difficulty < 2^256."""
    if not 0 <= difficulty < 1 << 256:
        raise ValueError(f"total difficulty {difficulty} is no unsigned 256-bit number")
    return difficulty.to_bytes(DIFFICULTY_BYTES, "little")


def decode_difficulty(record: Buffer) -> int:
    """The total difficulty, from the record."""
    if len(record) != DIFFICULTY_BYTES:
        raise CorruptError("a difficulty record of another width",
                           expected=DIFFICULTY_BYTES, found=len(record))
    return int.from_bytes(record, "little")
