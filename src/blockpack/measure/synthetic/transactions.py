"""Transactions: envelopes around calls.

Source: EIP-155 (legacy), EIP-2930 (type 1), EIP-1559 (type 2), EIP-4844 (type 3).
"""

from __future__ import annotations

from heapq import heappop, heappush

from blockpack.measure.synthetic.calls import Book, Calls, Contract, Layouts, Sources
from blockpack.measure.synthetic.entropy import SLOT_MASK, Entropy, weighted
from blockpack.measure.synthetic.fields import EMPTY, Fields
from blockpack.measure.synthetic.population import Pool
from blockpack.measure.synthetic.rlp import number, prefix, sequence, text
from blockpack.measure.synthetic.shapes import (
    ACCESS_BELOW,
    GAS_OF_CONTRACT_BELOW,
    MAIN_FUNCTION_BELOW,
    PLAIN_GAS_BELOW,
    PLAIN_ZERO_BELOW,
    RARE_GAPS,
    REACH,
    SHAPES,
    TRANSFER,
    TYPE_SHARES,
)

NO_ACCESS = b"\xc0"
PARITY = (b"\x80", b"\x01")
GAS_TRANSFER = number(21_000)
TYPES = weighted(TYPE_SHARES)
BATCH, STATE, CREATION = range(3)  # the rare kinds


class Transactions:
    """An endless supply of transactions, each as the item of a block's transaction list."""

    def __init__(self, entropy: Entropy, chain_id: int) -> None:
        self._entropy = entropy
        self._draw = entropy.draw
        self._chain_id = number(chain_id)
        self._legacy_v = (number(35 + 2 * chain_id), number(36 + 2 * chain_id))
        self._fields = Fields(entropy)
        self.calls = Calls(entropy)
        self._recipients = Pool(
            entropy, self._fields.address, popular=TRANSFER.popular, burst=TRANSFER.burst,
            recent=TRANSFER.recent, count=TRANSFER.count, flat=TRANSFER.flat,
            reach=int(TRANSFER.share * REACH))
        self._kinds = self._kinds_table()
        self._due = [(1 + entropy.below(gap), kind) for kind, gap in enumerate(RARE_GAPS)]
        self._due.sort()
        self._quiet = self._clock = self._due[0][0]
        self._snippets = [entropy.take(4 + size % 20) for size in range(256)]
        self._rollups = [(b"\x94" + entropy.take(20), entropy.take(4)) for _ in range(6)]

    def _kinds_table(self) -> list[Book | None]:
        """Return what a 16-bit draw selects: a book of calls, or None for a plain transfer."""
        entropy, fields = self._entropy, self._fields
        # One contract is called with several shapes of calldata, one selector has several.
        called = Pool(entropy, fields.address, popular=0.38, burst=0.05, recent=0.12, count=60,
                      flat=0.4, reach=1000)
        selectors = Pool(entropy, lambda: entropy.take(4), popular=0.35, recent=0.10, count=150,
                         flat=0.4, reach=1000)
        sources = Sources(Layouts(entropy), called.pick, selectors.pick, fields.gas.pick)
        kinds: list[tuple[Book | None, float]] = [(None, TRANSFER.share)]
        kinds += [(Book(shape, entropy, sources), shape.share) for shape in SHAPES]
        return weighted(kinds, 1 << 16)

    def start_block(self, timestamp: int, base_fee: int) -> None:
        """Set what depends on the block: deadlines, and caps that wallets derive from the fee."""
        self.calls.start_block(timestamp)
        self._fields.start_block(base_fee)

    def next(self) -> bytes:
        """Return one transaction: an RLP list, or a string that holds a typed one."""
        self._quiet -= 1
        if self._quiet < 0:
            return self._rarity()
        kind = self._kinds[self._draw()]
        fields = self._fields
        if kind is None:
            gas = GAS_TRANSFER if self._draw() < PLAIN_GAS_BELOW else fields.gas.pick()
            value = EMPTY if self._draw() < PLAIN_ZERO_BELOW else fields.value()
            return self._envelope(gas, self._recipients.pick(), value, EMPTY)
        contract = kind.contracts.pick()
        gas = contract.gas if self._draw() < GAS_OF_CONTRACT_BELOW else fields.gas.pick()
        value = EMPTY if self._draw() < kind.free_below else fields.value()
        return self._envelope(gas, contract.to, value, self._calldata(kind, contract))

    def _calldata(self, book: Book, contract: Contract) -> bytes:
        choice = self._draw()
        if book.shape.once:
            return self.calls.fill(book.layout(contract.to[1:5]))
        main = choice < MAIN_FUNCTION_BELOW
        return self.calls.fill(contract.function if main else book.functions.pick())

    def _rarity(self) -> bytes:
        _, kind = heappop(self._due)
        self._plan(kind)
        gas = self._fields.gas.pick()
        if kind == CREATION:
            code = b"".join(self._snippets[self._draw() & 255] + self._entropy.take(4)
                            for _ in range(100 + self._entropy.below(600)))
            return self._envelope(gas, EMPTY, EMPTY, text(code))
        to, selector = self._rollups[self._entropy.below(3) + 3 * kind]
        data = self.calls.state(selector) if kind == STATE else self.calls.batch(selector)
        return self._envelope(gas, to, EMPTY, data)

    def _plan(self, kind: int) -> None:
        """Set when the next transaction of a rare kind comes, and how long none does."""
        mean = RARE_GAPS[kind]
        heappush(self._due, (self._clock + mean // 2 + self._entropy.below(mean), kind))
        self._quiet = self._due[0][0] - self._clock
        self._clock = self._due[0][0]

    def _envelope(self, gas: bytes, to: bytes, value: bytes, data: bytes) -> bytes:
        fields = self._fields
        draw = self._draw()
        kind = TYPES[draw & SLOT_MASK]
        parity = draw >> 15
        nonce, signature, cap = fields.nonce(), fields.signature(), fields.cap()
        if kind == 0:
            payload = b"".join((nonce, cap, gas, to, value, data, self._legacy_v[parity],
                                signature))
            return prefix(0xC0, len(payload)) + payload
        if kind == 1:
            parts: tuple[bytes, ...] = (nonce, cap, gas, to, value, data, fields.access_list())
        else:
            access = fields.access_list() if self._draw() < ACCESS_BELOW else NO_ACCESS
            parts = (nonce, fields.tip(), cap, gas, to, value, data, access)
        if kind == 3:
            parts += self._blobs()
        payload = b"".join((self._chain_id, *parts, PARITY[parity], signature))
        head = prefix(0xC0, len(payload))
        return b"".join(
            (prefix(0x80, 1 + len(head) + len(payload)), bytes((kind,)), head, payload))

    def _blobs(self) -> tuple[bytes, bytes]:
        """Return the blob fee cap and one or two versioned hashes."""
        count = 1 + (self._draw() & 1)
        hashes = (b"\xa0\x01" + self._entropy.take(31) for _ in range(count))
        return number(1 + self._draw()), sequence(*hashes)
