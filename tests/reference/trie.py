"""The trie over a list in slow, obvious Python: the oracle for ext/trie.

A list's root is that of the Merkle-Patricia trie {RLP(index): item} (Ethereum yellow paper,
appendix D).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.rlp import encode, integer, prefix_of

from blockpack._native.keccak import keccak256

_Pairs = Sequence[tuple[bytes, bytes]]


def ordered_root(values: Sequence[bytes]) -> bytes:
    """Root of the trie that maps RLP(index) to each value, 32 bytes."""
    if not values:
        return keccak256(b"\x80")
    pairs = sorted((_nibbles(encode(integer(i))), value) for i, value in enumerate(values))
    return keccak256(_node(pairs, 0))


def _node(pairs: _Pairs, depth: int) -> bytes:
    """RLP of the node of these sorted keys, which agree on their first ``depth`` nibbles."""
    low, high = pairs[0][0], pairs[-1][0]
    if len(pairs) == 1:
        return _list(encode(_compact(low[depth:], leaf=True)), encode(pairs[0][1]))
    common = depth
    while low[common] == high[common]:
        common += 1
    if common > depth:
        return _list(encode(_compact(low[depth:common], leaf=False)),
                     _reference(_node(pairs, common)))
    # No key is a prefix of another, because RLP is not: the branch's own value is empty.
    slots = [[pair for pair in pairs if pair[0][depth] == nibble] for nibble in range(16)]
    return _list(*(_reference(_node(slot, depth + 1)) if slot else b"\x80" for slot in slots),
                 b"\x80")


def _reference(node: bytes) -> bytes:
    return node if len(node) < 32 else encode(keccak256(node))


def _compact(nibbles: bytes, *, leaf: bool) -> bytes:
    """Hex-prefix encoding."""
    odd = len(nibbles) % 2
    flagged = bytes((2 * leaf + odd,)) + (b"" if odd else b"\0") + nibbles
    return bytes(flagged[i] << 4 | flagged[i + 1] for i in range(0, len(flagged), 2))


def _nibbles(key: bytes) -> bytes:
    return bytes(nibble for byte in key for nibble in (byte >> 4, byte & 15))


def _list(*items: bytes) -> bytes:
    payload = b"".join(items)
    return prefix_of(0xC0, payload) + payload
