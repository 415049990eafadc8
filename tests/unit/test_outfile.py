"""Files that get their name when all of them is on disk, and what killed writers leave."""

from __future__ import annotations

from pathlib import Path

import arrowkit as kit
import pytest

from blockpack.chain.outfile import opened, publish, sweep, temporary


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_gets_its_name_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path / "all") as file:
        file.write(b"some")
        assert "all" not in names(tmp_path)
    assert names(tmp_path) == ["all"]
    assert (tmp_path / "all").read_bytes() == b"some"


def test_what_is_not_published_is_gone(tmp_path: Path) -> None:
    with temporary(tmp_path, "all") as (file, _):
        file.write(b"some")
    assert names(tmp_path) == []
    with pytest.raises(RuntimeError), temporary(tmp_path, "all"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_sweep_removes_what_nobody_writes(tmp_path: Path) -> None:
    code = f"""
import os, pathlib
from blockpack.chain.outfile import temporary
with temporary(pathlib.Path({str(tmp_path)!r}), "logs-1.csv") as (file, _):
    file.write(b"some")
    os._exit(9)
"""
    assert kit.run_python(code).returncode == 9
    left = names(tmp_path)
    assert len(left) == 1
    with temporary(tmp_path, "logs-2.csv") as (file, written):
        sweep(tmp_path, "blocks-")
        assert len(names(tmp_path)) == 2
        sweep(tmp_path, "logs-")
        assert names(tmp_path) == [written.name]
        publish(file, written, tmp_path / "logs-2.csv")
    sweep(tmp_path, "logs-")
    assert names(tmp_path) == ["logs-2.csv"]
