"""Keccak-256 from its definition, one bit of algebra a line: the oracle for the kernel."""

from __future__ import annotations

RATE = 136
MASK = 2**64 - 1


def rotate(lane: int, count: int) -> int:
    count %= 64
    return (lane << count | lane >> (64 - count)) & MASK


def round_constants() -> list[int]:
    """From the degree-8 LFSR of the specification, not from a table."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << (2**j - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        constants.append(constant)
    return constants


def permute(lanes: list[list[int]]) -> list[list[int]]:
    """Keccak-f[1600] on lanes[x][y]."""
    for constant in round_constants():
        columns = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4]
                   for x in range(5)]
        lanes = [[lanes[x][y] ^ columns[(x - 1) % 5] ^ rotate(columns[(x + 1) % 5], 1)
                  for y in range(5)] for x in range(5)]
        x, y, current = 1, 0, lanes[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x][y] = lanes[x][y], rotate(current, (t + 1) * (t + 2) // 2)
        lanes = [[lanes[x][y] ^ (~lanes[(x + 1) % 5][y] & lanes[(x + 2) % 5][y] & MASK)
                  for y in range(5)] for x in range(5)]
        lanes[0][0] ^= constant
    return lanes


def keccak256(data: bytes) -> bytes:
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % RATE))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), RATE):
        for i in range(RATE // 8):
            lane = int.from_bytes(padded[start + 8 * i : start + 8 * i + 8], "little")
            lanes[i % 5][i // 5] ^= lane
        lanes = permute(lanes)
    return b"".join(lanes[i][0].to_bytes(8, "little") for i in range(4))
