"""Every byte of a small block cut off, flipped, or replaced by a length that lies."""

from __future__ import annotations

import pytest
from blocks import block, header, kernel_outcome, legacy, reference_outcome, typed

from blockpack._native import rlp
from blockpack.errors import BlockpackError, CorruptError

BLOCK = block([legacy(27, b"calldata" * 10), typed(2, 1), legacy(37)], uncles=[header()],
              extra=[[[b"withdrawal", b"\1"]]], fields=17)


@pytest.mark.parametrize("start", [0, 3])
def test_truncated_at_every_byte(start: int) -> None:
    for size in range(len(BLOCK)):
        data = bytes(start) + BLOCK[:size]
        with pytest.raises(CorruptError, match="block ends before the length") as caught:
            rlp.split_block(data, start)
        assert caught.value.offset == start
        announced = rlp.block_size(data, start)
        assert announced == (len(BLOCK) if size >= 3 else size - 3 if size else -1)


def test_body_cut_at_every_byte_behind_a_fitting_prefix() -> None:
    """The outer list says the truth, so the cut shows inside of it."""
    spans = rlp.split_block(BLOCK)
    record = BLOCK[spans.header_start : spans.header_end]
    body = BLOCK[spans.header_end :]
    whole = 0
    for size in range(len(body)):
        data = rlp.join_block(record, body[:size])
        outcome = kernel_outcome(data)
        assert outcome == reference_outcome(data)
        whole += not isinstance(outcome, str)
    assert whole == 1  # without the last item, the withdrawals, it is an older fork's block


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_byte_flipped(mask: int) -> None:
    for at in range(len(BLOCK)):
        data = bytearray(BLOCK)
        data[at] ^= mask
        assert kernel_outcome(bytes(data)) == reference_outcome(bytes(data)), at


@pytest.mark.parametrize("length", [56, 2**16, 2**31, 2**32 - 1, 2**63, 2**64 - 9, 2**64 - 1])
@pytest.mark.parametrize("base", [0xB7, 0xF7])
def test_a_lying_length_at_every_byte(base: int, length: int) -> None:
    width = (length.bit_length() + 7) // 8
    lie = bytes([base + width]) + length.to_bytes(width, "big")
    refused = 0
    for at in range(len(BLOCK)):
        data = BLOCK[:at] + lie + BLOCK[at + len(lie) :]
        outcome = kernel_outcome(data)
        assert outcome == reference_outcome(data), at
        refused += isinstance(outcome, str)
    assert refused > 30  # the rest fell into payloads, which are opaque


def test_reads_stay_inside_of_the_slice() -> None:
    """The bytes after the view would complete the block; they must not be looked at."""
    for size in range(1, len(BLOCK)):
        with pytest.raises(BlockpackError):
            rlp.split_block(memoryview(BLOCK)[:size])
