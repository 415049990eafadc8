"""The C compiler, for tests that build kernels by themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def c_compiler() -> str:
    """A compiler's name; skips the test where there is none, or no C source beside the tests."""
    if not (ROOT / "ext").is_dir():
        pytest.skip("no source tree beside the tests: no kernel to compile")
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    pytest.skip("no C compiler")


def build_fuzzer(program: Path, sources: list[str], flags: list[str] | None = None) -> Path:
    """Compile a harness with its kernels (paths from the root); skips without sanitizers."""
    compiler = c_compiler()
    command: list[str | Path] = [
        compiler, "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-DSTANDALONE",
        *(flags or []), "-I", ROOT / "ext", *(ROOT / source for source in sources), "-o", program]
    built = subprocess.run([*command, *SANITIZERS], capture_output=True, text=True, check=False)
    if built.returncode and "cannot find" in built.stderr:
        pytest.skip(f"{compiler} has no sanitizer libraries")
    assert built.returncode == 0, built.stderr
    return program
