"""Seeded mutants of blocks with receipts through the C harness of ext/columns, under sanitizers."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import chainmaker
import pytest
from compiler import build_fuzzer
from receiptmaker import SAMPLE, receipts
from reference.rlp import Tree, encode
from txkit import KINDS, in_block, made

from blockpack import Block

# Each mutant is walked once for every field and kind of column: 1,500 times.
ROUNDS = 40


def seeds() -> list[bytes]:
    block = in_block(*(made(kind) for kind in KINDS)).raw
    withdrawals: Tree = [[b"\x01", b"\x02", b"\x03" * 20, b"\x04"]] * 2
    body = chainmaker.body_of(block) + encode(withdrawals)
    assert [tx.type for tx in Block(chainmaker.header_of(block), body).transactions] == list(KINDS)
    parts = [(chainmaker.header_of(block), body, b"")]
    for form, tag in (("consensus", 1), ("storage", 2), ("slim", 3)):
        parts.append((chainmaker.header_of(block), body, bytes([tag]) + receipts(SAMPLE, form)))
    return [struct.pack("<HH", len(head), len(tail)) + head + tail + middle
            for head, middle, tail in parts]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = ["columns/walk.c", "columns/walk_receipts.c", "columns/wants.c", "columns/gather.c",
               "columns/gather_lists.c", "columns/u256.c", "columns/zeros.c", "rlp/rlp.c",
               "rlp/names.c", "rlp/transaction.c", "rlp/receipt.c", "bloom/bloom.c",
               "hash/keccak.c"]
    return build_fuzzer(tmp_path_factory.mktemp("fuzz") / "columns_fuzz",
                        ["tests/fuzz/columns_fuzz.c", *(f"ext/{source}" for source in sources)])


@pytest.mark.parametrize("seed", [1, 2])
def test_mutants_keep_the_promises(harness: Path, tmp_path: Path, seed: int) -> None:
    files = []
    for number, data in enumerate(seeds()):
        files.append(tmp_path / f"seed{number}")
        files[-1].write_bytes(data)
    run = subprocess.run([harness, str(ROUNDS), str(seed), *files], capture_output=True, text=True,
                         check=False, timeout=200)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{ROUNDS * len(files)} mutants\n"
