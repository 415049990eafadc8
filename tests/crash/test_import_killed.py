"""An import killed with SIGKILL at moments spread over its real duration, then run again.

It must end in the same store as one that nobody killed: the same digest, and after a last seal
the same sealed files. ``BLOCKPACK_KILLS=30`` for the full run; the suite does a few.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chainmaker import chain

import blockpack
from blockpack.chain.importer import import_blocks

KILLS = int(os.environ.get("BLOCKPACK_KILLS", "6"))
KNOBS = {"segment_blocks": 100, "block_group_size": 8, "seal_lag": 4}
# 2,000 blocks of 3 KB: an import takes about half a second beside the interpreter's start.
COUNT, TX_BYTES = 2000, 3000


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "chain.rlp"
    path.write_bytes(b"".join(chain(COUNT, tx_bytes=TX_BYTES)))
    return path


def start_import(store: Path, source: Path, *, direct: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "blockpack", "import", str(store), str(source),
               *(["--direct", "--threads", "2"] if direct else [])]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sealed_files(store: Path) -> dict[str, bytes]:
    """Contents by name without its generation, which counts what was written before."""
    return {path.name.split(".g")[0]: path.read_bytes() for path in (store / "sealed").iterdir()}


def moments(duration: float) -> Iterator[float]:
    """Spread evenly over the whole run, the middle of each share."""
    return ((index + 0.5) / KILLS * duration for index in range(KILLS))


@pytest.mark.parametrize("direct", [False, True], ids=["log", "direct"])
def test_killed_imports_resume_into_the_same_store(tmp_path: Path, source: Path, direct: bool
                                                   ) -> None:
    whole = tmp_path / "whole"
    blockpack.create(whole, **KNOBS).close()
    began = time.monotonic()
    assert start_import(whole, source, direct=direct).wait() == 0
    duration = time.monotonic() - began
    with blockpack.open(whole, mode="a") as store:
        store.seal()
        digest = store.digest()
    for number, moment in enumerate(moments(duration)):
        killed = tmp_path / f"killed-{number}"
        blockpack.create(killed, **KNOBS).close()
        process = start_import(killed, source, direct=direct)
        try:
            process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        check_resumes(killed, source, direct, digest, sealed_files(whole))


def check_resumes(killed: Path, source: Path, direct: bool, digest: bytes,
                  files: dict[str, bytes]) -> None:
    """A reader opens what the kill left; then the import ends as if nothing had happened."""
    with blockpack.open(killed) as reader:
        left = reader.head
    with blockpack.open(killed, mode="a") as store:
        if left is not None:
            assert store.head is not None
            assert store.head >= left
        import_blocks(store, source, direct=direct)
        store.seal()
        assert store.digest() == digest
    assert sealed_files(killed) == files
