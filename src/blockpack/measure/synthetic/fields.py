"""The small fields of transactions: nonces, fees, gas, values, signatures, access lists.

All come as RLP. How often each recurs, and its sizes, follow the two runs named in shapes.
"""

from __future__ import annotations

from blockpack.measure.synthetic.entropy import SLOT_MASK, Entropy, popularity, weighted
from blockpack.measure.synthetic.population import Pool
from blockpack.measure.synthetic.rlp import number, sequence

GWEI = 10**9
EMPTY = b"\x80"

# Nonces, and the number of bytes of those that are drawn; small ones are the common ones.
NONCES: list[tuple[bytes, int]] = weighted(
    [((EMPTY, 0), 0.10), ((EMPTY, 2), 0.215), ((EMPTY, 3), 0.235)]
    + [((number(nonce), 0), 0.45 / 4.66 / (nonce + 1.5)) for nonce in range(1, 256)])
GAS_USUAL = [number(gas) for gas in (
    210_000, 100_000, 90_000, 200_000, 500_000, 300_000, 207_128, 65_000, 84_000, 60_000,
    250_000, 150_000, 1_000_000, 50_000, 120_000, 400_000)]
TIPS_USUAL = [number(tip) for tip in (
    2 * GWEI, GWEI // 10, GWEI, 3 * GWEI // 2, GWEI // 2, 3 * GWEI, GWEI // 20, 0,
    22 * GWEI // 10, 3 * GWEI // 10, GWEI // 100, 5 * GWEI)]
CAPS_USUAL = [number(cap * GWEI) for cap in (102, 400, 30, 20, 50, 15, 100, 25, 40, 60, 80, 200)]
TIP_RANKS = popularity(12, 0.3)
CAP_RANKS = popularity(16, 0.5)
# What wallets make of the base fee, in per cent, and add as a tip.
CAP_FACTORS = (200, 125, 113, 150)
CAP_TIPS = (2 * GWEI, GWEI // 10, GWEI, 3 * GWEI // 2)
# Decimal zeros that a value ends in -> weight: 18 is whole coins, 0 a computed amount.
VALUE_ZEROS = weighted([(0, 0.31), (3, 0.11), (5, 0.05), (10, 0.10), (12, 0.07), (13, 0.06),
                        (14, 0.09), (15, 0.14), (16, 0.14), (17, 0.05), (18, 0.02)])
ROUND_VALUES = {zeros: [number(digit * 10**zeros) for digit in range(1, 9)]
                for zeros in range(15, 19)}


class Fields:
    """An endless supply of each field."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._draw = entropy.draw
        self._take = entropy.take
        self._base_fee = 11 * GWEI
        self._usual_caps = [EMPTY]
        self.gas = Pool(entropy, self._new_gas, popular=0.14, burst=0.05, recent=0.15, count=40,
                        reach=6000)
        self._tips = Pool(entropy, self._new_tip, burst=0.5, recent=0.25, reach=2000)
        self._caps = Pool(entropy, self._new_cap, burst=0.3, recent=0.15, reach=2000)
        self._entries = Pool(entropy, self._new_entry, popular=0.20, burst=0.33, recent=0.20,
                             count=100, flat=0.5, reach=2500)

    def start_block(self, base_fee: int) -> None:
        """Set the caps that wallets derive from this block's base fee."""
        self._base_fee = base_fee
        self._usual_caps = [number(base_fee * factor // 100 + tip)
                            for factor in CAP_FACTORS for tip in CAP_TIPS]

    def nonce(self) -> bytes:
        """Return a nonce of up to three bytes."""
        nonce, size = NONCES[self._draw() & SLOT_MASK]
        if not size:
            return nonce
        low = self._draw()
        if size == 2:
            return b"\x82%c%c" % (1 + (low >> 8) % 255, low & 255)
        return b"\x83%c%b" % (1 + low % 255, self._take(2))

    def signature(self) -> bytes:
        """Return r and s, random, s in the lower half as EIP-2 demands."""
        raw = self._take(64)
        low = raw[32] & 0x7F
        if raw[0] and low:
            return b"\xa0%b\xa0%c%b" % (raw[:32], low, raw[33:])
        return number(int.from_bytes(raw[:32], "big")) + number(
            int.from_bytes(bytes((low,)) + raw[33:], "big"))

    def value(self) -> bytes:
        """Return an amount of wei above zero as a rule."""
        zeros = VALUE_ZEROS[self._draw() & SLOT_MASK]
        draw = self._draw()
        if zeros >= 15:
            return ROUND_VALUES[zeros][draw * draw >> 29 if zeros < 17 else draw & 7]
        # Seven bytes four times in five, else eight, cut to the trailing zeros.
        wei = int.from_bytes(self._take(8), "big") >> (7 if draw & 1023 < 820 else 1)
        return number(wei - wei % 10**zeros) if zeros else number(wei)

    def tip(self) -> bytes:
        """Return a priority fee."""
        draw = self._draw()
        return TIPS_USUAL[TIP_RANKS[draw & SLOT_MASK]] if draw < 29_000 else self._tips.pick()

    def cap(self) -> bytes:
        """Return a fee cap or gas price."""
        draw = self._draw()
        if draw < 26_000:
            return self._usual_caps[CAP_RANKS[draw & SLOT_MASK]]
        return CAPS_USUAL[TIP_RANKS[draw & SLOT_MASK]] if draw < 31_000 else self._caps.pick()

    def access_list(self) -> bytes:
        """Return an access list of 1 to 9 addresses."""
        return sequence(*(self._entries.pick() for _ in range(1 + self._entropy.below(9))))

    def address(self) -> bytes:
        """Return a new address."""
        return b"\x94" + self._take(20)

    def _new_gas(self) -> bytes:
        if self._draw() < 16_000:
            return GAS_USUAL[self._draw() & 15]
        return number(21_000 + self._draw() * (1 + (self._draw() & 7)))

    def _new_tip(self) -> bytes:
        draw = self._draw()
        if draw < 26_000:
            return TIPS_USUAL[draw % 12]
        return number(1_000_000 + self._draw() * (1 + self._draw()) // (1 + (draw & 7)))

    def _new_cap(self) -> bytes:
        return number(self._base_fee + self._draw() * self._draw() * (1 + (self._draw() & 3)))

    def _new_entry(self) -> bytes:
        keys = [b"\xa0" + (bytes(31) + self._take(1) if self._draw() & 1 else self._take(32))
                for _ in range(self._entropy.below(8))]
        return sequence(b"\x94" + self._take(20), sequence(*keys))
