"""era1: one epoch of pre-merge history in an e2store file (ethereum e2store, formats/era1.md).

    era1  := Version | block* | other* | Accumulator | BlockIndex
    block := CompressedHeader | CompressedBody | CompressedReceipts | TotalDifficulty

    BlockIndex data := start u64 | offset i64 * count | count u64        (little-endian)

An offset is relative to the first byte of the BlockIndex entry, its 8-byte header included, and
points at the header entry of its block. Bodies are [transactions, uncles(, withdrawals)], receipts
the consensus form, difficulties 32 bytes little-endian and not compressed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

HEADER = b"\x03\x00"
BODY = b"\x04\x00"
RECEIPTS = b"\x05\x00"
DIFFICULTY = b"\x06\x00"
ACCUMULATOR = b"\x07\x00"
INDEX = b"f2"
BLOCK_TYPES = (HEADER, BODY, RECEIPTS, DIFFICULTY)

# Entries of the sibling formats, to name what was given instead of era1.
FOREIGN_TYPES = {
    b"\x01\x00": "a consensus-layer .era file", b"\x02\x00": "a consensus-layer .era file",
    b"i2": "a consensus-layer .era file", b"\x03\x01": "an .e2hs file",
    b"\x0a\x00": "an .ere file", b"\x0b\x00": "an .ere file", b"g2": "an .ere file",
}

EPOCH_BLOCKS = 8192
DIFFICULTY_BYTES = 32
_TREE_DEPTH = 13
_WORD_BYTES = 32
INDEX_EDGE = struct.Struct("<Q")


def accumulator(hashes: Sequence[bytes], difficulties: Sequence[int]) -> bytes:
    """SSZ root of List[{block hash, total difficulty u256}, 8192].

    The limit is part of the root's definition and stays 8,192 for shorter epochs.
    """
    level = [hashlib.sha256(block + difficulty.to_bytes(DIFFICULTY_BYTES, "little")).digest()
             for block, difficulty in zip(hashes, difficulties, strict=True)]
    empty = bytes(_WORD_BYTES)
    for _ in range(_TREE_DEPTH):
        if len(level) % 2:
            level.append(empty)
        level = [hashlib.sha256(level[i] + level[i + 1]).digest()
                 for i in range(0, len(level), 2)]
        empty = hashlib.sha256(empty + empty).digest()
    root = level[0] if level else empty
    return hashlib.sha256(root + len(hashes).to_bytes(_WORD_BYTES, "little")).digest()


def encode_index(start: int, offsets: Sequence[int]) -> bytes:
    """Data of a BlockIndex entry."""
    return struct.pack(f"<Q{len(offsets)}qQ", start, *offsets, len(offsets))


def file_name(network: str, epoch: int, root: bytes) -> str:
    """``<network>-<epoch>-<first 4 bytes of the accumulator>.era1``."""
    return f"{network}-{epoch:05d}-{root[:4].hex()}.era1"
