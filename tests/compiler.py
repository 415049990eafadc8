"""The C compiler, for tests that build kernels by themselves."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def c_compiler() -> str:
    """A compiler's name; skips the test where there is none, or no C source beside the tests."""
    if not (ROOT / "ext").is_dir():
        pytest.skip("no source tree beside the tests: no kernel to compile")
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    pytest.skip("no C compiler")
