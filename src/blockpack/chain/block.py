"""One block, as ``store[n]`` gives it."""

from __future__ import annotations

from blockpack._native.keccak import keccak256
from blockpack._native.rlp import HeaderFields, header_fields
from blockpack.chain.records import join, joined_size


class Block:
    """A block that owns its bytes: it outlives the store, and decodes when it is asked.

    ``header`` and ``body`` are its two parts: the header's RLP, and the bytes after it in the
    outer list. Blocks are equal when their bytes are.
    """

    __slots__ = ("_fields", "_hash", "body", "header")

    def __init__(self, header: bytes, body: bytes) -> None:
        self.header = header
        self.body = body
        self._fields: HeaderFields | None = None
        self._hash: bytes | None = None

    @property
    def raw(self) -> bytes:
        """The block's RLP, byte for byte as it was appended."""
        return join(self.header, self.body)

    @property
    def size(self) -> int:
        """Bytes of ``raw``."""
        return joined_size(self.header, self.body)

    @property
    def number(self) -> int:
        return self._header_fields().number

    @property
    def parent_hash(self) -> bytes:
        """32 bytes."""
        return self._header_fields().parent_hash

    @property
    def timestamp(self) -> int:
        """Seconds since 1970, as the header has them."""
        return self._header_fields().timestamp

    @property
    def hash(self) -> bytes:
        """Keccak-256 of the header, 32 bytes. Some chains (IBFT, Clique) define another hash."""
        if self._hash is None:
            self._hash = keccak256(self.header)
        return self._hash

    def _header_fields(self) -> HeaderFields:
        if self._fields is None:
            self._fields = header_fields(self.header)
        return self._fields

    def __bytes__(self) -> bytes:
        return self.raw

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Block):
            return NotImplemented
        return self.header == other.header and self.body == other.body

    def __hash__(self) -> int:
        return hash((self.header, len(self.body)))

    def __repr__(self) -> str:
        return f"<Block {self.number} {self.hash.hex()[:16]} {self.size} bytes>"

    def __reduce__(self) -> tuple[type[Block], tuple[bytes, bytes]]:
        return Block, (self.header, self.body)
