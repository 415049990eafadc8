"""The open log: what is added is read back, found again by a scan, and cut where it is torn."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest
from logkit import (
    IDENTITY,
    Poisoned,
    add,
    assert_log,
    follow,
    log_path,
    new_log,
    poison,
    reopen,
)
from storekit import FaultyFileSystem

from blockpack.errors import CorruptError, LimitError, UnsupportedVersionError
from blockpack.segment.codecs import get_codec
from blockpack.store import logformat, logindex, names
from blockpack.store.fs import SYSTEM
from blockpack.store.logformat import FILE_HEADER_SIZE, RECORD_SIZE
from blockpack.store.logscan import open_log, recover
from blockpack.store.logwriter import resume_log
from blockpack.store.openlog import LogFile


@pytest.mark.parametrize("codec", ["s2", "zstd", "snappy"])
def test_records_are_read_back_before_and_after_they_are_written_out(
        tmp_path: Path, codec: str) -> None:
    writer = new_log(tmp_path)
    model = add(writer, 9, codec)
    assert writer.log.pending
    assert_log(writer.log, model)
    writer.flush()
    assert not writer.log.pending
    assert_log(writer.log, model)
    assert dict(writer.log.records(70, 79)) == model
    assert list(writer.log.records(73, 75, (2,))) == [(n, {2: model[n][2]}) for n in (73, 74)]


def test_stretches_are_read_in_pieces(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    rng = random.Random(1)
    model = {n: {1: b"h", 2: rng.randbytes(rng.choice((10, 900_000)))} for n in range(70, 90)}
    model[80][2] = rng.randbytes(5 << 20)  # larger than a piece
    for number, records in model.items():
        writer.add(number, records, get_codec("s2"), "fastest", 1)
    writer.flush()
    assert dict(writer.log.records(70, 90)) == model


def test_records_over_the_limit_are_refused_with_nothing_changed(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockpack.store.logwriter.RECORD_BYTES_MAX", 1000)
    writer = new_log(tmp_path)
    model = add(writer, 3)
    with pytest.raises(LimitError):
        writer.add(73, {1: b"x", 2: bytes(1001)}, get_codec("s2"), "fastest", 1)
    writer.sync()
    assert_log(writer.log, model)
    assert_log(follow(tmp_path), model)


def test_readers_see_commits_only_and_recovery_keeps_whole_numbers(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    model = add(writer, 5)
    writer.sync()
    more = add(writer, 4)
    writer.flush()
    assert_log(follow(tmp_path), model)
    log, end = reopen(tmp_path)
    assert_log(log, model | more)
    assert end == os.path.getsize(log.path)


def test_a_torn_tail_is_cut_at_every_byte(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    model = add(writer, 3, size=6)
    writer.sync()
    durable = os.path.getsize(log_path(tmp_path))
    model |= add(writer, 4, size=6)
    writer.flush()
    whole = log_path(tmp_path).read_bytes()
    ends = [durable] + [writer.log.rows.entry(row + 1, 1)[0] for row in range(3, 6)] + [len(whole)]
    for size in range(durable, len(whole)):
        for rest in (b"", bytes(len(whole) - size)):  # cut, or zeros as after a power loss
            torn = whole[:size] + rest
            log_path(tmp_path).write_bytes(torn)
            log, end = reopen(tmp_path)
            assert end == max(e for e in ends if torn[:e] == whole[:e])
            assert_log(log, {n: model[n] for n in range(70, 73 + ends.index(end))})
            assert follow(tmp_path).rows.count == 3


def test_a_torn_sync_is_no_corruption_but_a_torn_durable_part_is(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    model = add(writer, 3)
    writer.sync()
    first = os.path.getsize(log_path(tmp_path))
    add(writer, 3)
    writer.sync()
    data = log_path(tmp_path).read_bytes()
    mark = len(data) - RECORD_SIZE
    hole = data[:first + 100] + bytes(50) + data[first + 150:]
    log_path(tmp_path).write_bytes(hole[:mark])  # the commit made it to the disk, the data not
    log, end = reopen(tmp_path)
    assert_log(log, model)
    assert end == first
    assert_log(follow(tmp_path), model)
    # With the mark, the fsync had returned. A payload's damage is found when it is read, a
    # header's here.
    log_path(tmp_path).write_bytes(data[:first] + bytes(30) + data[first + 30:])
    for opening in (reopen, follow):
        with pytest.raises(CorruptError, match="damaged after number 72"):
            opening(tmp_path)


def test_an_old_damage_is_found_behind_a_later_commit(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    for _ in range(4):
        add(writer, 2)
        writer.sync()
    data = bytearray(log_path(tmp_path).read_bytes())
    data[FILE_HEADER_SIZE + 2] ^= 1
    log_path(tmp_path).write_bytes(data)
    with pytest.raises(CorruptError, match="damaged after number 69"):
        reopen(tmp_path)
    with pytest.raises(CorruptError, match="damaged after number 69"):
        follow(tmp_path)


def test_every_flipped_bit_of_a_record_is_noticed(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    model = add(writer, 1, size=20)
    writer.flush()
    whole = log_path(tmp_path).read_bytes()
    log = writer.log
    fd = os.open(log.path, os.O_RDWR)
    for at in range(FILE_HEADER_SIZE, len(whole)):
        for bit in (1, 0x80):
            os.pwrite(fd, bytes([whole[at] ^ bit]), at)
            assert len([t for t in model[70] if not reads_well(log, t, model[70][t])]) == 1
            os.pwrite(fd, bytes([whole[at]]), at)
    os.close(fd)


def reads_well(log: LogFile, table: int, wanted: bytes) -> bool:
    try:
        return log.record(table, 70) == wanted
    except CorruptError:
        return False


def test_a_log_of_another_store_or_version_is_refused(tmp_path: Path) -> None:
    new_log(tmp_path)
    path = str(log_path(tmp_path))
    for other in (IDENTITY._replace(store_id="ff" * 16), IDENTITY._replace(first=71),
                  IDENTITY._replace(generation=4)):
        with pytest.raises(CorruptError, match="not this log's"):
            open_log(path, os.open(path, os.O_RDONLY), other)
    data = bytearray(log_path(tmp_path).read_bytes())
    data[8] = 9
    data[56:64] = logformat.U64.pack(logformat.xxh64(bytes(data[:56])))
    log_path(tmp_path).write_bytes(data)
    with pytest.raises(UnsupportedVersionError, match="log format 9"):
        open_log(path, os.open(path, os.O_RDONLY), IDENTITY)


def test_a_failed_write_takes_memory_back_to_the_file(tmp_path: Path) -> None:
    fs = FaultyFileSystem(("pwrite_parts",))
    writer = new_log(tmp_path, fs)
    model = add(writer, 3)
    writer.flush()
    size = os.path.getsize(log_path(tmp_path))
    add(writer, 5)
    fs.failing = {1}
    with pytest.raises(OSError, match="No space left") as failure:
        writer.flush()
    assert failure.value.errno == errno.ENOSPC
    assert writer.next == 73
    assert_log(writer.log, model)
    assert os.path.getsize(log_path(tmp_path)) == size
    model |= add(writer, 4)
    writer.sync()
    assert_log(writer.log, model)
    assert_log(follow(tmp_path), model)


def test_a_mark_that_does_not_fit_is_no_failure(tmp_path: Path) -> None:
    fs = FaultyFileSystem(("pwrite",))
    writer = new_log(tmp_path, fs)
    fs.failing = range(1, 10)
    model = add(writer, 3)
    writer.sync()
    model |= add(writer, 2)
    writer.sync()
    assert_log(follow(tmp_path), model)
    assert_log(reopen(tmp_path)[0], model)


def test_a_failed_fsync_poisons(tmp_path: Path) -> None:
    fs = FaultyFileSystem(("fsync",), errno.EIO)
    writer = new_log(tmp_path, fs)
    add(writer, 3)
    fs.failing = {1}
    with pytest.raises(Poisoned):
        writer.sync()


def test_writing_goes_on_after_recovery(tmp_path: Path) -> None:
    model = {}
    writer = new_log(tmp_path)
    for _ in range(5):
        model |= add(writer, 150, size=8)
        writer.sync()
        add(writer, 1)
        writer.flush()
        with open(log_path(tmp_path), "r+b") as file:
            file.truncate(os.path.getsize(log_path(tmp_path)) - 3)
        path = str(log_path(tmp_path))
        log, checkpoint = open_log(path, os.open(path, os.O_RDWR), IDENTITY)
        end, durable = recover(log, checkpoint.durable)
        writer = resume_log(log, checkpoint, SYSTEM, poison, end=end, durable=durable)
        assert_log(writer.log, model)
    writer.finish()
    assert_log(follow(tmp_path), model)
    sidecar = logindex.load(names.sidecar(path), IDENTITY)
    assert sidecar.rows.count == len(model)


def test_writing_behind_syncs_beside_the_appends_and_poisons_when_it_fails(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockpack.store.logwriter.BEHIND_BYTES", 1000)
    errors: list[BaseException] = []
    fs = FaultyFileSystem(("fsync",), errno.EIO)
    writer = new_log(tmp_path, fs)
    monkeypatch.setattr(writer, "_poison", errors.append)
    add(writer, 5)
    writer.flush()
    assert writer._behind_thread is not None
    writer._behind_thread.join()
    assert (fs.calls, errors) == (2, [])
    fs.failing = {2}
    add(writer, 5)
    writer.flush()
    writer._behind_thread.join()
    assert [error.errno for error in errors if isinstance(error, OSError)] == [errno.EIO]
    for _ in range(2):  # an fsync would succeed now, over the pages that were lost
        with pytest.raises(OSError, match="Input/output error"):
            writer.sync()
    assert fs.calls == 3


@pytest.mark.parametrize(("decoded", "valid"), [(1 << 30, True), ((1 << 30) + 1, False)])
def test_a_header_bounds_the_memory_for_its_record(decoded: int, valid: bool) -> None:
    start = logformat.RECORD.pack(2, logformat.LAST, 1, 1, 10, decoded, 0, 70, 0)
    header = start + logformat.U64.pack(logformat.xxh64(start, 7))
    assert (logformat.unpack_header(header, 0, 7) is not None) == valid
