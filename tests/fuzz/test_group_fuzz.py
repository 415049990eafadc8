"""Made-up groups and indexes, whole and mutated, through the C harness, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiler import ROOT, c_compiler

ROUNDS = 40_000
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("fuzz") / "group_fuzz"
    compiler = c_compiler()
    sources = [ROOT / "tests/fuzz/group_fuzz.c", ROOT / "ext/group/group.c",
               ROOT / "ext/index/index.c"]
    base: list[str | Path] = [
        compiler, "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-DSTANDALONE",
        "-I", ROOT / "ext", *sources, "-o", program]
    built = subprocess.run([*base, *SANITIZERS], capture_output=True, text=True, check=False)
    if built.returncode and "cannot find" in built.stderr:
        pytest.skip(f"{compiler} has no sanitizer libraries")
    assert built.returncode == 0, built.stderr
    return program


@pytest.mark.parametrize("seed", [1, 2])
def test_mutants_keep_the_promises(harness: Path, seed: int) -> None:
    run = subprocess.run([harness, str(ROUNDS), str(seed)], capture_output=True, text=True,
                         check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{ROUNDS} rounds\n"
