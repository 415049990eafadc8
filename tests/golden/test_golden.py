"""Frozen segments are still read, and still written; a missing golden file fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden.annotate import annotate, parse
from golden.cases import CASES
from segments import build, contents, open_reader, scan

FOLDER = Path(__file__).parent


def golden(name: str) -> bytes:
    return parse((FOLDER / f"{name}.txt").read_text())


def test_every_golden_file_has_a_case_and_the_other_way_round() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize("mmap", [True, False], ids=["map", "pread"])
@pytest.mark.parametrize("name", list(CASES))
def test_it_is_read(tmp_path: Path, name: str, mmap: bool) -> None:
    records, knobs = CASES[name]
    path = tmp_path / "a.seg"
    path.write_bytes(golden(name))
    reader = open_reader(path, mmap=mmap)
    assert contents(reader) == records
    assert scan(reader, reader.first, reader.first + reader.count) == records
    assert reader.verify() == []
    found = {key: getattr(reader, key) for key in knobs}
    assert found == knobs


@pytest.mark.parametrize("name", list(CASES))
def test_the_dump_is_the_whole_file(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text()
    assert annotate(golden(name)) == text


def test_it_is_written(tmp_path: Path) -> None:
    records, knobs = CASES["segment-v0-s2"]
    build(tmp_path / "a.seg", records, **knobs)
    assert annotate((tmp_path / "a.seg").read_bytes()) == (
        FOLDER / "segment-v0-s2.txt").read_text()
