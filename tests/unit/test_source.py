"""Files by offset: what a map and pread return, short reads, and files without bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blockpack.errors import CorruptError
from blockpack.segment.source import MappedFile, PreadFile


@pytest.mark.parametrize("kind", [MappedFile, PreadFile])
def test_parts_of_a_file(tmp_path: Path, kind: type[MappedFile | PreadFile]) -> None:
    data = os.urandom(20_000)
    (tmp_path / "a").write_bytes(data)
    source = kind(str(tmp_path / "a"))
    assert source.size == len(data)
    for offset, size in ((0, 0), (0, 5), (4095, 2), (4097, 9000), (0, 20_000), (19_999, 1)):
        source.advise(offset, size)
        assert source.read(offset, size) == data[offset:offset + size]


@pytest.mark.parametrize("kind", [MappedFile, PreadFile])
def test_an_empty_file_is_corrupt(tmp_path: Path, kind: type[MappedFile | PreadFile]) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(CorruptError, match="empty"):
        kind(str(tmp_path / "a"))


def test_short_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(bytes(range(200)))
    source = PreadFile(str(tmp_path / "a"))
    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, offset: whole(fd, min(size, 7), offset))
    assert source.read(10, 100) == bytes(range(10, 110))


def test_a_file_that_shrank_is_corrupt_under_pread(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    source = PreadFile(str(tmp_path / "a"))
    os.truncate(tmp_path / "a", 50)
    with pytest.raises(CorruptError, match="ends early"):
        source.read(40, 20)
