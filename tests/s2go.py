"""Go's S2 package behind pipes: interop/s2oracle, built and asked."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

SOURCE = Path(__file__).parent / "interop" / "s2oracle"
# Where Debian's golang-github-klauspost-compress-dev puts its source.
DEBIAN_GOPATH = Path("/usr/share/gocode")
# Our tier -> the oracle's command that encodes like it.
GO_TIERS = {"fastest": "f", "better": "b", "best": "B"}


def missing() -> str | None:
    """Why there can be no oracle here; None where it can be built."""
    if shutil.which("go") is None:
        return "no Go compiler: Debian's package is golang-go"
    if not (DEBIAN_GOPATH / "src/github.com/klauspost/compress/s2").is_dir():
        return "no Go s2 package: Debian's is golang-github-klauspost-compress-dev"
    return None


def build(folder: Path) -> Path:
    """Compile the oracle in a new folder; returns the program."""
    package = folder / "src" / "s2oracle"
    package.mkdir(parents=True)
    shutil.copy(SOURCE / "main.go", package)
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{folder}:{DEBIAN_GOPATH}"}
    subprocess.run(["go", "build", "-o", folder / "oracle", "s2oracle"], env=environment,
                   check=True)
    return folder / "oracle"


class Oracle:
    """A process of the oracle; one question at a time."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, command: str, body: bytes) -> bytes | None:
        """The answer, or None when Go refuses."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command.encode() + struct.pack("<I", len(body)) + body)
        self.process.stdin.flush()
        status, size = struct.unpack("<BI", self.process.stdout.read(5))
        answer = self.process.stdout.read(size)
        return None if status else answer

    def keep(self, buffers: list[bytes]) -> None:
        """What the next timed passes go over."""
        self.ask("Z", b"")
        for buffer in buffers:
            self.ask("L", buffer)

    def timed(self, command: str, tier: str = "") -> tuple[float, int]:
        """(seconds, bytes that came out) of one pass over what is kept: t encodes, T decodes."""
        answer = self.ask(command, GO_TIERS.get(tier, "").encode())
        assert answer is not None
        nanoseconds, size = struct.unpack("<QQ", answer)
        return nanoseconds / 1e9, size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.process.communicate()
