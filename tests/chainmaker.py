"""Small linked chains, and the files that hold them, made the slow and obvious way."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import cramjam

from blockpack._native.keccak import keccak256
from blockpack._native.roots import ordered_root

EMPTY_LIST = b"\xc0"


def rlp(item: Any) -> bytes:
    """RLP of bytes, numbers and lists of them."""
    if isinstance(item, list | tuple):
        return _prefixed(0xC0, b"".join(rlp(part) for part in item))
    if isinstance(item, int):
        item = item.to_bytes((item.bit_length() + 7) // 8, "big")
    return bytes(item) if len(item) == 1 and item[0] < 0x80 else _prefixed(0x80, bytes(item))


def rlp_list(payload: bytes) -> bytes:
    """The list that has this payload."""
    return _prefixed(0xC0, payload)


def _prefixed(base: int, payload: bytes) -> bytes:
    if len(payload) < 56:
        return bytes((base + len(payload),)) + payload
    size = len(payload).to_bytes((len(payload).bit_length() + 7) // 8, "big")
    return bytes((base + 55 + len(size),)) + size + payload


def header(number: int, parent: bytes, transactions: list[Any], random_bytes: random.Random
           ) -> bytes:
    """A header of 15 fields, whose roots are those of the transactions and of no uncles."""
    word = random_bytes.randbytes
    root = ordered_root([rlp(one) for one in transactions])
    timestamp = 1_500_000_000 + 13 * (number % 1_000_000)
    return rlp([parent, keccak256(EMPTY_LIST), word(20), word(32), root, word(32), bytes(256),
                131_072, number, 30_000_000, 21_000, timestamp, b"extra", word(32), word(8)])


def transaction(random_bytes: random.Random, size: int, chain_id: int | None) -> list[Any]:
    """A legacy transaction, protected (EIP-155) when it has a chain id."""
    v = 27 if chain_id is None else 35 + 2 * chain_id
    word = random_bytes.randbytes
    return [1, 10**9, 21_000, word(20), 0, word(size // 2) + bytes(size - size // 2), v,
            word(31) + b"\1", word(31) + b"\1"]


def chain(count: int, first: int = 0, *, seed: int = 1, tx_bytes: int = 100, txs: int = 1,
          chain_id: int | None = None, parent: bytes = bytes(32)) -> list[bytes]:
    """Blocks first, first + 1, ..., each with the keccak of the header before it as parent."""
    source = random.Random(seed)
    blocks = []
    for number in range(first, first + count):
        body = [transaction(source, tx_bytes, chain_id) for _ in range(txs)]
        head = header(number, parent, body, source)
        blocks.append(_prefixed(0xC0, head + rlp(body) + EMPTY_LIST))
        parent = keccak256(head)
    return blocks


def header_of(block: bytes) -> bytes:
    """The header of a block."""
    payload = block[_prefix_size(block):]
    size = _prefix_size(payload)
    length = payload[0] - 0xC0 if size == 1 else int.from_bytes(payload[1:size], "big")
    return payload[:size + length]


def body_of(block: bytes) -> bytes:
    """The bytes after the header."""
    return block[_prefix_size(block) + len(header_of(block)):]


def _prefix_size(item: bytes) -> int:
    return 1 if item[0] < 0xF8 else 1 + item[0] - 0xF7


def hash_of(block: bytes) -> bytes:
    """The block's hash."""
    return keccak256(header_of(block))


def difficulties(blocks: Sequence[bytes], before: int = 0) -> list[int]:
    """Total difficulties of blocks made by ``chain``."""
    return [before + 131_072 * (index + 1) for index in range(len(blocks))]


def entry(kind: bytes, data: bytes = b"") -> bytes:
    """One e2store entry."""
    return kind + struct.pack("<IH", len(data), 0) + data


def framed(data: bytes) -> bytes:
    """A framed snappy stream."""
    return bytes(cramjam.snappy.compress(data))


def era1_parts(blocks: Sequence[bytes], first: int, before: int = 0) -> list[bytes]:
    """The entries of an era1 file: Version, four per block, Accumulator, BlockIndex."""
    totals = difficulties(blocks, before)
    parts = [entry(b"e2")]
    offsets, position = [], 8
    for block, total in zip(blocks, totals, strict=True):
        offsets.append(position)
        tuple_parts = [entry(b"\3\0", framed(header_of(block))),
                       entry(b"\4\0", framed(_prefixed(0xC0, body_of(block)))),
                       entry(b"\5\0", framed(receipts_of(block))),
                       entry(b"\6\0", total.to_bytes(32, "little"))]
        parts += tuple_parts
        position += sum(map(len, tuple_parts))
    parts.append(entry(b"\7\0", accumulator(map(hash_of, blocks), totals)))
    position += len(parts[-1])
    index = struct.pack(f"<Q{len(blocks)}qQ", first, *(at - position for at in offsets),
                        len(blocks))
    return [*parts, entry(b"f2", index)]


def receipts_of(block: bytes) -> bytes:
    """Made-up receipts that differ from block to block."""
    return rlp([[1, 21_000, bytes(256), [[hash_of(block)[:20], [], b"log"]]]])


def accumulator(hashes: Iterable[bytes], totals: Sequence[int]) -> bytes:
    """SSZ root of a list of at most 8,192 records, by the definition: pad, then hash in pairs."""
    def sha(data: bytes) -> bytes:
        return hashlib.sha256(data).digest()

    level = [sha(block + total.to_bytes(32, "little"))
             for block, total in zip(hashes, totals, strict=True)]
    level += [bytes(32)] * (8192 - len(level))
    while len(level) > 1:
        level = [sha(a + b) for a, b in zip(level[::2], level[1::2], strict=True)]
    return sha(level[0] + len(totals).to_bytes(32, "little"))
