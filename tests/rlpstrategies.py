"""Trees, blocks, and what damage makes of them, for property tests."""

from __future__ import annotations

from blocks import block, legacy, typed
from hypothesis import strategies as st
from reference.rlp import Tree

# Around 55, where the length form changes.
strings = st.one_of(st.binary(max_size=4), st.binary(min_size=53, max_size=58))
trees: st.SearchStrategy[Tree] = st.recursive(
    strings, lambda inner: st.lists(inner, max_size=6), max_leaves=30
)
chain_ids = st.one_of(st.integers(0, 300), st.integers(0, 2**66))
transactions = st.lists(st.one_of(
    st.builds(legacy, st.one_of(st.integers(0, 60), st.integers(0, 2**66))),
    st.builds(typed, st.integers(0, 6), chain_ids),
    trees,
), max_size=5)
blocks = st.builds(
    block, transactions, st.lists(trees, max_size=3), st.lists(trees, max_size=3),
    number=st.integers(0, 2**65), timestamp=st.integers(0, 2**65), fields=st.integers(15, 21),
)


@st.composite
def damaged(draw: st.DrawFn, source: st.SearchStrategy[bytes]) -> bytes:
    """A few bytes overwritten (often with prefixes of lists and long lengths), cut or put in."""
    data = bytearray(draw(source))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        piece = draw(st.one_of(st.binary(max_size=3), st.sampled_from(
            [b"\xc0", b"\x80", b"\xf8", b"\xff", b"\xbf" + b"\xff" * 8, b"\xf8\x38", b"\x81\x01"])))
        data[at : at + draw(st.integers(0, 3))] = piece
    return bytes(data)
