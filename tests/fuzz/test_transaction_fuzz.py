"""Seeded mutants of transactions of every type through the C harness, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from compiler import build_fuzzer
from reference.rlp import encode
from txkit import KINDS, made

ROUNDS = 3000


def test_mutants_keep_the_promises(tmp_path: Path) -> None:
    harness = build_fuzzer(tmp_path / "transaction_fuzz", [
        "tests/fuzz/transaction_fuzz.c", "ext/rlp/rlp.c", "ext/rlp/names.c",
        "ext/rlp/transaction.c"])
    seeds = [made(0), *(encode(made(kind)) for kind in KINDS if kind), encode(b"\x7e\xc0"), b""]
    files = []
    for number, data in enumerate(seeds):
        files.append(tmp_path / f"seed{number}")
        files[-1].write_bytes(data)
    run = subprocess.run([harness, str(ROUNDS), "1", *files], capture_output=True, text=True,
                         check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{ROUNDS * len(seeds)} mutants\n"
