"""Compare every .pyi beside a .pyx with the extension that was built from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[2] / "src" / "blockpack" / "_native"


def main() -> int:
    modules = sorted(f"blockpack._native.{path.stem}" for path in NATIVE.glob("*.pyi"))
    if not modules:
        print("no stubs found beside the extensions", file=sys.stderr)
        return 1
    allowlist = Path(__file__).with_name("stubtest_allowlist.txt")
    return subprocess.call([
        sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-unused-allowlist",
        "--allowlist", str(allowlist), *modules])


if __name__ == "__main__":
    sys.exit(main())
