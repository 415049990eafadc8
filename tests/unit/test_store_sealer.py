"""Sealing: in the background, behind a bounded backlog, checked before it counts, retried."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from storekit import SMALL, FaultyFileSystem, assert_holds, files_of, fill, sample, sealed_bytes

from blockpack._native.group import pack
from blockpack.errors import CorruptError
from blockpack.store.knobs import Knobs
from blockpack.store.packing import Packer
from blockpack.store.records import RecordStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


class Gate:
    """Holds every seal at its first record until opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def wait(self) -> None:
        self.reached.set()
        assert self.open.wait(30)


def test_seal_threads_leave_no_trace_in_the_files(tmp_path: Path) -> None:
    knobs = SMALL.changed(segment_blocks=64, compression="zstd", seal_dictionary="auto")
    for threads in (1, 3):
        with RecordStore.create(tmp_path / str(threads), knobs, seal_threads=threads) as store:
            fill(store, 0, 150)
            store.seal()
    assert sealed_bytes(tmp_path / "1") == sealed_bytes(tmp_path / "3")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    held = Gate()
    add = Packer.add

    def add_held(self: Packer, records: Any) -> None:
        held.wait()
        add(self, records)

    monkeypatch.setattr(Packer, "add", add_held)
    yield held
    held.open.set()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "did not happen in 20 s"
        time.sleep(0.005)


def sealed_spans(store: RecordStore) -> list[tuple[int, int]]:
    return [(row.first, row.count) for row in store._state.manifest.segments]


def test_full_segments_seal_by_themselves_past_the_lag(path: Path) -> None:
    with RecordStore.create(path, Knobs(segment_blocks=8, seal_lag=5)) as store:
        fill(store, 0, 12)
        time.sleep(0.05)
        assert sealed_spans(store) == []  # head 11 is 4 past 7
        fill(store, 12, 13)
        until(lambda: sealed_spans(store) == [(0, 8)])
        assert not [name for name in files_of(path) if name.startswith("open/000000000")]
        assert_holds(store, _model(13))


def _model(stop: int) -> dict[int, dict[int, bytes]]:
    return {number: sample(number) for number in range(stop)}


def test_close_waits_for_full_segments_or_abandons_them(path: Path, gate: Gate) -> None:
    store = RecordStore.create(path, SMALL)
    fill(store, 0, 20)
    assert gate.reached.wait(10)
    closing = threading.Thread(target=store.close, kwargs={"wait": False})
    closing.start()
    until(lambda: store._writer is not None and store._writer._sealer._stop)
    gate.open.set()
    closing.join(10)
    assert store.closed
    assert not [name for name in files_of(path) if name.startswith("sealed/")]
    with RecordStore.open(path, "a") as again:  # taken up again by the next writer
        assert_holds(again, _model(20))
    with RecordStore.open(path) as reader:
        assert sealed_spans(reader) == [(0, 8), (8, 8)]
        assert_holds(reader, _model(20))


def test_append_goes_on_while_sealing_and_waits_when_the_backlog_is_full(
        path: Path, gate: Gate) -> None:
    with RecordStore.create(path, Knobs(segment_blocks=8, seal_lag=0)) as store:
        fill(store, 0, 24)  # two spans wait and a third one is full
        assert gate.reached.wait(10)
        assert sealed_spans(store) == []
        assert store.counters.backlog_waits == 0
        appending = threading.Thread(target=fill, args=(store, 24, 25))
        appending.start()
        time.sleep(0.1)
        assert appending.is_alive()
        assert store.head == 23
        assert store.record(2, 23) is not None  # reads do not wait
        gate.open.set()
        appending.join(10)
        assert store.head == 24
        assert store.counters.backlog_waits == 1
        assert store.counters.backlog_wait_ns > 50_000_000
    with RecordStore.open(path) as reader:
        assert_holds(reader, _model(25))


def test_seal_takes_what_was_there_and_leaves_what_came_meanwhile(path: Path, gate: Gate) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 5)
        sealing = threading.Thread(target=store.seal)
        sealing.start()
        assert gate.reached.wait(10)
        fill(store, 5, 7)
        gate.open.set()
        sealing.join(10)
        assert sealed_spans(store) == [(0, 5)]
        assert_holds(store, _model(7))
        fill(store, 7, 20)
        until(lambda: sealed_spans(store) == [(0, 5), (5, 3), (8, 8)])
        assert_holds(store, _model(20))
    with RecordStore.open(path, "a") as store:
        assert_holds(store, _model(20))


def test_truncate_calls_off_a_running_seal(path: Path, gate: Gate) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 20)
        assert gate.reached.wait(10)
        cutting = threading.Thread(target=store.truncate, args=(5,))
        cutting.start()
        until(lambda: store._writer is not None and store._writer._sealer._stop)
        gate.open.set()
        cutting.join(10)
        assert store.head == 5
        assert sealed_spans(store) == []
        assert_holds(store, _model(6))
        fill(store, 6, 20)
        assert_holds(store, _model(20))
    assert RecordStore.open(path).verify() == []


def test_what_is_read_back_must_be_what_went_in(
        path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 6)
        with monkeypatch.context() as patch:
            patch.setattr("blockpack.segment.packing.pack", damaged)
            with pytest.raises(CorruptError, match="does not hold what was sealed"):
                store.seal()
        assert sealed_spans(store) == []
        assert not [name for name in files_of(path) if name.startswith("sealed/")]
        assert_holds(store, _model(6))
        store.seal()
        assert_holds(store, _model(6))


def damaged(records: list[bytes | None]) -> bytes:
    return pack([b"other" if record is not None else None for record in records])


def test_a_damaged_log_is_never_sealed(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 6)
        store.sync()
        log = next(path.glob("open/*.log"))
        data = bytearray(log.read_bytes())
        data[300] ^= 1
        log.write_bytes(data)
        with pytest.raises(CorruptError) as failure:
            store.seal()
        assert failure.value.file == str(log)
        assert sealed_spans(store) == []


@pytest.mark.parametrize("kinds", [("create",), ("write_parts",), ("replace",), ("write",)])
def test_a_seal_that_finds_no_room_is_reported_and_retried(
        path: Path, kinds: tuple[str, ...]) -> None:
    fs = FaultyFileSystem(kinds)
    with RecordStore.create(path, Knobs(segment_blocks=8, seal_lag=2), fs=fs) as store:
        fill(store, 0, 9)
        store.sync()
        before = files_of(path)
        fs.failing = range(10**9)
        with pytest.raises(OSError, match="No space") as failure:
            store.seal()
        assert failure.value.errno == errno.ENOSPC
        assert files_of(path) == before
        assert_holds(store, _model(9))
        fs.failing = set()
        store.seal()
        assert sealed_spans(store) == [(0, 8), (8, 1)]
        assert_holds(store, _model(9))


def test_a_background_failure_is_reported_once_by_the_next_call(path: Path) -> None:
    fs = FaultyFileSystem(("write_parts",))
    with RecordStore.create(path, Knobs(segment_blocks=8, seal_lag=0), fs=fs) as store:
        fs.failing = {0}
        fill(store, 0, 8)
        until(lambda: store.info()["sealing"]["error"])
        with pytest.raises(OSError, match="No space"):
            fill(store, 8, 9)
        assert store.head == 7
        fill(store, 8, 9)  # and the seal was tried again
        until(lambda: sealed_spans(store) == [(0, 8)])
        assert_holds(store, _model(9))


def test_close_lets_go_also_when_the_seal_failed(path: Path) -> None:
    fs = FaultyFileSystem(("write_parts",))
    store = RecordStore.create(path, Knobs(segment_blocks=8, seal_lag=0), fs=fs)
    fs.failing = range(10**9)
    fill(store, 0, 8)
    with pytest.raises(OSError, match="No space"):
        store.close()
    assert store.closed
    with RecordStore.open(path, "a") as store:
        assert_holds(store, _model(8))


def test_sealed_bytes_depend_on_records_and_seal_knobs_alone(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(name: str, syncs: int, **knobs: Any) -> dict[str, bytes]:
        folder = tmp_path / name
        store = RecordStore.create(folder, Knobs(segment_blocks=8, block_group_size=4, **knobs))
        for number in range(0, 30):
            if number == 11:
                store.set_chain(9, 11)
            fill(store, number, number + 1)
            if syncs and number % syncs == 0:
                store.sync()
            if syncs == 3:
                store.close(wait=False)
                store = RecordStore.open(folder, "a")
        store.seal()
        store.close()
        return sealed_bytes(folder)

    wanted = build("a", 0, seal_lag=100)
    assert len(wanted) == 4 * 4
    assert build("b", 1, seal_lag=0) == wanted
    assert build("c", 3, seal_lag=3, compression_level="better") == wanted
    monkeypatch.setattr("blockpack.store.logwriter._GATHER_BYTES", 100)
    monkeypatch.setattr("blockpack.store.openlog.STRETCH_BYTES", 500)
    assert build("d", 0, seal_lag=1) == wanted
    assert build("e", 0, seal_lag=1, seal_compression_level=1) != wanted
