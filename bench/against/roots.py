"""Roots of bodies and receipts beside their bare hashing, and logs beside a decode by pyrlp."""

from __future__ import annotations

import importlib
from collections import deque
from itertools import islice

from against.pairs import Line, compared, take_turns, timed
from against.stores import Bench
from blockpack._native.keccak import keccak256_many
from blockpack._native.logs import LogFilter
from blockpack._native.rlp import item_span, list_items, split_block
from blockpack._native.roots import check_roots, ordered_root
from blockpack.chain.logs import BlockOrigin
from blockpack.chain.records import split
from blockpack.measure.synthetic import SyntheticChain

# What the leaves' paths, the branches and the withdrawals may cost beside the transactions.
HASHES_MAX = 1.5
BLOCKS = 64


def lines(bench: Bench) -> list[Line]:
    made = list(islice(SyntheticChain(seed=1).with_receipts(), min(BLOCKS, bench.sizes.blocks)))
    parts = [split(block, split_block(block)) for block, _ in made]
    headers, bodies = [bytes(head) for head, _ in parts], [bytes(body) for _, body in parts]
    records = [b"\1" + receipts for _, receipts in made]
    return [roots(bench, headers, bodies), *logs(bench, headers, records)]


def items_of(data: bytes, offset: int) -> list[bytes]:
    """The items of a list as the trie has them: strings without their prefix."""
    return [data[start if data[start] >= 0xC0 else item_span(data, start)[0]:end]
            for start, end in list_items(data, offset)]


def roots(bench: Bench, headers: list[bytes], bodies: list[bytes]) -> Line:
    """The synthetic headers' roots are random: every block is found wrong, as a tuple or two."""
    absent: list[bytes | None] = [None] * len(headers)
    transactions = [item for body in bodies for item in items_of(body, 0)]
    assert ordered_root(items_of(bodies[0], 0)) == check_roots(
        headers[:1], bodies[:1], absent[:1])[0][3]
    times = take_turns({
        "roots": timed(lambda: check_roots(headers, bodies, absent)),
        "keccak of the transactions": timed(lambda: keccak256_many(transactions)),
    }, bench.sizes.rounds)
    return compared("roots", "transactions, uncles and withdrawals roots of a block", times,
                    "roots", "keccak of the transactions", scale=1e6 / len(headers), unit="us",
                    target=HASHES_MAX)


def logs(bench: Bench, headers: list[bytes], records: list[bytes]) -> list[Line]:
    """An address that some blocks have logs of; and the blooms alone."""
    decode = importlib.import_module("rlp").decode
    origins = [BlockOrigin(number, head, None) for number, head in enumerate(headers)]
    first = LogFilter([], []).matches(records[0], origins[0])
    wanted = LogFilter([first[-1].address], [])

    def scan() -> None:
        for record, origin in zip(records, origins, strict=True):
            wanted.matches(record, origin)

    def peer() -> None:
        for record in records:
            for one in decode(record[1:], strict=True):
                decode(one[1:], strict=True) if isinstance(one, bytes) else one

    times = take_turns({"ours": timed(scan), "pyrlp": timed(peer)}, bench.sizes.rounds)
    # A store's scan finds the headers where inflation has just put them: in the caches.
    again = 100
    blooms = take_turns({"ours": timed(
        lambda: deque((wanted.candidates(headers) for _ in range(again)), maxlen=0))},
        bench.sizes.rounds)
    return [
        compared("roots", "logs of one address in a block's receipts", times, "ours", "pyrlp",
                 scale=1e6 / len(records), unit="us"),
        Line("roots", "bloom of a header", min(blooms["ours"]) * 1e9 / again / len(headers), "ns"),
    ]
