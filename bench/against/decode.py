"""Nested lists, every field through the views, and hashes of transactions, beside pyrlp and keccak.

On both sides typed transactions are opened. Real dense blocks are read where BLOCKPACK_TESTDATA
has them, else the synthetic ones alone.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from against.pairs import Line, compared, take_turns, timed
from against.stores import Bench
from blockpack import Block, Transaction, rlp
from blockpack._native.rlp import split_block
from blockpack.measure.synthetic import SyntheticChain

BLOCKS = 14
REAL = "mainnet-18090205-18090218.rlp"
HASHES_MS_MAX = 0.4
# Times of ours / pyrlp: 40 and 60 times faster as lists, 15 times through views.
LISTS_MAX = {"synthetic": 1 / 40, "real": 1 / 60}
VIEWS_MAX = 1 / 15
# By position, the integers of each type's list.
INTEGERS = {0: (0, 1, 2, 4, 6, 7, 8), 1: (0, 1, 2, 3, 5, 8, 9, 10),
            2: (0, 1, 2, 3, 4, 6, 9, 10, 11), 3: (0, 1, 2, 3, 4, 6, 9, 11, 12, 13),
            4: (0, 1, 2, 3, 4, 6, 10, 11, 12)}


def lines(bench: Bench) -> list[Line]:
    synthetic = list(islice(SyntheticChain(seed=1), 2 * BLOCKS))[BLOCKS:]
    sets = {"synthetic": synthetic, "real": real_blocks()}
    return [line for name, blocks in sets.items() if blocks
            for line in measured(bench, name, blocks)]


def real_blocks() -> list[bytes]:
    folder = os.environ.get("BLOCKPACK_TESTDATA")
    path = Path(folder) / REAL if folder else None
    stream = path.read_bytes() if path and path.exists() else b""
    blocks, start = [], 0
    while start < len(stream):
        end = split_block(stream, start).end
        blocks.append(stream[start:end])
        start = end
    return blocks


def measured(bench: Bench, name: str, raws: list[bytes]) -> list[Line]:
    decode = importlib.import_module("rlp").decode
    parts = [(raw[spans.header_start:spans.header_end], raw[spans.header_end:spans.end])
             for raw in raws for spans in [split_block(raw)]]
    each: dict[str, Callable[[], object]] = {
        "lists": lambda: [rlp.decode_block(raw) and None for raw in raws],
        "pyrlp": lambda: [opened(decode, raw) and None for raw in raws],
        "views": lambda: [touched(Block(*pair)) for pair in parts],
        "pyrlp and int": lambda: [converted(decode, raw) for raw in raws],
        "hashes": lambda: [Block(*pair).transactions.hashes() and None for pair in parts],
    }
    times = take_turns({side: timed(work) for side, work in each.items()}, bench.sizes.rounds)
    scale = 1e6 / len(raws)
    count = sum(len(Block(*pair).transactions) for pair in parts) / len(parts)
    hashes = min(times["hashes"]) * scale / 1e3 * 149 / count
    return [
        compared("decode", f"a {name} block as nested lists", times, "lists", "pyrlp",
                 scale=scale, unit="us", target=LISTS_MAX[name]),
        compared("decode", f"every field of a {name} block's transactions", times, "views",
                 "pyrlp and int", scale=scale, unit="us", target=VIEWS_MAX),
        Line("decode", f"hashes of 149 {name} transactions", hashes, "ms",
             target=HASHES_MS_MAX if name == "synthetic" else None),
    ]


def opened(decode: Callable[..., Any], raw: bytes) -> Any:
    """A block by pyrlp, its typed transactions as (type, fields)."""
    block = decode(raw)
    block[1] = [(tx[0], decode(tx[1:])) if isinstance(tx, bytes) else (0, tx) for tx in block[1]]
    return block


def converted(decode: Callable[..., Any], raw: bytes) -> None:
    for kind, fields in opened(decode, raw)[1]:
        for position in INTEGERS[kind]:
            fields[position] = int.from_bytes(fields[position], "big")


def touched(block: Block) -> None:
    for tx in block.transactions:
        common(tx)
        kind = tx.type
        if kind < 2:
            tx.gas_price  # noqa: B018
        else:
            tx.max_fee_per_gas, tx.max_priority_fee_per_gas  # noqa: B018
        if kind > 0:
            tx.chain_id, tx.access_list  # noqa: B018
        if kind == 3:
            tx.max_fee_per_blob_gas, tx.blob_versioned_hashes  # noqa: B018
        elif kind == 4:
            tx.authorization_list  # noqa: B018


def common(tx: Transaction) -> None:
    """The fields that every type has."""
    (tx.nonce, tx.gas_limit, tx.to, tx.value, tx.input, tx.v, tx.r, tx.s)  # noqa: B018
