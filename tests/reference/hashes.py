"""The hash index of a segment, as slow and obvious as can be: the oracle of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from reference.keccak import keccak256


def build(records: Sequence[bytes | None]) -> bytes:
    """The index of a segment of these records."""
    keys = [(int.from_bytes(keccak256(record)[:8], "big"), ordinal)
            for ordinal, record in enumerate(records) if record is not None]
    bits = max(len(keys).bit_length() - 1 - 3, 0)
    width = max((len(records) - 1).bit_length() + 7, 8) // 8
    buckets: list[list[tuple[int, int]]] = [[] for _ in range(2**bits)]
    for key, ordinal in keys:
        buckets[key >> (64 - bits)].append((key >> (48 - bits) & 0xFFFF, ordinal))
    first = 0
    starts, entries = [], []
    for bucket in buckets:
        starts.append(first)
        first += len(bucket)
        entries += [tag.to_bytes(2, "little") + ordinal.to_bytes(width, "little")
                    for tag, ordinal in sorted(bucket)]
    head = len(keys).to_bytes(4, "little") + bytes([bits, width, 0, 0])
    return b"".join([head, *(n.to_bytes(4, "little") for n in [*starts, first]), *entries])
