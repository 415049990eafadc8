"""The writer's lock: one holder, whatever happens to it."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from blockpack.errors import LockedError
from blockpack.store.fs import SYSTEM
from blockpack.store.lock import WriterLock


def test_the_second_one_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    first = WriterLock(path, SYSTEM)
    with pytest.raises(LockedError, match="another writer"):
        WriterLock(path, SYSTEM)
    first.close()
    first.close()
    WriterLock(path, SYSTEM).close()


def test_a_lock_that_was_dropped_is_free(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    lock = WriterLock(path, SYSTEM)
    del lock
    WriterLock(path, SYSTEM).close()


def test_a_file_system_that_cannot_lock_is_named(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="cannot lock"):
        WriterLock(str(tmp_path / "lock"), SYSTEM)
