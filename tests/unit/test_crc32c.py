"""CRC-32C: known values, and the processor's instruction against the table."""

from __future__ import annotations

import random

import pytest

from blockpack._native.crc32c import crc32c, crc32c_table, masked


# From RFC 3720, appendix B.4, and the check value of the CRC catalogues.
@pytest.mark.parametrize(("data", "expected"), [
    (b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E)])
def test_known_values(data: bytes, expected: int) -> None:
    assert crc32c(data) == crc32c_table(data) == expected


def test_instruction_and_table_agree_at_every_size_and_alignment() -> None:
    data = random.Random(1).randbytes(300)
    for start in range(9):
        for stop in range(start, 300):
            part = memoryview(data)[start:stop]
            assert crc32c(part) == crc32c_table(part)


def test_goes_on_from_the_bytes_before() -> None:
    data = random.Random(2).randbytes(1000)
    for cut in (0, 1, 7, 8, 500, 1000):
        assert crc32c(data[cut:], crc32c(data[:cut])) == crc32c(data)


def test_mask_is_rotated_then_shifted() -> None:
    crc = crc32c(b"123456789")
    assert masked(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_refuses_what_is_no_contiguous_buffer() -> None:
    with pytest.raises(TypeError):
        crc32c("text")      # type: ignore[arg-type]
    with pytest.raises(BufferError):
        masked(memoryview(b"abcdef")[::2])
