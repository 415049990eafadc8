"""Parquet and Arrow IPC files, by pyarrow."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from blockpack.chain.columns.batch import Batches, Columns
from blockpack.chain.columns.column import Field

# A row group is closed at this many bytes of columns: what is held in memory besides a batch.
ROW_GROUP_BYTES = 64 << 20
COMPRESSION = "zstd"


def pyarrow() -> Any:
    """The package, with all of it that is used here."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError("Parquet and Arrow files need pyarrow: pip install blockpack[arrow]"
                          ) from error


class _Sink(io.RawIOBase):
    """The file, until it is let go; pyarrow's writers write a footer even when they are dropped."""

    def __init__(self, file: BinaryIO) -> None:
        self._file: BinaryIO | None = file

    def let_go(self) -> None:
        """Write nothing from now on."""
        self._file = None

    def writable(self) -> bool:
        """For pyarrow, which asks."""
        return True

    def write(self, data: Any) -> int:
        """Write all of it."""
        return len(data) if self._file is None else self._file.write(data)

    def tell(self) -> int:
        """Where the file is."""
        return 0 if self._file is None else self._file.tell()


class _Writer:
    """What both have in common; ``close`` writes the footer, without which no reader takes it."""

    def __init__(self, file: BinaryIO, fields: tuple[Field, ...]) -> None:
        self._arrow = pyarrow()
        self._schema = self._arrow.schema(Batches(fields, lambda: iter(())))
        self._sink = _Sink(file)
        self._inner = self._open()

    def _open(self) -> Any:
        raise NotImplementedError

    def abandon(self) -> None:
        """Write nothing more: the file is given up."""
        self._sink.let_go()

    def close(self) -> None:
        """Write what is pending, and the footer."""
        self._inner.close()


class ParquetWriter(_Writer):
    """Row groups of whole batches."""

    def __init__(self, file: BinaryIO, fields: tuple[Field, ...]) -> None:
        super().__init__(file, fields)
        self._pending: list[Any] = []
        self._nbytes = 0

    def _open(self) -> Any:
        return self._arrow.parquet.ParquetWriter(self._sink, self._schema,
                                                 compression=COMPRESSION)

    def write(self, columns: Columns) -> None:
        """Append the rows."""
        self._pending.append(self._arrow.record_batch(columns))
        self._nbytes += columns.nbytes
        if self._nbytes >= ROW_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        table = self._arrow.Table.from_batches(self._pending, self._schema)
        self._inner.write_table(table, row_group_size=max(1, table.num_rows))
        self._pending, self._nbytes = [], 0

    def close(self) -> None:
        """Write what is pending, and the footer."""
        if self._pending:
            self._flush()
        super().close()


class IpcWriter(_Writer):
    """Record batches as they come."""

    def _open(self) -> Any:
        ipc = self._arrow.ipc
        return ipc.new_file(self._sink, self._schema,
                            options=ipc.IpcWriteOptions(compression=COMPRESSION))

    def write(self, columns: Columns) -> None:
        """Append the rows."""
        self._inner.write_batch(self._arrow.record_batch(columns))


def parquet_names(path: Path) -> list[str] | None:
    """The columns that a Parquet file has."""
    return list(pyarrow().parquet.read_schema(path).names)


def ipc_names(path: Path) -> list[str] | None:
    """The columns that an Arrow file has."""
    with pyarrow().memory_map(str(path)) as source:
        return list(pyarrow().ipc.open_file(source).schema.names)
