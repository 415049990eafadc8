"""The chain itself: headers that link, and blocks around transactions."""

from __future__ import annotations

from collections.abc import Iterator

from blockpack._native.keccak import keccak256
from blockpack.measure.synthetic.entropy import Entropy
from blockpack.measure.synthetic.fields import GWEI
from blockpack.measure.synthetic.population import Pool
from blockpack.measure.synthetic.receipts import Receipts
from blockpack.measure.synthetic.rlp import number, prefix, sequence, text
from blockpack.measure.synthetic.shapes import BLOCK_TRANSACTIONS
from blockpack.measure.synthetic.transactions import Transactions

CHAIN_ID = 1337
MEAN_BYTES = 90_000
GAS_LIMIT = 30_000_000
GENESIS_TIME = 1_694_158_043
SLOT_SECONDS = 12
WITHDRAWALS = 16
NO_UNCLES_HASH = bytes.fromhex(
    "1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347")


class SyntheticChain:
    """A deterministic, endless chain of blocks that look like late 2023 mainnet.

    Iterating yields block RLP: 17 header fields, transactions, no uncles, 16 withdrawals. Parent
    hashes are the keccak of the parent's header; roots, signatures and addresses are random, so
    nothing in it can be executed or verified against state. The same ``seed``, ``first``,
    ``mean_bytes`` and ``chain_id`` give the same bytes on every machine. One iterator per object:
    a second ``iter`` starts over.
    """

    def __init__(self, seed: int = 0, first: int = 0, mean_bytes: int = MEAN_BYTES,
                 chain_id: int = CHAIN_ID) -> None:
        self.seed = seed
        self.first = first
        self.mean_bytes = mean_bytes
        self.chain_id = chain_id

    def __iter__(self) -> Iterator[bytes]:
        return (block for block, _ in _Blocks(self).run())

    def with_receipts(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the same blocks, each with the RLP of its receipts in consensus form.

        Receipts have as many entries and the types of the block's transactions, logs with the
        addresses that its calldata names, and blooms that match their logs; the header's
        receipts root and bloom are not theirs.
        """
        blocks = _Blocks(self)
        receipts = Receipts(blocks.key + b"/receipts", blocks.transactions.calls)
        for block, transactions in blocks.run():
            yield block, receipts.encode(transactions)


class _Blocks:
    """The state of one pass over a chain."""

    def __init__(self, chain: SyntheticChain) -> None:
        key = f"blockpack synthetic chain 1/{chain.seed}/{chain.first}/{chain.chain_id}"
        self.key = key.encode()
        self._entropy = Entropy(self.key)
        self.transactions = Transactions(self._entropy, chain.chain_id)
        self._scale = chain.mean_bytes / MEAN_BYTES
        self._number = chain.first
        self._parent = self._entropy.take(32) if chain.first else bytes(32)
        self._base_fee = 11 * GWEI
        self._withdrawal = 16_883_974
        self._validator = 646_362
        self._builders = Pool(self._entropy, self._builder, popular=0.9, count=12, flat=1.0)
        self._pools = Pool(self._entropy, self._address, popular=0.5, burst=0.3, recent=0.1,
                           count=200)

    def run(self) -> Iterator[tuple[bytes, list[bytes]]]:
        """Yield blocks for ever, each with the items of its transaction list."""
        while True:
            yield self._block()

    def _block(self) -> tuple[bytes, list[bytes]]:
        timestamp = GENESIS_TIME + SLOT_SECONDS * self._number
        self.transactions.start_block(timestamp, self._base_fee)
        next_transaction = self.transactions.next
        transactions = [next_transaction() for _ in range(self._count())]
        gas_used = self._gas_used()
        header = self._header(timestamp, gas_used)
        body = sum(map(len, transactions))
        parts = [header, prefix(0xC0, body), *transactions, b"\xc0", self._withdrawals()]
        self._parent = keccak256(header)
        self._number += 1
        self._base_fee = next_base_fee(self._base_fee, gas_used)
        return b"".join((prefix(0xC0, sum(map(len, parts))), *parts)), transactions

    def _count(self) -> int:
        around = 90 + self._entropy.below(21)  # per cent
        usual = BLOCK_TRANSACTIONS[self._entropy.below(16)]
        return max(1, int(usual * around * self._scale) // 100)

    def _gas_used(self) -> int:
        # 40 to 60 % of the limit, leaning to where the base fee comes back to 8-32 gwei.
        lean = 1_500_000 * ((self._base_fee < 8 * GWEI) - (self._base_fee > 32 * GWEI))
        return 12_000_000 + lean + self._entropy.draw() * 6_000_000 // 65_535

    def _header(self, timestamp: int, gas_used: int) -> bytes:
        take = self._entropy.take
        builder, extra = self._builders.pick()
        return sequence(
            b"\xa0" + self._parent, b"\xa0" + NO_UNCLES_HASH, b"\x94" + builder,
            b"\xa0" + take(32), b"\xa0" + take(32), b"\xa0" + take(32),
            text(self._bloom()), number(0), number(self._number), number(GAS_LIMIT),
            number(gas_used), number(timestamp), text(extra), b"\xa0" + take(32),
            b"\x88" + bytes(8), number(self._base_fee), b"\xa0" + take(32),
        )

    def _bloom(self) -> bytes:
        # Half of the bits are set as a rule, three or five eighths now and then: real dense
        # blocks have 37 to 73 %.
        first, second, third = (int.from_bytes(self._entropy.take(256), "big") for _ in range(3))
        choice = self._entropy.below(8)
        if choice < 2:
            first &= second | third
        elif choice == 7:
            first |= second & third
        return first.to_bytes(256, "big")

    def _withdrawals(self) -> bytes:
        items = []
        pool = self._pools.pick()
        for _ in range(WITHDRAWALS):
            if self._entropy.chance(0.15):
                pool = self._pools.pick()
            amount = 15_700_000 + self._entropy.draw() * 2
            items.append(sequence(number(self._withdrawal), number(self._validator),
                                  b"\x94" + pool, number(amount)))
            self._withdrawal += 1
            self._validator += 1
        return sequence(*items)

    def _address(self) -> bytes:
        return self._entropy.take(20)

    def _builder(self) -> tuple[bytes, bytes]:
        extra = b"synthetic builder %d" % self._entropy.below(10_000)
        return self._entropy.take(20), extra


def next_base_fee(base_fee: int, gas_used: int) -> int:
    """Return the next block's base fee. Source: EIP-1559, with a limit of twice the target."""
    target = GAS_LIMIT // 2
    change = base_fee * abs(gas_used - target) // target // 8
    return base_fee + max(change, 1) if gas_used > target else base_fee - change
