"""Does a block go on where the chain stands? Number, parent hash and chain id, for every writer."""

from __future__ import annotations

from blockpack._native.keccak import keccak256
from blockpack._native.rlp import BlockSpans
from blockpack.chain.records import Buffer
from blockpack.errors import ChainMismatchError, ForkError, LimitError, SequenceError
from blockpack.store.writer import NUMBER_LAST


class Chain:
    """Where a chain stands: the number that comes next, the head's header, and the chain id.

    ``hash_links`` False leaves parent hashes alone, for chains whose block hash is not the keccak
    of the header. Checking changes nothing; ``advance`` is called once the block is taken.
    """

    def __init__(self, *, want: int | None, head_header: bytes | None, chain_id: int | None,
                 hash_links: bool) -> None:
        self.want = want
        self.chain_id = chain_id
        self._hash_links = hash_links
        self._head_header = head_header
        self._head_hash: bytes | None = None

    def check(self, spans: BlockSpans) -> int | None:
        """Refuse a block that does not follow; return a chain id to remember, if it has one.

        Raises SequenceError, LimitError (a number that the store has no room for), ForkError (the
        head's hash and the block's parent hash) or ChainMismatchError.
        """
        if self.want is not None and spans.number != self.want:
            raise SequenceError(
                f"block {spans.number} does not follow the head: block {self.want} is wanted",
                have=spans.number, want=self.want)
        if spans.number > NUMBER_LAST:
            raise LimitError(f"block {spans.number} is past the last number, {NUMBER_LAST}")
        self._check_parent(spans)
        if spans.chain_id < 0 or spans.chain_id == self.chain_id:
            return None
        if self.chain_id is not None:
            raise ChainMismatchError(
                f"block {spans.number} has transactions of chain {spans.chain_id}, this is a"
                f" store of chain {self.chain_id}", have=self.chain_id, got=spans.chain_id)
        return spans.chain_id

    def _check_parent(self, spans: BlockSpans) -> None:
        if not self._hash_links or self._head_header is None:
            return
        have = self.head_hash()
        if spans.parent_hash != have:
            raise ForkError(
                f"block {spans.number} names the parent {spans.parent_hash.hex()}, the head has"
                f" the hash {have.hex() if have else None}: this is another fork (truncate"
                " first), or a chain whose hashes are not keccak (create the store with links"
                " none)", number=spans.number, have=have, got=spans.parent_hash)

    def head_hash(self) -> bytes | None:
        """Keccak of the head's header; None when there is no head. Taken on demand: 2-3 us."""
        if self._head_hash is None and self._head_header is not None:
            self._head_hash = keccak256(self._head_header)
        return self._head_hash

    def advance(self, spans: BlockSpans, header: Buffer) -> None:
        """The block was taken: it is the head now."""
        self.want = spans.number + 1
        self._head_header = bytes(header)
        self._head_hash = None
