"""RLP in slow, obvious Python: the oracle for the kernel. The rules are in ext/rlp/rlp.h."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

Tree: TypeAlias = "bytes | list[Tree]"

CHAIN_ID_MAX = 2**63 - 37


class Refused(Exception):
    """Not valid: the kernel's code without ``BP_``, what it is about, and the offset."""

    def __init__(self, code: str, what: str, offset: int) -> None:
        super().__init__(code, what, offset)
        self.code = code
        self.what = what
        self.offset = offset


@dataclass(frozen=True)
class Item:
    is_list: bool
    start: int
    payload: int
    end: int


@dataclass(frozen=True)
class Block:
    header_start: int
    header_end: int
    end: int
    number: int
    timestamp: int
    parent_hash: bytes
    chain_id: int


def prefix_of(base: int, payload: bytes) -> bytes:
    if len(payload) <= 55:
        return bytes([base + len(payload)])
    length = len(payload).to_bytes((len(payload).bit_length() + 7) // 8, "big")
    return bytes([base + 55 + len(length)]) + length


def encode(tree: Tree) -> bytes:
    if isinstance(tree, list):
        payload = b"".join(map(encode, tree))
        return prefix_of(0xC0, payload) + payload
    if len(tree) == 1 and tree[0] < 0x80:
        return tree
    return prefix_of(0x80, tree) + tree


def integer(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def item_at(data: bytes, start: int, end: int, what: str = "RLP item") -> Item:
    """The item at ``start``, which must end at or before ``end``."""
    def need(position: int) -> None:
        if position > end:
            raise Refused("TRUNCATED", what, start)

    need(start + 1)
    first = data[start]
    if first < 0x80:
        return Item(False, start, start, start + 1)
    is_list = first >= 0xC0
    size = first - (0xC0 if is_list else 0x80)
    payload = start + 1
    if size > 55:
        payload += size - 55
        need(payload)
        length = data[start + 1 : payload]
        size = int.from_bytes(length, "big")
        if length[0] == 0 or size <= 55:
            raise Refused("NONCANONICAL", what, start)
    need(payload + size)
    if first == 0x81 and data[payload] < 0x80:
        raise Refused("NONCANONICAL", what, start)
    return Item(is_list, start, payload, payload + size)


def items_in(data: bytes, start: int, end: int, what: str = "RLP item") -> Iterator[Item]:
    """The items that fill data[start:end] exactly."""
    while start < end:
        try:
            item = item_at(data, start, end, what)
        except Refused as error:
            code = "OVERRUN" if error.code == "TRUNCATED" else error.code
            raise Refused(code, what, start) from None
        yield item
        start = item.end


def decode(data: bytes) -> Tree:
    """One item and nothing else, all the way down."""
    item = item_at(data, 0, len(data))
    if item.end != len(data):
        raise Refused("TRAILING", "RLP item", item.end)
    if not item.is_list:
        return data[item.payload : item.end]
    return [decode(data[i.start : i.end]) for i in items_in(data, item.payload, item.end)]


def announced(data: bytes, limit: int) -> int:
    """Total size that a list's prefix announces, or -k when k more bytes are needed to tell."""
    if not data:
        return -1
    if data[0] < 0xC0:
        raise Refused("NOT_A_LIST", "block", 0)
    size, prefix = data[0] - 0xC0, 1
    if size > 55:
        prefix += size - 55
        if len(data) < prefix:
            return len(data) - prefix
        size = int.from_bytes(data[1:prefix], "big")
        if data[1] == 0 or size <= 55:
            raise Refused("NONCANONICAL", "block", 0)
    if prefix + size > limit:
        raise Refused("TOO_LARGE", "block", 0)
    return prefix + size


def uint(data: bytes, item: Item, what: str) -> int:
    payload = data[item.payload : item.end]
    if item.is_list:
        raise Refused("NOT_A_STRING", what, item.start)
    if len(payload) > 8 or payload[:1] == b"\0":
        raise Refused("BAD_INTEGER", what, item.start)
    return int.from_bytes(payload, "big")


def parent_hash(data: bytes, item: Item, what: str) -> bytes:
    if item.is_list:
        raise Refused("NOT_A_STRING", what, item.start)
    if item.end - item.payload != 32:
        raise Refused("BAD_WIDTH", what, item.start)
    return data[item.payload : item.end]


def header(data: bytes, item: Item) -> tuple[int, int, bytes]:
    """Number, time stamp and parent hash."""
    found: dict[int, int | bytes] = {}
    readers = {0: (parent_hash, "parent hash in the block header"),
               8: (uint, "number in the block header"),
               11: (uint, "time stamp in the block header")}
    count = 0
    for field in items_in(data, item.payload, item.end, "field of the block header"):
        if count in readers:
            read, what = readers[count]
            found[count] = read(data, field, what)
        count += 1
    if count < 15:
        raise Refused("TOO_FEW_ITEMS", "field of the block header", item.end)
    return found[8], found[11], found[0]  # type: ignore[return-value]


def chain_id(data: bytes, item: Item) -> int:
    """The chain id that one transaction carries, or -1."""
    what = "field of a transaction"
    typed = not item.is_list
    if typed:
        if item.payload == item.end or data[item.payload] not in (1, 2, 3, 4):
            return -1
        outer = next(items_in(data, item.payload + 1, item.end, what), None)
        if outer is None:
            raise Refused("TOO_FEW_ITEMS", what, item.end)
        if not outer.is_list:
            raise Refused("NOT_A_LIST", what, outer.start)
        field = next(items_in(data, outer.payload, outer.end, what), None)
        if field is None:
            raise Refused("TOO_FEW_ITEMS", what, outer.end)
    else:
        fields = list(islice(items_in(data, item.payload, item.end, what), 10))
        if len(fields) != 9:
            return -1
        field = fields[6]
    try:
        value = uint(data, field, what)
    except Refused:
        return -1
    found = value if typed else (value - 35) // 2
    return found if 0 <= found <= CHAIN_ID_MAX else -1


def block_at(data: bytes, start: int = 0) -> Block:
    outer = item_at(data, start, len(data), "block")
    if not outer.is_list:
        raise Refused("NOT_A_LIST", "block", start)
    position = outer.payload

    def next_list(what: str) -> Item:
        item = next(items_in(data, position, outer.end, what), None)
        if item is None:
            raise Refused("TOO_FEW_ITEMS", what, outer.end)
        if not item.is_list:
            raise Refused("NOT_A_LIST", what, item.start)
        return item

    first = next_list("block header")
    number, timestamp, parent = header(data, first)
    position = first.end
    transactions = next_list("block's list of transactions")
    chain = -1
    for item in items_in(data, transactions.payload, transactions.end, "transaction"):
        chain = chain_id(data, item) if chain < 0 else chain
    position = transactions.end
    uncles = next_list("block's list of uncles")
    list(items_in(data, uncles.payload, uncles.end, "uncle"))
    list(items_in(data, uncles.end, outer.end, "item after the block's uncles"))
    return Block(first.start, first.end, outer.end, number, timestamp, parent, chain)
