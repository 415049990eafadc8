"""Files of an export: one gets its name when all of it is on disk.

It is written under a temporary name beside it, ``.NAME.PID.tmp``, and locked while it is; so what
a killed process left can be told from what another one is still writing.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from blockpack.errors import naming
from blockpack.store.fs import SYSTEM

WRITE_BYTES = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when all of it is on disk, and leaves nothing when it fails.

    A symbolic link stays one; a device or a named pipe is written to and stays what it is.
    """
    if path.exists() and not path.is_file():
        with naming(str(path)), open(path, "wb", buffering=WRITE_BYTES) as file:
            yield file
        return
    path = path.resolve()
    with temporary(path.parent, path.name) as (file, written):
        yield file
        publish(file, written, path)


@contextmanager
def temporary(folder: Path, name: str) -> Iterator[tuple[BinaryIO, Path]]:
    """A file under a temporary name, which is gone afterwards unless it was published."""
    path = folder / f".{name}.{os.getpid()}.tmp"
    file = _locked(path)
    try:
        with naming(str(path)), file:  # closing writes too, and can fail
            yield file, path
    finally:
        path.unlink(missing_ok=True)


def _locked(path: Path) -> BinaryIO:
    while True:
        file = open(path, "wb", buffering=WRITE_BYTES)  # noqa: SIM115
        with suppress(OSError):     # a file system without locks: sweep() finds none either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()    # swept between the two calls


def publish(file: BinaryIO, written: Path, path: Path) -> None:
    """Make the file durable and give it its name."""
    file.flush()
    os.fsync(file.fileno())
    written.replace(path)
    SYSTEM.fsync_dir(str(path.parent))


def sweep(folder: Path, start: str) -> None:
    """Remove what killed processes left of files whose names start so."""
    for path in folder.glob(f".{start}*.tmp"):
        with suppress(OSError), open(path, "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
