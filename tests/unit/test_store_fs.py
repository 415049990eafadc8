"""The calls that change files: all bytes arrive, short writes included."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from blockpack.store import fs as fs_module
from blockpack.store.fs import SYSTEM


@pytest.fixture
def fd(tmp_path: Path) -> int:
    return SYSTEM.create(str(tmp_path / "file"))


def read_and_close(fd: int) -> bytes:
    data = os.pread(fd, 1 << 20, 0)
    SYSTEM.close(fd)
    return data


def test_gathered_writes_of_more_parts_than_one_call_takes(fd: int) -> None:
    parts = [b"%d," % i for i in range(3000)]
    SYSTEM.write_parts(fd, parts)
    SYSTEM.pwrite_parts(fd, parts, len(b"".join(parts)))
    assert read_and_close(fd) == b"".join(parts) * 2


def test_short_writes_are_completed(fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def three_bytes(fd: int, parts: Sequence[bytes]) -> int:
        return os.write(fd, b"".join(parts)[:3])

    def three_bytes_at(fd: int, parts: Sequence[bytes], offset: int) -> int:
        return os.pwrite(fd, b"".join(parts)[:3], offset)

    monkeypatch.setattr(fs_module.os, "writev", three_bytes)
    monkeypatch.setattr(fs_module.os, "pwritev", three_bytes_at)
    SYSTEM.write_parts(fd, [b"ab", b"cdef", b"", b"gh"])
    SYSTEM.pwrite_parts(fd, [b"ij", b"klmn"], 8)
    assert read_and_close(fd) == b"abcdefghijklmn"


def test_create_never_takes_an_existing_file(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    SYSTEM.close(SYSTEM.create(path))
    with pytest.raises(FileExistsError):
        SYSTEM.create(path)


def test_removing_or_making_twice_is_fine(tmp_path: Path) -> None:
    SYSTEM.unlink(str(tmp_path / "none"))
    SYSTEM.mkdir(str(tmp_path / "folder"))
    SYSTEM.mkdir(str(tmp_path / "folder"))
    SYSTEM.fsync_dir(str(tmp_path))
    assert (tmp_path / "folder").is_dir()
