"""Seeded mutants of blocks with receipts through the C harness of the roots, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from blocks import header, legacy, typed
from compiler import build_fuzzer
from receiptmaker import SAMPLE, receipts
from reference.rlp import encode

ROUNDS = 1500


def records(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(3, "little") for part in parts[:2]) + b"".join(parts)


def test_mutants_keep_the_promises(tmp_path: Path) -> None:
    transactions = [legacy(37), typed(2, 1), typed(3, 1), legacy(27), typed(0x7E, 1)]
    body = encode(transactions) + encode([header()]) + encode([[b"withdrawal"]])
    seeds = [records(encode(header(fields=17)), body, bytes((number,)) + receipts(SAMPLE, form))
             for number, form in ((1, "consensus"), (2, "storage"), (3, "slim"))]
    seeds += [records(encode(header()), b"\xc0\xc0", b""),
              records(encode(header(fields=21)), encode([b"x"] * 300) + b"\xc0", b"")]
    files = []
    for number, seed in enumerate(seeds):
        files.append(tmp_path / f"seed{number}")
        files[-1].write_bytes(seed)
    program = build_fuzzer(tmp_path / "roots_fuzz", [
        "tests/fuzz/roots_fuzz.c", "ext/trie/roots.c", "ext/trie/ordered.c", "ext/rlp/rlp.c",
        "ext/rlp/receipt.c", "ext/rlp/receipt_value.c", "ext/bloom/bloom.c", "ext/hash/keccak.c"])
    run = subprocess.run([program, str(ROUNDS), "1", *files], capture_output=True, text=True,
                         check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{ROUNDS * len(files)} mutants\n"
