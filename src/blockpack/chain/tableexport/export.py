"""Tables of a range of blocks as files: Parquet, Arrow IPC, CSV or JSON lines.

A folder gets ``<table>-<first>-<last>.<ext>`` files, cut at multiples of a number of blocks, so
that an export that goes on later, or again, cuts alike. A file has its name when all of it is on
disk; one that is there is therefore whole, and is kept, without comparing it with the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from blockpack.chain.columns.batch import Batches, Columns
from blockpack.chain.columns.column import Field
from blockpack.chain.outfile import publish, sweep, temporary
from blockpack.chain.store import BlockStore
from blockpack.chain.tableexport import arrowfiles, text
from blockpack.errors import KnobError

# Called with blocks done, bytes written, and None: nobody knows how many there will be.
Progress = Callable[[int, int, "int | None"], None]
# Makes the batches of blocks start..stop - 1.
Source = Callable[[int, int], Batches]

FILE_BLOCKS: Final = 10_000


class Writer(Protocol):
    """Appends columns to a file; ``close`` completes it, ``abandon`` gives it up.

    The file itself stays open; after ``abandon`` nothing is written to it any more.
    """

    def write(self, columns: Columns) -> None: ...
    def close(self) -> None: ...
    def abandon(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: what writes it, and what tells the columns that one has."""

    extension: str
    writer: Callable[[BinaryIO, tuple[Field, ...]], Writer]
    names: Callable[[Path], list[str] | None]
    prepare: Callable[[], object] = lambda: None


FORMATS: Final[dict[str, Format]] = {
    "parquet": Format("parquet", arrowfiles.ParquetWriter, arrowfiles.parquet_names,
                      arrowfiles.pyarrow),
    "csv": Format("csv", text.CsvWriter, text.csv_names),
    "json": Format("jsonl", text.JsonWriter, text.json_names),
    "arrow": Format("arrow", arrowfiles.IpcWriter, arrowfiles.ipc_names, arrowfiles.pyarrow),
}


@dataclass(slots=True)
class TableExport:
    """What an export did: files written, files found whole and kept, shorter ones replaced.

    ``rows`` and ``nbytes`` (the files' bytes) are of those written.
    """

    written: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)
    rows: int = 0
    nbytes: int = 0


def export_table(store: BlockStore, folder: str | Path, table: str, *, to: str,
                 columns: Sequence[str] | None = None, start: int | None = None,
                 stop: int | None = None, file_blocks: int = FILE_BLOCKS, threads: int = 1,
                 progress: Progress | None = None) -> TableExport:
    """Write a table of blocks start..stop - 1 into files of ``folder``; open ends are the store's.

    ``to`` is "parquet", "arrow" (both need pyarrow), "csv" or "json"; ``table`` and ``columns``
    as ``store[a:b].batches`` takes them. An export that was cut short is run again: whole files
    are kept. In memory are a batch and, for Parquet, a row group of 64 MiB. KnobError for names
    that there are not, MissingError and NotYetError for a range that the store has not; the rest
    as export_batches.
    """
    if start is None:
        start = store.first or 0
    if stop is None:
        stop = start if store.head is None else max(start, store.head + 1)

    def source(begin: int, end: int) -> Batches:
        return store[begin:end].batches(table, columns, threads=threads)

    store.raw_range(start, stop)    # raises for a range that is not all there; a slice is cut
    return export_batches(source, folder, table, start, stop, to=to, file_blocks=file_blocks,
                          progress=progress)


def export_batches(source: Source, folder: str | Path, table: str, start: int, stop: int, *,
                   to: str, file_blocks: int = FILE_BLOCKS, progress: Progress | None = None
                   ) -> TableExport:
    """Write the table's rows of blocks start..stop - 1 into ``folder``.

    A file that begins where one of these does and ends earlier (the last one of an export while
    the chain was shorter) is removed when the longer one is there. FileExistsError, before
    anything is written, for files of other columns and for files that overlap in any other way.
    """
    form = format_of(to)
    if file_blocks < 1:
        raise KnobError(f"file_blocks is {file_blocks}; it is 1 or more")
    folder = Path(folder)
    fields = source(start, stop).fields
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder, f"{table}-")
    spans = list(cuts(start, stop, file_blocks))
    present = _present(folder, table, form)
    _check(present, spans, form, [one.name for one in fields])
    run = _Run(source, folder, table, form, progress)
    for begin, end in spans:
        run.file(begin, end, fields, present)
    return run.result


def format_of(to: str) -> Format:
    """The format of that name, with what it needs at hand."""
    if to not in FORMATS:
        raise KnobError(f"there is no format {to!r}; there are {', '.join(FORMATS)}")
    FORMATS[to].prepare()
    return FORMATS[to]


def cuts(start: int, stop: int, file_blocks: int) -> Iterator[tuple[int, int]]:
    """start..stop cut at the multiples of ``file_blocks``."""
    while start < stop:
        end = min(stop, (start // file_blocks + 1) * file_blocks)
        yield start, end
        start = end


def _present(folder: Path, table: str, form: Format) -> dict[tuple[int, int], Path]:
    """The files of the table by what they hold: first number, and one past the last."""
    pattern = re.compile(rf"{re.escape(table)}-(\d+)-(\d+)\.{form.extension}")
    matches = ((pattern.fullmatch(path.name), path) for path in folder.iterdir())
    return {(int(match[1]), int(match[2]) + 1): path for match, path in matches if match}


def _check(present: dict[tuple[int, int], Path], spans: Sequence[tuple[int, int]], form: Format,
           names: list[str]) -> None:
    """Refuse to leave a folder that has a row twice, or files of different columns."""
    ends = dict(spans)
    for (begin, end), path in sorted(present.items()):
        if not any(begin < stop and start < end for start, stop in spans):
            continue
        if ends.get(begin, begin) < end:
            raise FileExistsError(f"{path} overlaps the files to be written, which are cut"
                                  " otherwise; export to another folder, or remove it")
        found = form.names(path)
        if found is not None and found != names:
            raise FileExistsError(
                f"{path} has the columns {', '.join(found)}; those asked for are"
                f" {', '.join(names)}; export to another folder, or remove it")


class _Run:
    """One export, file by file."""

    def __init__(self, source: Source, folder: Path, table: str, form: Format,
                 progress: Progress | None) -> None:
        self.result = TableExport()
        self._source = source
        self._folder = folder
        self._table = table
        self._form = form
        self._progress = progress
        self._done = 0

    def file(self, begin: int, end: int, fields: tuple[Field, ...],
             present: dict[tuple[int, int], Path]) -> None:
        """Write the file of blocks begin..end - 1, unless it is there."""
        if (begin, end) in present:
            self.result.kept.append(present[begin, end])
        else:
            self._write(begin, end, fields)
        self._done += end - begin
        self._report(0, 0)
        for (first, stop), path in present.items():
            if first == begin and stop < end:
                path.unlink(missing_ok=True)
                self.result.replaced.append(path)

    def _write(self, begin: int, end: int, fields: tuple[Field, ...]) -> None:
        name = f"{self._table}-{begin:09d}-{end - 1:09d}.{self._form.extension}"
        with temporary(self._folder, name) as (file, written):
            writer = self._form.writer(file, fields)
            try:
                rows = self._fill(writer, file, begin, end)
            except BaseException:
                writer.abandon()
                raise
            nbytes = file.tell()
            publish(file, written, self._folder / name)
        self.result.written.append(self._folder / name)
        self.result.nbytes += nbytes
        self.result.rows += rows

    def _fill(self, writer: Writer, file: BinaryIO, begin: int, end: int) -> int:
        rows = 0
        for columns in self._source(begin, end):
            writer.write(columns)
            rows += len(columns)
            if columns.blocks is not None:
                self._report(columns.blocks.stop - begin, file.tell())
        writer.close()
        return rows

    def _report(self, blocks: int, nbytes: int) -> None:
        if self._progress is not None:
            self._progress(self._done + blocks, self.result.nbytes + nbytes, None)
