"""A short run of s2_fuzz.c under the sanitizers; its head says how to run a long one."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from blockpack._native import s2

ROOT = Path(__file__).parents[2]
ROUNDS = 400


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no C compiler: {compiler[0]}")
    if not (ROOT / "ext").is_dir():
        pytest.skip("no kernel sources beside the tests")
    flags = ["-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    folder = tmp_path_factory.mktemp("s2_fuzz")
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    probe = subprocess.run([*compiler, *flags, "empty.c", "-o", "empty"], cwd=folder, check=False)
    if probe.returncode:
        pytest.skip(f"{compiler[0]} has no sanitizer runtimes")
    program = folder / "s2_fuzz"
    kernels = sorted((ROOT / "ext" / "s2").glob("*.c"))
    subprocess.run(
        [*compiler, *flags, "-Wall", "-Wextra", "-Werror", "-DSTANDALONE", "-I", ROOT / "ext",
         ROOT / "tests" / "fuzz" / "s2_fuzz.c", *kernels, "-o", program], check=True)
    return program


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


def test_mutations_find_nothing(fuzzer: Path, tmp_path: Path) -> None:
    files = corpus(tmp_path)
    # An interpreter that runs under a preloaded sanitizer must not hand it on.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    run = subprocess.run([fuzzer, str(ROUNDS), "1", *files], env=environment, capture_output=True,
                         text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout == f"{(ROUNDS + 1) * len(files)} inputs\n"
