"""The digest of a table: what it holds, whatever the codec, level, grouping and segments."""

from __future__ import annotations

from collections.abc import Iterable

import xxhash

Buffer = bytes | bytearray | memoryview

DIGEST_BYTES = 24
MASK_128 = (1 << 128) - 1


class Digest:
    """Sum of XXH3-128(record, seed = number) mod 2^128 over present records, and their bytes.

    A sum does not depend on order or on where segments are cut, and a record can be taken out
    again. A present empty record counts, an absent one does not.
    """

    __slots__ = ("length", "sum")

    def __init__(self, total: int = 0, length: int = 0) -> None:
        self.sum = total
        self.length = length

    def add(self, number: int, record: Buffer) -> None:
        """Add a present record."""
        self.sum = (self.sum + record_digest(number, record)) & MASK_128
        self.length += len(record)

    def remove(self, number: int, record: Buffer) -> None:
        """Take out a record that was added."""
        self.sum = (self.sum - record_digest(number, record)) & MASK_128
        self.length -= len(record)

    def add_all(self, first: int, records: Iterable[Buffer | None]) -> None:
        """Add the present ones of consecutive records."""
        for number, record in enumerate(records, first):
            if record is not None:
                self.add(number, record)

    def merge(self, other: Digest) -> None:
        """Add what another digest holds: the numbers must be apart."""
        self.sum = (self.sum + other.sum) & MASK_128
        self.length += other.length

    def __bytes__(self) -> bytes:
        return self.sum.to_bytes(16, "little") + self.length.to_bytes(8, "little")

    @staticmethod
    def from_bytes(data: bytes) -> Digest:
        """Return the digest that ``bytes(digest)`` gave."""
        if len(data) != DIGEST_BYTES:
            raise ValueError(f"a digest has {DIGEST_BYTES} bytes, not {len(data)}")
        return Digest(int.from_bytes(data[:16], "little"), int.from_bytes(data[16:], "little"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Digest):
            return NotImplemented
        return self.sum == other.sum and self.length == other.length

    def __hash__(self) -> int:
        return hash((self.sum, self.length))

    def __repr__(self) -> str:
        return f"Digest({bytes(self).hex()})"


def record_digest(number: int, record: Buffer) -> int:
    """XXH3-128 of the record, seeded with its number."""
    return xxhash.xxh3_128_intdigest(record, number)
