"""Does a body belong to its header? By the roots that the header has of it.

A list's root is that of the Merkle-Patricia trie {RLP(index): item} (Ethereum yellow paper,
appendix D). Slow and simple, about 1 ms for 150 transactions: for checks, not for reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from blockpack._native.keccak import keccak256
from blockpack._native.rlp import item_span, list_items, outer_prefix
from blockpack.chain.records import Buffer
from blockpack.errors import CorruptError

_UNCLES_HASH, _TRANSACTIONS_ROOT, _WITHDRAWALS_ROOT = 1, 4, 16
_LIST_MIN = 0xC0

_Pairs = Sequence[tuple[bytes, bytes]]


def body_matches(header: Buffer, body: Buffer) -> bool:
    """Whether transactions, uncles and withdrawals are those that the header has roots of.

    False too for a chain that defines these fields otherwise, and for a body that is no list of
    lists.
    """
    fields = [bytes(header[start:end]) for start, end in list_items(header)]
    try:
        lists = [bytes(body[start:end]) for start, end in _items(body)]
        found = {_TRANSACTIONS_ROOT: _list_root(lists[0]), _UNCLES_HASH: keccak256(lists[1])}
        if len(lists) > 2 and len(fields) > _WITHDRAWALS_ROOT:
            found[_WITHDRAWALS_ROOT] = _list_root(lists[2])
    except (CorruptError, IndexError):
        return False
    return all(fields[index] == b"\xa0" + root for index, root in found.items())


def _items(data: Buffer) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        _, end = item_span(data, start)
        yield start, end
        start = end


def _list_root(items: bytes) -> bytes:
    """Root of a list's items: lists as they stand, strings (typed transactions) unwrapped."""
    values = []
    for start, end in list_items(items):
        payload = start if items[start] >= _LIST_MIN else item_span(items, start)[0]
        values.append(items[payload:end])
    return ordered_root(values)


def ordered_root(values: Sequence[bytes]) -> bytes:
    """Root of the trie that maps RLP(index) to each value, 32 bytes."""
    if not values:
        return keccak256(b"\x80")
    pairs = sorted((_nibbles(_rlp(_index(i))), value) for i, value in enumerate(values))
    return keccak256(_node(pairs, 0))


def _node(pairs: _Pairs, depth: int) -> bytes:
    """RLP of the node of these sorted keys, which agree on their first ``depth`` nibbles."""
    low, high = pairs[0][0], pairs[-1][0]
    if len(pairs) == 1:
        return _list(_rlp(_compact(low[depth:], leaf=True)), _rlp(pairs[0][1]))
    common = depth
    while low[common] == high[common]:
        common += 1
    if common > depth:
        return _list(_rlp(_compact(low[depth:common], leaf=False)),
                     _reference(_node(pairs, common)))
    # No key is a prefix of another, because RLP is not: the branch's own value is empty.
    slots = [[pair for pair in pairs if pair[0][depth] == nibble] for nibble in range(16)]
    return _list(*(_reference(_node(slot, depth + 1)) if slot else b"\x80" for slot in slots),
                 b"\x80")


def _reference(node: bytes) -> bytes:
    return node if len(node) < 32 else _rlp(keccak256(node))


def _compact(nibbles: bytes, *, leaf: bool) -> bytes:
    """Hex-prefix encoding."""
    odd = len(nibbles) % 2
    flagged = bytes((2 * leaf + odd,)) + (b"" if odd else b"\0") + nibbles
    return bytes(flagged[i] << 4 | flagged[i + 1] for i in range(0, len(flagged), 2))


def _nibbles(key: bytes) -> bytes:
    return bytes(nibble for byte in key for nibble in (byte >> 4, byte & 15))


def _index(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _rlp(data: bytes) -> bytes:
    """A string."""
    if len(data) == 1 and data[0] < 0x80:
        return data
    prefix = outer_prefix(len(data))
    return bytes((prefix[0] - 0x40,)) + prefix[1:] + data  # strings lie 0x40 below lists


def _list(*items: bytes) -> bytes:
    payload = b"".join(items)
    return outer_prefix(len(payload)) + payload
