"""Which block may come next."""

from __future__ import annotations

import chainmaker
import pytest

from blockpack._native.rlp import split_block
from blockpack.chain.links import Chain
from blockpack.errors import ChainMismatchError, ForkError, SequenceError

BLOCKS = chainmaker.chain(3, 10, chain_id=5)
SPANS = [split_block(block) for block in BLOCKS]
HEADERS = [chainmaker.header_of(block) for block in BLOCKS]


def chain(want: int | None = 11, head: bytes | None = HEADERS[0], chain_id: int | None = 5,
          hash_links: bool = True) -> Chain:
    return Chain(want=want, head_header=head, chain_id=chain_id, hash_links=hash_links)


def test_blocks_that_follow() -> None:
    standing = chain(want=None, head=None)
    for spans, header in zip(SPANS, HEADERS, strict=True):
        assert standing.check(spans) is None
        standing.advance(spans, header)
    assert standing.want == 13
    assert standing.head_hash() == chainmaker.hash_of(BLOCKS[2])


def test_checking_changes_nothing() -> None:
    standing = chain()
    for _ in range(2):
        assert standing.check(SPANS[1]) is None
        with pytest.raises(SequenceError):
            standing.check(SPANS[2])
    assert standing.want == 11


@pytest.mark.parametrize("want", [10, 12, 0, 1 << 64])
def test_another_number(want: int) -> None:
    with pytest.raises(SequenceError) as caught:
        chain(want=want).check(SPANS[1])
    assert (caught.value.have, caught.value.want) == (11, want)


def test_another_parent() -> None:
    other = chainmaker.header_of(chainmaker.chain(1, 10, seed=2)[0])
    with pytest.raises(ForkError, match="links none") as caught:
        chain(head=other).check(SPANS[1])
    assert caught.value.number == 11
    assert caught.value.have == chainmaker.keccak256(other)
    assert caught.value.got == chainmaker.hash_of(BLOCKS[0])
    assert chain(head=other, hash_links=False).check(SPANS[1]) is None


def test_the_chain_id_is_learnt_once_and_then_held() -> None:
    assert chain(chain_id=None).check(SPANS[1]) == 5
    with pytest.raises(ChainMismatchError) as caught:
        chain(chain_id=1).check(SPANS[1])
    assert (caught.value.have, caught.value.got) == (1, 5)
    unprotected = split_block(chainmaker.chain(1, 11, parent=chainmaker.hash_of(BLOCKS[0]))[0])
    assert chain(chain_id=None).check(unprotected) is None
    assert chain(chain_id=1).check(unprotected) is None
