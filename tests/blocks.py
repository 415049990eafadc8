"""Small made-up blocks, and the outcome of the kernel and of the reference side by side."""

from __future__ import annotations

from reference import rlp as reference
from reference.rlp import Tree, encode, integer

from blockpack._native import rlp, status
from blockpack.errors import BlockpackError

PARENT = bytes(range(32))


def header(number: int = 7, timestamp: int = 1_600_000_000, fields: int = 15,
           parent: bytes = PARENT) -> list[Tree]:
    trees: list[Tree] = [parent, b"\1" * 32, b"\2" * 20, b"\3" * 32, b"\4" * 32, b"\5" * 32,
                         bytes(256), integer(131_072), integer(number), integer(30_000_000),
                         b"", integer(timestamp), b"extra", b"\6" * 32, bytes(8)]
    return trees + [b"\7" * 32] * (fields - 15)


def legacy(v: int, data: bytes = b"") -> list[Tree]:
    return [integer(1), integer(10**9), integer(21_000), b"\xaa" * 20, integer(5), data,
            integer(v), b"\xbb" * 32, b"\xcc" * 32]


def typed(kind: int, chain_id: int) -> bytes:
    return bytes([kind]) + encode([integer(chain_id), integer(3), b"\xdd" * 20, b"payload"])


def block(transactions: list[Tree] | None = None, uncles: list[Tree] | None = None,
          extra: list[Tree] | None = None, **fields: int) -> bytes:
    return encode([header(**fields), transactions or [], uncles or [], *(extra or [])])


def described(error: reference.Refused) -> str:
    """The message of the exception that stands for a refusal."""
    try:
        status.check_code(status.NAMES[error.code], error.what, error.offset)
    except BlockpackError as expected:
        return f"{type(expected).__name__}: {expected}"
    raise AssertionError(f"{error.code} is not a failure")


def kernel_outcome(data: bytes, start: int = 0) -> reference.Block | str:
    try:
        spans = rlp.split_block(data, start)
    except BlockpackError as error:
        return f"{type(error).__name__}: {error}"
    return reference.Block(spans.header_start, spans.header_end, spans.end, spans.number,
                           spans.timestamp, spans.parent_hash, spans.chain_id)


def reference_outcome(data: bytes, start: int = 0) -> reference.Block | str:
    try:
        return reference.block_at(data, start)
    except reference.Refused as error:
        return described(error)


def decode_with_kernel(data: bytes) -> Tree:
    """The whole tree by the kernel's spans: one item and nothing after it."""
    start, end = rlp.item_span(data)
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes after the item")
    if data[0] < 0xC0:
        return data[start:end]
    return [decode_with_kernel(data[a:b]) for a, b in rlp.list_items(data)]
