"""A short run of s2_fuzz.c under the sanitizers; its head says how to run a long one."""

from __future__ import annotations

import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from compiler import build_fuzzer

from blockpack._native import s2

ROOT = Path(__file__).parents[2]
ROUNDS = 150


@pytest.fixture(scope="module")
def fuzzers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The harness with the kernel as it is shipped, and with its scalar reference alone."""
    folder = tmp_path_factory.mktemp("s2_fuzz")
    kernels = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "ext" / "s2").glob("*.c"))
    sources = ["tests/fuzz/s2_fuzz.c", *kernels]
    return [build_fuzzer(folder / "fast", sources),
            build_fuzzer(folder / "scalar", sources, ["-DBP_SCALAR"])]


def corpus(folder: Path) -> list[Path]:
    """Blocks of every tier, and the data itself, which is hardly ever a block."""
    generator = random.Random(1)
    words = [generator.randbytes(generator.randint(2, 60)) for _ in range(20)]
    far = generator.randbytes(66_000)
    sources = [
        b"".join(generator.choices([*words, bytes(100), b"\x80"], k=80)),
        b"".join(words[i % 7] + bytes([i]) + words[i % 3] for i in range(60)),
        bytes(generator.choices(b"ab", k=2000)),
        far + far[:200] + far[500:700],
    ]
    files = []
    for i, source in enumerate(sources):
        for name, content in [("raw", source), *((t, s2.compress(source, t)) for t in s2.TIERS)]:
            files.append(folder / f"{i}-{name}")
            files[-1].write_bytes(content)
    return files


def run(program: Path, rounds: int, files: list[Path]) -> str:
    # An interpreter that runs under a preloaded sanitizer must not hand it on.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([program, str(rounds), "1", *files], env=environment,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def test_mutations_find_nothing_and_both_builds_agree(fuzzers: list[Path],
                                                      tmp_path: Path) -> None:
    files = corpus(tmp_path)
    with ThreadPoolExecutor() as pool:
        fast, scalar = pool.map(lambda program: run(program, ROUNDS, files), fuzzers)
    assert fast.startswith(f"{(ROUNDS + 1) * len(files)} inputs, results ")
    assert fast == scalar
