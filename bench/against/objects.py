"""A random read with all of its decoding, keccak by itself, and typed objects of py-evm.

Each against what people use for it, where that is installed: lmdb and rlp, tiny-keccak, py-evm.
"""

from __future__ import annotations

import importlib
from typing import Any

import blockpack
from against.decode import converted, real_blocks, touched
from against.pairs import Line, Picks, Read, compared, read_in_turns, take_turns, timed
from against.peers import LmdbStore, available
from against.stores import Bench
from blockpack import Block
from blockpack._native.keccak import keccak256
from blockpack._native.rlp import split_block

READ_MAX, KECCAK_MAX, EVM_MAX = 1 / 8, 1.0, 1 / 90
HASHED_BYTES, HASHES = 600, 2000


def lines(bench: Bench) -> list[Line]:
    return [*read_and_decode(bench), *keccak(bench), *py_evm(bench)]


def read_and_decode(bench: Bench) -> list[Line]:
    """Every field of every transaction of a block at random, group 1."""
    if not (available("lmdb") and available("rlp")):
        return []
    decode = importlib.import_module("rlp").decode
    count = min(len(bench.blocks), 256)
    peer = LmdbStore(bench.new_path())
    peer.load(bench.blocks[:count])
    with blockpack.open(bench.sealed("zstd", 1)) as store:
        sides: dict[str, Read] = {"ours": lambda n: touched(store[n]),
                                  "LMDB and pyrlp": lambda n: converted(decode, peer.get(n))}
        picks = Picks([[number] for number in range(count)], seed=9)
        times = read_in_turns(sides, picks, min(bench.sizes.rounds, 3), chunk=8)
    peer.close()
    return [compared("objects", "random read and every field, zstd, group 1", times, "ours",
                     "LMDB and pyrlp", scale=1e6, unit="us", target=READ_MAX)]


def keccak(bench: Bench) -> list[Line]:
    if not available("tiny_keccak"):
        return []
    theirs: Any = importlib.import_module("tiny_keccak").keccak256
    data = bytes(range(200)) * (HASHED_BYTES // 200)
    times = take_turns({"ours": timed(lambda: [keccak256(data) for _ in range(HASHES)] and None),
                        "tiny-keccak": timed(
                            lambda: [theirs(data) for _ in range(HASHES)] and None)},
                       bench.sizes.rounds)
    return [compared("objects", f"keccak of {HASHED_BYTES} bytes", times, "ours", "tiny-keccak",
                     scale=1e6 / HASHES, unit="us", target=KECCAK_MAX)]


def py_evm(bench: Bench) -> list[Line]:
    """Real blocks alone: it cannot read the synthetic ones, whose blob transactions come early."""
    blocks = real_blocks()
    if not (available("eth") and blocks):
        return []
    decode = importlib.import_module("rlp").decode
    kind: Any = importlib.import_module("eth.vm.forks.shanghai.blocks").ShanghaiBlock

    def typed() -> None:
        for block in blocks:
            for tx in decode(block, kind).transactions:
                (tx.nonce, tx.gas, tx.to, tx.value, tx.data, tx.r, tx.s)  # noqa: B018

    parts = [(block[spans.header_start:spans.header_end], block[spans.header_end:spans.end])
             for block in blocks for spans in [split_block(block)]]
    times = take_turns({"ours": timed(lambda: [touched(Block(*pair)) for pair in parts] and None),
                        "py-evm": timed(typed)}, min(bench.sizes.rounds, 3))
    return [compared("objects", "every field of a real block's transactions", times, "ours",
                     "py-evm", scale=1e6 / len(blocks), unit="us", target=EVM_MAX)]
