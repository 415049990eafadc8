"""Receipts for synthetic blocks: logs that name what the calldata names.

Source: EIP-658 (status), EIP-2718 (typed receipts), yellow paper section 4.3.1 (bloom).
"""

from __future__ import annotations

from blockpack._native.keccak import keccak256
from blockpack.measure.synthetic.calls import ADDRESS_PAD, Calls
from blockpack.measure.synthetic.entropy import SLOT_MASK, Entropy, popularity, weighted
from blockpack.measure.synthetic.rlp import number, prefix, sequence, text

EVENTS = 40
# Logs of a transaction with calldata -> weight; real dense blocks have some 500 logs.
LOGS = weighted([(0, 0.22), (1, 0.30), (2, 0.13), (4, 0.15), (7, 0.12), (12, 0.06), (25, 0.02)])
BLOOM_BYTES = 256
SHORTEST_CALL = 150


class Receipts:
    """Makes the receipts of one chain's blocks, in order."""

    def __init__(self, key: bytes, calls: Calls) -> None:
        self._entropy = Entropy(key)
        self._calls = calls
        self._ranks = popularity(EVENTS, 0.3)
        # Topic, indexed arguments, and words of data of each event.
        self._events = [(self._entropy.take(32), self._entropy.below(4), 1 + rank % 5)
                        for rank in range(EVENTS)]

    def encode(self, transactions: list[bytes]) -> bytes:
        """Return the RLP list of receipts for the items of a block's transaction list."""
        gas = 0
        items = []
        for transaction in transactions:
            logs = self._logs() if len(transaction) >= SHORTEST_CALL else []
            gas += 21_000 + 30_000 * len(logs) + self._entropy.draw()
            items.append(self._receipt(transaction, gas, logs))
        return sequence(*items)

    def _receipt(self, transaction: bytes, gas: int, logs: list[list[bytes]]) -> bytes:
        status = number(self._entropy.draw() > 2000)
        bloom = text(logs_bloom(logs))
        body = sequence(status, number(gas), bloom, sequence(*map(_encode_log, logs)))
        if transaction[0] >= 0xC0:
            return body
        kind = transaction[transaction[0] - 0xB6]  # after a string header of 2 to 4 bytes
        return prefix(0x80, 1 + len(body)) + bytes((kind,)) + body

    def _logs(self) -> list[list[bytes]]:
        return [self._log() for _ in range(LOGS[self._entropy.draw() & SLOT_MASK])]

    def _log(self) -> list[bytes]:
        """Return address, topics and last the data of one log."""
        draw = self._entropy.draw
        event, indexed, words = self._events[self._ranks[draw() & SLOT_MASK]]
        topics = [event]
        for _ in range(indexed):
            pool = self._calls.users if draw() & 1 else self._calls.tokens
            topics.append(ADDRESS_PAD + pool.peek(draw()))
        data = b"".join(self._entropy.take(3 + (draw() & 7)).rjust(32, b"\0")
                        for _ in range(words))
        return [self._calls.tokens.peek(draw()), *topics, data]


def logs_bloom(logs: list[list[bytes]]) -> bytes:
    """Return the 2,048-bit bloom of logs: three bits for each address and topic."""
    bloom = 0
    for log in logs:
        for item in log[:-1]:
            digest = keccak256(item)
            for start in (0, 2, 4):
                bloom |= 1 << (int.from_bytes(digest[start:start + 2], "big") & 2047)
    return bloom.to_bytes(BLOOM_BYTES, "big")


def _encode_log(log: list[bytes]) -> bytes:
    address, *topics, data = log
    return sequence(text(address), sequence(*map(text, topics)), text(data))
