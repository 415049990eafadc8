"""Built indexes, whole and mutated, through the C harness of ext/hashes, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiler import build_fuzzer

ROUNDS = 10_000


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fuzz") / "hashes_fuzz"
    sources = ["tests/fuzz/hashes_fuzz.c", "ext/hashes/hashes.c"]
    return build_fuzzer(program, sources)


@pytest.mark.parametrize("seed", [1, 2])
def test_indexes_keep_the_promises(harness: Path, seed: int) -> None:
    run = subprocess.run([harness, str(ROUNDS), str(seed)], capture_output=True, text=True,
                         check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{ROUNDS} rounds\n"
