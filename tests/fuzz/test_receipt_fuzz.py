"""A few thousand seeded mutants of made-up receipts through the C harness, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiler import build_fuzzer
from receiptmaker import SAMPLE, receipts

ROUNDS = 1500
# Record: the form's number, which the harness takes modulo 3, and the list.
SEEDS = [bytes((number,)) + receipts(SAMPLE, form)
         for number, form in ((0, "consensus"), (1, "storage"), (2, "slim"))]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fuzz") / "receipt_fuzz"
    return build_fuzzer(program, [
        "tests/fuzz/receipt_fuzz.c", "ext/rlp/rlp.c", "ext/rlp/names.c", "ext/rlp/receipt.c",
        "ext/rlp/receipt_value.c", "ext/bloom/bloom.c", "ext/bloom/logfilter.c",
        "ext/hash/keccak.c"])


def run(harness: Path, seed: int, files: list[Path]) -> str:
    done = subprocess.run([harness, str(ROUNDS), str(seed), *files], capture_output=True,
                          text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_mutants_keep_the_promises(harness: Path, tmp_path: Path) -> None:
    files = []
    for number, data in enumerate([*SEEDS, b"\0\xc0", b"\0"]):
        files.append(tmp_path / f"seed{number}")
        files[-1].write_bytes(data)
    assert run(harness, 1, files) == f"{ROUNDS * len(files)} mutants\n"


def test_mutants_of_real_receipts(harness: Path, testdata: Path, tmp_path: Path) -> None:
    file = tmp_path / "real"
    file.write_bytes(b"\2" + (testdata / "receipts/portal-19426587.receipts.rlp").read_bytes())
    assert run(harness, 2, [file]) == f"{ROUNDS} mutants\n"
