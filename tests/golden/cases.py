"""The segments whose bytes are frozen in this folder."""

from __future__ import annotations

from typing import Any

from blockpack._native.keccak import keccak256
from blockpack.segment.grouping import Grouping


def _linked(count: int) -> list[bytes | None]:
    """Records as headers are: lists that start with the hash of the record before."""
    made: list[bytes | None] = []
    link = bytes(32)
    for i in range(count):
        body = b"\xa0" + link + b"\x86block" + bytes([i])
        record = bytes([0xC0 + len(body)]) + body
        made.append(record)
        link = keccak256(record)
    return made


_LINKED = _linked(3)

Case = tuple[list[bytes | None], dict[str, Any]]

# Name of the file without .txt -> records and knobs.
CASES: dict[str, Case] = {
    # Contents under 32 bytes are one literal in S2, whatever an encoder finds: these bytes do not
    # depend on how well ours compresses.
    "segment-v0-s2": (
        [b"alpha", None, b"", b"beta", b"gamma"],
        {"table": 1, "first": 16_000_000, "codec": "s2", "tier": "fastest", "grouping": Grouping(3),
         "chain_id": 1}),
    # Deltas of two bytes, an absent and an empty record, a repeat for the compressor to find.
    "segment-v0-zstd": (
        [b"header " * 40, None, b"", b"header " * 41, b"last"],
        {"table": 2, "first": 7, "codec": "zstd", "tier": "better", "grouping": Grouping(4),
         "chain_id": 11_155_111}),
    # Two groups, each a key group and two frames that have it as their prefix.
    "segment-v0-keyed": (
        [b"block %d " % i * 9 for i in range(9)],
        {"table": 2, "first": 100, "codec": "zstd", "tier": "default",
         "grouping": Grouping(5, 2, 2, 2), "chain_id": 1}),
    # Three headers, of which the second and the third lack their link.
    "segment-v0-linked": (
        _LINKED,
        {"table": 1, "first": 5, "codec": "s2", "tier": "fastest",
         "grouping": Grouping(3, linked=True), "chain_id": 1}),
    # Headers with a hash index of two buckets, one of them absent.
    "segment-v0-hashed": (
        [*_linked(20)[:19], None, *_linked(1)],
        {"table": 1, "first": 9, "codec": "s2", "tier": "fastest", "grouping": Grouping(1),
         "chain_id": 1, "hashed": True}),
}
