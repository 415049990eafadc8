"""A few thousand seeded mutants of made-up blocks through the C harness, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from blocks import block, header, legacy, typed
from compiler import build_fuzzer
from reference.rlp import encode

ROUNDS = 1500
SEEDS = {
    "empty block": block(),
    "all kinds": block([legacy(27, bytes(100)), legacy(37), typed(0x7E, 3), typed(2, 1)],
                       uncles=[header()], extra=[[[b"withdrawal"]]], fields=17),
    "newest header": block([typed(4, 2**40)], extra=[[], []], fields=21),
    "nested lists": encode([[[[[b"a"]]], b"b" * 60], [[], [b"c" * 300]]]),
    "nothing": b"",
}


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fuzz") / "rlp_fuzz"
    sources = ["tests/fuzz/rlp_fuzz.c", "ext/rlp/rlp.c", "ext/hash/keccak.c"]
    return build_fuzzer(program, sources)


def test_mutants_keep_the_promises(harness: Path, tmp_path: Path) -> None:
    files = []
    for i, data in enumerate(SEEDS.values()):
        files.append(tmp_path / f"seed{i}")
        files[-1].write_bytes(data)
    run = subprocess.run([harness, str(ROUNDS), "1", *files], capture_output=True, text=True,
                         check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{ROUNDS * len(files)} mutants\n"


def test_mutants_of_real_blocks(harness: Path, testdata: Path) -> None:
    names = ["46147_4e3a3754.rlp", "1920000_4985f5ca.rlp", "1150000_584bdb5d.rlp"]
    files = [testdata / "singles" / name for name in names]
    run = subprocess.run([harness, str(ROUNDS), "2", *files], capture_output=True, text=True,
                         check=False, timeout=120)
    assert run.returncode == 0, run.stderr
