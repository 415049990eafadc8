"""Small made-up receipts of one block in the three forms, as trees for reference.rlp.encode."""

from __future__ import annotations

from dataclasses import dataclass, field

from reference.rlp import Tree, encode, integer

from blockpack._native.keccak import keccak256

ADDRESS, OTHER = b"\xaa" * 20, b"\xbb" * 20
TOPICS = [bytes((i,)) * 32 for i in range(1, 5)]


def log(address: bytes = ADDRESS, topics: list[bytes] | None = None, data: bytes = b"data"
        ) -> list[Tree]:
    return [address, [*(topics or [])], data]


@dataclass
class Made:
    """One receipt, whatever the form."""

    type: int = 0
    status: bytes = b"\1"
    gas: int = 21_000
    logs: list[Tree] = field(default_factory=list)
    extras: list[Tree] = field(default_factory=list)
    bloom: bytes = bytes(256)

    def consensus(self) -> Tree:
        fields = [self.status, integer(self.gas), self.bloom, self.logs, *self.extras]
        return bytes((self.type,)) + encode(fields) if self.type else fields

    def storage(self) -> Tree:
        return [self.status, integer(self.gas), self.logs, *self.extras]

    def slim(self) -> Tree:
        return [integer(self.type), self.status, integer(self.gas), self.logs, *self.extras]


def bloom_over(values: list[bytes]) -> bytes:
    """By the definition: three bits of each value."""
    bloom = 0
    for value in values:
        digest = keccak256(value)
        for at in (0, 2, 4):
            bloom |= 1 << (int.from_bytes(digest[at:at + 2], "big") % 2048)
    return bloom.to_bytes(256, "big")


def bloom_of(made: list[Made]) -> bytes:
    """Over the addresses and topics of the receipts' logs."""
    values: list[bytes] = []
    for one in made:
        for address, topics, _ in one.logs:  # type: ignore[str-bytes-safe]
            values += [address, *topics]  # type: ignore[list-item]
    return bloom_over(values)


def receipts(made: list[Made], form: str) -> bytes:
    """The RLP list in the form of this name."""
    return encode([getattr(one, form)() for one in made])


SAMPLE = [
    Made(),
    Made(2, b"", 50_000, [log(), log(OTHER, TOPICS[:1], b"")]),
    Made(3, b"\1", 2**40, [log(ADDRESS, TOPICS, b"x" * 100)]),
    Made(0, b"\7" * 32, 7, [log(OTHER, TOPICS[1:3])]),
    Made(0x7E, b"\1", 100, [log(topics=TOPICS[:2])], [integer(9), integer(1)]),
]
