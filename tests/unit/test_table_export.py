"""Tables as files: their cuts, going on after a cut, and never a half-written one."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import arrowkit as kit
import pytest

from blockpack import KnobError
from blockpack.chain.columns.batch import Batches, Columns
from blockpack.chain.tableexport import arrowfiles, text
from blockpack.chain.tableexport.export import FORMATS, cuts, export_batches, format_of

ALL, EXPECTED = kit.table(100, True)
formats = pytest.mark.parametrize("to", FORMATS)


def source(start: int, stop: int) -> Batches:
    """Row n is of block n, in batches of 7."""
    def compute() -> Iterator[Columns]:
        for begin in range(start, stop, 7):
            end = min(stop, begin + 7)
            yield Columns([ALL.column(name)[begin:end] for name in ALL], None, ALL.fields,
                          range(begin, end))

    return Batches(ALL.fields, compute)


def one_column(start: int, stop: int) -> Batches:
    fields = [field for field in ALL.fields if field.name == "u64"]

    def compute() -> Iterator[Columns]:
        yield Columns([ALL.column("u64")[start:stop]], None, fields)

    return Batches(fields, compute)


def failing(error: BaseException) -> Callable[[int, int], Batches]:
    """A source that fails in the middle of the second file of ten blocks."""
    def limited(start: int, stop: int) -> Batches:
        def compute() -> Iterator[Columns]:
            yield from source(start, min(stop, 15))
            if stop > 15:
                raise error

        return Batches(ALL.fields, compute)

    return limited


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def needs(to: str) -> None:
    if to in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")


def numbers_in(path: Path) -> list[int | None]:
    """The column u64 of a file."""
    if path.suffix == ".csv":
        with open(path, newline="") as file:
            return [int(row["u64"]) if row["u64"] else None for row in csv.DictReader(file)]
    if path.suffix == ".jsonl":
        return [json.loads(line)["u64"] for line in path.read_text().splitlines()]
    arrow = arrowfiles.pyarrow()
    if path.suffix == ".parquet":
        found: list[int | None] = arrow.parquet.read_table(path)["u64"].to_pylist()
        return found
    with arrow.memory_map(str(path)) as mapped:
        return list(arrow.ipc.open_file(mapped).read_all()["u64"].to_pylist())


def test_a_range_is_cut_at_multiples() -> None:
    assert list(cuts(3, 25, 10)) == [(3, 10), (10, 20), (20, 25)]
    assert list(cuts(10, 20, 10)) == [(10, 20)]
    assert list(cuts(5, 5, 10)) == []


@formats
def test_files_have_the_rows_of_their_blocks(to: str, tmp_path: Path) -> None:
    needs(to)
    reports: list[tuple[int, int, int | None]] = []
    done = export_batches(source, tmp_path / "new" / "out", "t", 3, 25, to=to, file_blocks=10,
                          progress=lambda *report: reports.append(report))
    extension = FORMATS[to].extension
    assert [path.name for path in done.written] == [
        f"t-{first:09d}-{last:09d}.{extension}" for first, last in ((3, 9), (10, 19), (20, 24))]
    assert (done.rows, done.kept, done.replaced) == (22, [], [])
    assert done.nbytes == sum(path.stat().st_size for path in done.written)
    assert [value for path in done.written for value in numbers_in(path)] == EXPECTED["u64"][3:25]
    assert reports[-1] == (22, done.nbytes, None)
    assert sorted(reports, key=lambda report: report[:2]) == reports
    assert FORMATS[to].names(done.written[0]) in (list(ALL), None)


@formats
def test_going_on_keeps_what_is_whole_and_replaces_the_shorter_last(to: str, tmp_path: Path
                                                                     ) -> None:
    needs(to)
    first = export_batches(source, tmp_path, "t", 3, 25, to=to, file_blocks=10)
    times = {path: path.stat().st_mtime_ns for path in first.written}
    again = export_batches(source, tmp_path, "t", 3, 25, to=to, file_blocks=10)
    assert (again.written, again.kept, again.rows) == ([], first.written, 0)
    longer = export_batches(source, tmp_path, "t", 3, 42, to=to, file_blocks=10)
    assert longer.kept == first.written[:2]
    assert longer.replaced == first.written[2:]
    assert len(longer.written) == 3
    assert all(path.stat().st_mtime_ns == times[path] for path in longer.kept)
    rows = [value for path in sorted(tmp_path.iterdir()) for value in numbers_in(path)]
    assert rows == EXPECTED["u64"][3:42]


def test_files_that_do_not_go_together_are_refused_before_anything_is_written(tmp_path: Path
                                                                              ) -> None:
    export_batches(source, tmp_path, "t", 0, 25, to="csv", file_blocks=10)
    before = names(tmp_path)
    for begin, end, cut in ((0, 50, 7), (5, 50, 10), (0, 24, 10), (22, 23, 10)):
        with pytest.raises(FileExistsError, match=r"t-0000000\d\d.*csv overlaps"):
            export_batches(source, tmp_path, "t", begin, end, to="csv", file_blocks=cut)
    with pytest.raises(FileExistsError, match=r"has the columns u8, u32.*asked for are u64;"):
        export_batches(one_column, tmp_path, "t", 20, 50, to="csv", file_blocks=10)
    assert names(tmp_path) == before
    assert len(export_batches(one_column, tmp_path, "t", 30, 50, to="csv").written) == 1
    assert len(export_batches(one_column, tmp_path, "other", 0, 25, to="csv").written) == 1
    assert len(export_batches(one_column, tmp_path, "t", 0, 25, to="json").written) == 1


@formats
def test_a_file_without_rows_is_a_file(to: str, tmp_path: Path) -> None:
    needs(to)
    empty = Batches(ALL.fields, lambda: iter(()))
    done = export_batches(lambda _start, _stop: empty, tmp_path, "t", 0, 10, to=to)
    assert numbers_in(done.written[0]) == []
    again = export_batches(lambda _start, _stop: empty, tmp_path, "t", 0, 10, to=to)
    assert again.kept == done.written


@formats
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_whole_files_alone(to: str, error: BaseException, tmp_path: Path
                                                ) -> None:
    needs(to)
    with pytest.raises(type(error)):
        export_batches(failing(error), tmp_path, "t", 3, 25, to=to, file_blocks=10)
    assert names(tmp_path) == [f"t-000000003-000000009.{FORMATS[to].extension}"]
    done = export_batches(source, tmp_path, "t", 3, 25, to=to, file_blocks=10)
    assert (len(done.kept), len(done.written)) == (1, 2)


@formats
def test_a_full_disk_names_the_file_and_leaves_none(to: str, tmp_path: Path) -> None:
    needs(to)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match=r"too large.*\.tmp"):
            export_batches(source, tmp_path, "t", 0, 50, to=to)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(tmp_path) == []


def test_a_killed_export_is_gone_on_with(tmp_path: Path) -> None:
    code = f"""
import test_table_export as here
import time
from blockpack.chain.tableexport.export import export_batches
def slow(start, stop):
    def compute():
        yield from here.source(start, min(stop, 15))
        if stop > 15:
            print("half", flush=True)
            time.sleep(60)
    return here.Batches(here.ALL.fields, compute)
export_batches(slow, {str(tmp_path)!r}, "t", 3, 25, to="csv", file_blocks=10)
"""
    path = ":".join([str(Path(__file__).parent), *sys.path])
    with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path},
                          stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    left = names(tmp_path)
    assert len(left) == 2
    assert left[0].startswith(".t-000000010-000000019.csv.")
    done = export_batches(source, tmp_path, "t", 3, 25, to="csv", file_blocks=10)
    assert (len(done.kept), len(done.written)) == (1, 2)
    assert names(tmp_path) == [f"t-{first:09d}-{last:09d}.csv"
                               for first, last in ((3, 9), (10, 19), (20, 24))]


@formats
def test_no_more_than_two_batches_are_alive(to: str, tmp_path: Path) -> None:
    """Parquet's row group is what it holds besides; it is made small here."""
    needs(to)
    alive: list[Any] = []
    most = 0
    batches = kit.counted(30, alive, rows=5000)

    def watched() -> Iterator[Columns]:
        nonlocal most
        for columns in batches:
            most = max(most, sum(ref() is not None for ref in alive))
            yield columns
            del columns

    whole = arrowfiles.ROW_GROUP_BYTES
    arrowfiles.ROW_GROUP_BYTES = 1000
    try:
        export_batches(lambda _start, _stop: Batches(batches.fields, watched), tmp_path, "t", 0,
                       10, to=to)
    finally:
        arrowfiles.ROW_GROUP_BYTES = whole
    assert len(alive) == 30
    assert most <= 2


def test_a_row_group_has_many_batches(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    done = export_batches(source, tmp_path, "t", 0, 100, to="parquet")
    assert pyarrow.parquet.ParquetFile(done.written[0]).num_row_groups == 1


@formats
def test_an_export_gives_the_same_bytes_again(to: str, tmp_path: Path) -> None:
    needs(to)
    one = export_batches(source, tmp_path / "one", "t", 0, 50, to=to)
    two = export_batches(source, tmp_path / "two", "t", 0, 50, to=to)
    assert one.written[0].read_bytes() == two.written[0].read_bytes()


def test_what_there_is_not_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KnobError, match="no format 'xlsx'; there are parquet, csv, json, arrow"):
        format_of("xlsx")
    with pytest.raises(KnobError, match="file_blocks is 0"):
        export_batches(source, tmp_path, "t", 0, 10, to="csv", file_blocks=0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for to in ("parquet", "arrow"):
        with pytest.raises(ImportError, match=r"need pyarrow: pip install blockpack\[arrow\]"):
            export_batches(source, tmp_path, "t", 0, 10, to=to)
    assert len(export_batches(source, tmp_path, "t", 0, 10, to="csv").written) == 1


def test_rows_are_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_SLICE_BYTES", 1000)
    pieces = [len(part[0]) for part in text.slices(ALL)]
    assert sum(pieces) == 100
    assert len(pieces) > 10
    assert list(text.slices(Columns([ALL.column("u64")[:0]]))) == []
