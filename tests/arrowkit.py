"""Made-up columns of every kind, and a consumer of Arrow capsules in ctypes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from blockpack.chain.columns.batch import Batches, Columns
from blockpack.chain.columns.column import DTYPES, Column

NUMBERS = {"u8": 0xFF, "u32": 2**32 - 1, "u64": 2**64 - 1, "i64": -2**63, "f64": 0.1}
KINDS = (*DTYPES, "list", "struct")


class Schema(ctypes.Structure):
    """struct ArrowSchema."""


class Array(ctypes.Structure):
    """struct ArrowArray."""


class Stream(ctypes.Structure):
    """struct ArrowArrayStream."""


ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)), ("release", ReleaseSchema),
    ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)), ("release", ReleaseArray),
    ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream),
                                    ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ReleaseStream), ("private_data", ctypes.c_void_p)]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def inside(capsule: object, struct: type[Any]) -> Any:
    """The struct that a capsule holds; it stays the capsule's, which must be kept."""
    name = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}[struct]
    return struct.from_address(_pointer(capsule, name))


def moved(source: Any) -> Any:
    """A consumer's own copy of a struct, the source left as released."""
    copy = type(source)()
    ctypes.memmove(ctypes.byref(copy), ctypes.byref(source), ctypes.sizeof(copy))
    source.release = type(source.release)()
    return copy


def release(struct: Any) -> None:
    struct.release(ctypes.byref(struct))


def pull(stream: Any) -> tuple[int, Any]:
    """The code and the array of one get_next."""
    array = Array()
    return stream.get_next(ctypes.byref(stream), ctypes.byref(array)), array


def last_error(stream: Any) -> str | None:
    text = stream.get_last_error(ctypes.byref(stream))
    return None if text is None else text.decode()


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run it in threads; an error in one is an error here."""
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """A Python process of its own that imports what this one can."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})


def packed(values: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Bytes and offsets of variable values."""
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return np.frombuffer(b"".join(values), np.uint8), offsets


def made(kind: str, rows: int, nulls: bool = False, name: str | None = None
         ) -> tuple[Column, list[Any]]:
    """A column of a kind, and its rows as Python values: None, int, float, bytes, str, ..."""
    name = name or kind
    valid = np.arange(rows) % 3 != 1 if nulls else None
    column, expected = _made(kind, rows, name)
    column = Column(column.name, kind, column.values, column.offsets, valid, column.children)
    if valid is not None:
        expected = [value if ok else None
                    for value, ok in zip(expected, valid.tolist(), strict=True)]
    return column, expected


def _made(kind: str, rows: int, name: str) -> tuple[Column, list[Any]]:
    if kind in NUMBERS or kind == "bool":
        values = np.array([NUMBERS.get(kind, True) if row % 2 == 0 else DTYPES[kind](row % 4 == 3)
                           for row in range(rows)], DTYPES[kind])
        return Column(name, kind, values), values.tolist()
    if kind in {"fixed", "u256"}:
        width = 32 if kind == "u256" else 20
        cells = [bytes([row & 255, *range(1, width)]) for row in range(rows)]
        values = np.frombuffer(b"".join(cells), np.uint8).reshape(rows, width)
        return Column(name, kind, values), cells
    if kind in {"binary", "string"}:
        texts = ["é\U0001f600"[:row % 3] * row for row in range(rows)]
        values, offsets = packed([text.encode() for text in texts])
        return Column(name, kind, values, offsets), \
            [text.encode() if kind == "binary" else text for text in texts]
    if kind == "struct":
        number, numbers = made("u64", rows, True, "number")
        address, addresses = made("fixed", rows, False, "address")
        return Column(name, kind, children=(number, address)), \
            [{"number": a, "address": b} for a, b in zip(numbers, addresses, strict=True)]
    item, items = made("struct", sum(row % 3 for row in range(rows)), True, "item")
    offsets = np.cumsum([0, *(row % 3 for row in range(rows))]).astype(np.int64)
    return Column(name, kind, None, offsets, None, (item,)), \
        [items[a:b] for a, b in pairwise(offsets.tolist())]


def table(rows: int, nulls: bool = False) -> tuple[Columns, dict[str, list[Any]]]:
    """Columns of every kind, and their rows as Python values."""
    pairs = {kind: made(kind, rows, nulls) for kind in KINDS}
    return Columns([column for column, _ in pairs.values()]), \
        {kind: expected for kind, (_, expected) in pairs.items()}


def counted(count: int, alive: list[Any], rows: int = 100) -> Batches:
    """Batches of one column each; ``alive`` gets a weak reference to the values of every one."""
    def compute() -> Iterator[Columns]:
        for at in range(count):
            values = np.full(rows, at, np.uint64)
            alive.append(weakref.ref(values))
            yield Columns([Column("n", "u64", values)])
            del values

    return Batches([Column("n", "u64", np.empty(0, np.uint64)).field], compute)
