"""What the store's tests share: sample records, a file system that fails on demand, checks."""

from __future__ import annotations

import errno
import os
import random
import threading
from pathlib import Path
from typing import Any

from blockpack.store.fs import FileSystem
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore
from blockpack.store.tables import IDS, RECEIPTS

SMALL = Knobs(segment_blocks=8, block_group_size=4, seal_lag=2)
Records = dict[int, bytes]


def sample(number: int, salt: int = 0, size: int = 400) -> Records:
    """Records of one number: headers and bodies always, receipts for most, difficulty for few."""
    rng = random.Random(number * 1_000_003 + salt)
    records = {1: b"head%d" % number + rng.randbytes(30), 2: rng.randbytes(size // 2) * 2}
    if number % 5:
        records[3] = b"receipts of %d" % number
    if number % 7 == 0:
        records[4] = number.to_bytes(32, "little")
    return records


def fill(store: RecordStore, first: int, stop: int, **options: Any) -> dict[int, Records]:
    """Append samples first..stop; returns them."""
    model = {number: sample(number, **options) for number in range(first, stop)}
    for number, records in model.items():
        store.append(number, records)
    return model


def assert_holds(store: RecordStore, model: dict[int, Records]) -> None:
    """The store holds exactly the model, by every way of reading."""
    if not model:
        assert store.head is None
        return
    first, head = min(model), max(model)
    assert (store.first, store.head) == (first, head)
    for table in IDS:
        wanted = [model[number].get(table) for number in range(first, head + 1)]
        assert [store.record(table, n) for n in range(first, head + 1)] == wanted
        views = [store.view(table, n) for n in range(first, head + 1)]
        assert [None if view is None else bytes(view) for view in views] == wanted
        assert ranged(store, table, first, head + 1) == wanted


def ranged(store: RecordStore, table: int, start: int, stop: int) -> list[bytes | None]:
    """The records of a range, by groups."""
    found = []
    at = start
    for first, group, low, high in store.groups(table, start, stop):
        assert first + low == at
        found += [group.record(i) for i in range(low, high)]
        at = first + high
    assert at == stop
    return found


def files_of(store: str | Path) -> set[str]:
    """Relative paths of all files in a store's folder."""
    return {str(path.relative_to(store)) for path in Path(store).rglob("*") if path.is_file()}


def sealed_bytes(store: str | Path) -> dict[str, bytes]:
    """Contents of the sealed files by table and numbers: names without their generation."""
    return {path.name.split(".g")[0]: path.read_bytes()
            for path in (Path(store) / "sealed").iterdir()}


def covered(model: dict[int, Records], table: int = RECEIPTS) -> list[tuple[int, int]]:
    """Intervals of the numbers that have a record in the table."""
    found: list[tuple[int, int]] = []
    for number in sorted(n for n, records in model.items() if table in records):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


class FaultyFileSystem(FileSystem):
    """Fails the calls whose ordinal (from 0, among ``kinds``) is in ``failing``.

    A failing write puts half of its bytes into the file first, as a full disk does. Syncs that do
    not fail do nothing: no test here cuts the power, and they are most of the time.
    """

    WRITES = ("write", "pwrite", "write_parts", "pwrite_parts")
    SPACE = (*WRITES, "create", "replace", "link", "mkdir", "open_lock")  # what ENOSPC can hit
    SYNCS = ("fsync", "fsync_dir")

    def __init__(self, kinds: tuple[str, ...] = SPACE, error: int = errno.ENOSPC) -> None:
        self.kinds = kinds
        self.error = error
        self.failing: range | set[int] = set()
        self.calls = 0
        self.log: list[str] = []
        self._inside = threading.local()  # a call that makes another counts as one

    def _count(self, kind: str) -> bool:
        if kind not in self.kinds or getattr(self._inside, "call", False):
            return False
        self.calls += 1
        self.log.append(kind)
        return self.calls - 1 in self.failing

    def _fail(self, path: str | None = None) -> None:
        raise OSError(self.error, os.strerror(self.error), path)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name not in FaultyFileSystem.SPACE + FaultyFileSystem.SYNCS:
            return value

        def call(*args: Any) -> Any:
            if self._count(name):
                self._half(name, args)
                self._fail()
            if name in FaultyFileSystem.SYNCS:
                return None
            inside = getattr(self._inside, "call", False)
            self._inside.call = True
            try:
                return value(*args)
            finally:
                self._inside.call = inside

        return call

    def _half(self, name: str, args: tuple[Any, ...]) -> None:
        if name not in self.WRITES:
            return
        data = b"".join(args[1]) if name.endswith("_parts") else bytes(args[1])
        half = data[:len(data) // 2]
        if name.startswith("pwrite"):
            os.pwrite(args[0], half, args[2])
        else:
            os.write(args[0], half)
