"""The sidecar: used as far as it is valid, rebuilt from the log otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from logkit import IDENTITY, add, assert_log, follow, new_log, reopen
from storekit import FaultyFileSystem, Records

from blockpack.store import logindex, names
from blockpack.store.logindex import ROW_SIZE, Rows


@pytest.fixture
def model(tmp_path: Path) -> dict[int, Records]:
    writer = new_log(tmp_path)
    model = {}
    for _ in range(3):
        model |= add(writer, 130, size=4)
        writer.sync()
    writer.finish()
    return model


def sidecar_path(folder: Path) -> Path:
    return Path(names.sidecar(names.log(str(folder), IDENTITY.first, IDENTITY.generation)))


def test_a_checkpoint_comes_every_128_numbers_and_at_the_end(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    for count in (100, 27):
        add(writer, count, size=4)
        writer.sync()
    assert not sidecar_path(tmp_path).exists()
    add(writer, 1)
    writer.sync()
    assert logindex.load(str(sidecar_path(tmp_path)), IDENTITY).rows.count == 128
    add(writer, 1)
    writer.sync()
    writer.finish()
    assert logindex.load(str(sidecar_path(tmp_path)), IDENTITY).rows.count == 129


def test_only_what_is_durable_is_in_it(tmp_path: Path) -> None:
    writer = new_log(tmp_path)
    add(writer, 130, size=4)
    writer.sync()
    add(writer, 200, size=4)
    writer.flush()
    writer.finish()
    found = logindex.load(str(sidecar_path(tmp_path)), IDENTITY)
    assert found.rows.count == 130
    assert found.durable <= os.path.getsize(writer.log.path)


def test_missing_empty_cut_or_flipped_it_never_matters(
        tmp_path: Path, model: dict[int, Records]) -> None:
    path = sidecar_path(tmp_path)
    data = path.read_bytes()
    assert len(data) == 64 + 3 * 40 + 390 * ROW_SIZE
    damaged = [b"", data[:10], data[:64], data[:-1], data[:9000], bytes(len(data)), data + b"xyz"]
    for at in (0, 9, 20, 30, 60, 64, 70, 80, 90, 100, 104, 5000, 9000, len(data) - 1):
        damaged.append(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:])
    for wrong in damaged:
        path.write_bytes(wrong)
        assert_log(follow(tmp_path), model)
        assert_log(reopen(tmp_path)[0], model)
    path.unlink()
    assert_log(follow(tmp_path), model)


def test_the_sidecar_of_another_log_is_not_used(
        tmp_path: Path, model: dict[int, Records]) -> None:
    path = str(sidecar_path(tmp_path))
    for other in (IDENTITY._replace(generation=8), IDENTITY._replace(store_id="00" * 16)):
        assert logindex.load(path, other).rows.count == 0
    assert logindex.load(path, IDENTITY).rows.count == len(model)


def test_a_checkpoint_that_fails_is_made_up_for_later(tmp_path: Path) -> None:
    fs = FaultyFileSystem(("pwrite",))
    writer = new_log(tmp_path, fs)
    fs.failing = {2, 3, 4, 6}  # after the file header and the mark: the sidecar's
    for _ in range(6):
        add(writer, 130, size=4)
        writer.sync()
    found = logindex.load(str(sidecar_path(tmp_path)), IDENTITY)
    assert found.rows.count == 780
    assert bytes(found.rows.data) == bytes(writer.log.rows.data)


def test_rows() -> None:
    rows = Rows()
    for row in range(4):
        rows.data += logindex.ROW.pack(*range(row * 100, row * 100 + 12))
        rows.count += 1
    assert rows.entry(2, 3) == (206, 207, 208)
    assert rows.array(1, 3)["stored"].tolist() == [[101, 104, 107, 110], [201, 204, 207, 210]]
    assert rows.decoded_bytes(0, 1).tolist() == [2 + 5 + 8 + 11]
    rows.cut(1)
    assert (rows.count, len(rows.data)) == (1, ROW_SIZE)
