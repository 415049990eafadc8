"""Helpers for tests of the open log on its own: one log, written, followed, recovered."""

from __future__ import annotations

import os
from pathlib import Path

from storekit import Records, sample

from blockpack.segment.codecs import get_codec
from blockpack.store import names
from blockpack.store.fs import SYSTEM, FileSystem
from blockpack.store.logformat import LogIdentity
from blockpack.store.logscan import open_log, read_committed, recover
from blockpack.store.logwriter import LogWriter, create_log
from blockpack.store.openlog import LogFile
from blockpack.store.tables import IDS

IDENTITY = LogIdentity("0123456789abcdef" * 2, 70, 3)


class Poisoned(AssertionError):
    pass


def poison(error: BaseException) -> None:
    raise Poisoned from error


def new_log(folder: Path, fs: FileSystem = SYSTEM) -> LogWriter:
    (folder / "open").mkdir(exist_ok=True)
    return create_log(str(folder), IDENTITY, fs, poison)


def add(writer: LogWriter, count: int, codec: str = "s2", **options: int) -> dict[int, Records]:
    model = {}
    for number in range(writer.next, writer.next + count):
        model[number] = sample(number, **options)
        writer.add(number, model[number], get_codec(codec), "fastest", 1)
    return model


def reopen(folder: Path) -> tuple[LogFile, int]:
    """Open the log as the writer's recovery does; the offset after the last whole number."""
    path = names.log(str(folder), IDENTITY.first, IDENTITY.generation)
    log, checkpoint = open_log(path, os.open(path, os.O_RDWR), IDENTITY)
    end, _ = recover(log, checkpoint.durable)
    return log, end


def follow(folder: Path) -> LogFile:
    """Open the log as a reader does."""
    path = names.log(str(folder), IDENTITY.first, IDENTITY.generation)
    log, checkpoint = open_log(path, os.open(path, os.O_RDONLY), IDENTITY)
    read_committed(log, checkpoint.durable, first_look=True)
    return log


def log_path(folder: Path) -> Path:
    return Path(names.log(str(folder), IDENTITY.first, IDENTITY.generation))


def assert_log(log: LogFile, model: dict[int, Records]) -> None:
    assert log.rows.count == len(model)
    for number, records in model.items():
        assert {t: log.record(t, number) for t in IDS} == {t: records.get(t) for t in IDS}
