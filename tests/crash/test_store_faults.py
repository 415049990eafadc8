"""A store whose every write, rename and fsync fails in turn, or is the last one ever made."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from storekit import FaultyFileSystem, Records, assert_holds, files_of, sample

from blockpack.errors import ClosedError
from blockpack.store import logwriter
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore

KNOBS = Knobs(segment_blocks=8, block_group_size=4, seal_lag=1)
CHANGES = (*FaultyFileSystem.SPACE, *FaultyFileSystem.SYNCS, "unlink", "truncate")


@pytest.fixture(autouse=True)
def small_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write every few blocks, as 1 MB would be with real ones."""
    monkeypatch.setattr(logwriter, "_GATHER_BYTES", 1500)


class Scenario:
    """Append, sync, seal, truncate, append again, repack; steps may be repeated after a failure."""

    def __init__(self, path: Path, fs: FaultyFileSystem) -> None:
        self.path = path
        self.model: dict[int, Records] = {}
        self.acknowledged: dict[int, Records] = {}
        self.store = RecordStore.create(path, KNOBS, fs=fs)

    def steps(self) -> Iterator[Any]:
        yield lambda: self.append(11, 0)
        yield lambda: self.sync(11, 0)
        yield lambda: self.append(15, 0)
        yield lambda: self.seal(15, 0)
        yield lambda: self.append(18, 0)
        yield lambda: self.truncate(12)
        yield lambda: self.append(21, 1)
        yield lambda: self.seal(21, 1)
        yield lambda: self.append(23, 1)
        yield lambda: self.sync(23, 1)
        yield lambda: self.repack(23, 1)

    def append(self, stop: int, salt: int) -> None:
        """Append up to ``stop`` from wherever the head is, as an importer does."""
        start = 0 if self.store.head is None else self.store.head + 1
        for number in range(start, stop):
            # Before a call that may fail half way, both outcomes are in the model.
            self.model[number] = sample(number, salt, 60)
            self.store.append(number, self.model[number])

    def sync(self, stop: int, salt: int) -> None:
        self.append(stop, salt)  # what a failed try took back
        self.store.sync()
        self.acknowledge()

    def seal(self, stop: int, salt: int) -> None:
        self.append(stop, salt)
        self.store.seal()
        self.acknowledge()

    def repack(self, stop: int, salt: int) -> None:
        self.append(stop, salt)
        self.store.repack(block_group_size=2, seal_compression_level="best")

    def truncate(self, last: int) -> None:
        self.acknowledged = {n: r for n, r in self.acknowledged.items() if n <= last}
        self.store.truncate(last)
        self.model = {n: r for n, r in self.model.items() if n <= last}

    def acknowledge(self) -> None:
        head = self.store.head
        self.acknowledged = {n: r for n, r in self.model.items() if head is not None and n <= head}

    def held(self) -> dict[int, Records]:
        """The model as far as the store's head says."""
        head = self.store.head
        return {n: r for n, r in self.model.items() if head is not None and n <= head}


def calls_of_a_whole_run(folder: Path, kinds: tuple[str, ...]) -> int:
    fs = FaultyFileSystem(kinds)
    scenario = Scenario(folder / "count", fs)
    fs.calls = 0
    for step in scenario.steps():
        step()
    scenario.store.close()
    return fs.calls


def test_a_full_disk_at_every_write(tmp_path: Path) -> None:
    total = calls_of_a_whole_run(tmp_path, FaultyFileSystem.SPACE)
    failures = 0
    for at in range(total):
        fs = FaultyFileSystem()
        path = tmp_path / str(at)
        scenario = Scenario(path, fs)
        fs.calls, fs.failing = 0, {at}
        failures += run_with_retries(scenario)
        scenario.store.close()
        with RecordStore.open(path) as reader:
            assert_holds(reader, scenario.model)
            assert max(scenario.model) == 22
            named = {str(Path(p).relative_to(path))
                     for p in reader._state.manifest.paths(str(path))}
        assert {name for name in files_of(path) if "/" in name} <= named
        assert not [name for name in files_of(path) if name.endswith(".tmp")]
        shutil.rmtree(path)
    # The others hit what a store can do without: sidecars, marks.
    assert failures > total * 2 // 3


def test_a_creation_that_failed_anywhere_is_tried_again_in_the_same_folder(tmp_path: Path) -> None:
    whole = FaultyFileSystem(CHANGES)
    RecordStore.create(tmp_path / "whole", KNOBS, fs=whole).close()
    before_commit = whole.log.index("replace")
    assert whole.log[:before_commit].count("mkdir") == 3
    for at in range(before_commit + 1):
        fs = FaultyFileSystem(CHANGES)
        fs.failing = range(at, 10**9)  # nothing works any more, removing things included
        path = tmp_path / str(at)
        with pytest.raises(OSError, match="No space"):
            RecordStore.create(path, KNOBS, fs=fs)
        with RecordStore.create(path, KNOBS) as store:
            store.append(0, sample(0))
        assert not [name for name in files_of(path) if name.endswith(".tmp")]


@pytest.mark.parametrize("left", ["note", "open/000000000.g0001.log", "sealed/any"])
def test_a_folder_with_a_file_in_it_does_not_become_a_store(tmp_path: Path, left: str) -> None:
    (tmp_path / left).parent.mkdir(exist_ok=True)
    (tmp_path / left).write_bytes(b"x")
    with pytest.raises(FileExistsError, match="not empty"):
        RecordStore.create(tmp_path, KNOBS)
    assert files_of(tmp_path) == {left}


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    total = calls_of_a_whole_run(tmp_path, FaultyFileSystem.WRITES)
    told = []
    for at in range(0, total, 5):
        fs = FaultyFileSystem(FaultyFileSystem.WRITES)
        scenario = Scenario(tmp_path / str(at), fs)
        fs.calls, fs.failing = 0, {at}
        for step in scenario.steps():
            try:
                step()
            except OSError as error:
                told.append(Path(str(error.filename)).suffix)
                step()
        scenario.store.close()
    assert set(told) == {".log", ".tmp"}  # logs, and segments and manifests while they are written


def run_with_retries(scenario: Scenario) -> int:
    failures = 0
    for step in scenario.steps():
        while True:
            try:
                step()
                break
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                failures += 1
                assert_holds(scenario.store, scenario.held())  # memory is what the disk has
    return failures


def test_a_disk_that_stays_full(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    scenario = Scenario(tmp_path / "store", fs)
    scenario.sync(21, 0)
    fs.failing = range(10**9)
    for _ in range(3):
        with pytest.raises(OSError, match="No space"):
            scenario.append(60, 0)
        with pytest.raises(OSError, match="No space"):
            scenario.seal(60, 0)
        assert_holds(scenario.store, scenario.held())
        assert scenario.store.head is not None
        assert scenario.store.head >= 20
    fs.failing = set()
    with contextlib.suppress(OSError):
        # Waits for the sealer, which may still be at a call that failed: reported here, if so.
        scenario.store.seal()
    scenario.append(60, 0)
    scenario.store.close()
    with RecordStore.open(tmp_path / "store") as reader:
        assert_holds(reader, {n: sample(n, 0, 60) for n in range(60)})


def test_a_failed_fsync_stops_the_writer_or_changes_nothing(tmp_path: Path) -> None:
    total = calls_of_a_whole_run(tmp_path, FaultyFileSystem.SYNCS)
    poisoned = 0
    for at in range(total):
        fs = FaultyFileSystem(FaultyFileSystem.SYNCS, errno.EIO)
        path = tmp_path / str(at)
        scenario = Scenario(path, fs)
        fs.calls, fs.failing = 0, {at}
        poisoned += run_until_stopped(scenario)
        with RecordStore.open(path, "a") as store:
            for number, records in scenario.acknowledged.items():
                assert store.record(2, number) == records[2]
            head = store.head
            assert_holds(store, {n: r for n, r in scenario.model.items()
                                 if head is not None and n <= head})
        shutil.rmtree(path)
    assert poisoned > 5


def run_until_stopped(scenario: Scenario) -> bool:
    """Run with retries; True when the writer stopped for good, and then it really did."""
    for step in scenario.steps():
        for _ in range(3):
            try:
                step()
                break
            except ClosedError:
                with pytest.raises(ClosedError, match="failed fsync"):
                    scenario.store.sync()
                with pytest.raises(ClosedError, match="failed fsync"):
                    scenario.store.close()
                assert scenario.store.closed
                return True
            except OSError:
                continue
    scenario.store.close()
    return False


class LastCallFileSystem(FaultyFileSystem):
    """From the n-th change on nothing happens any more: the moment of a kill -9."""

    def _count(self, kind: str) -> bool:
        if kind not in self.kinds or getattr(self._inside, "call", False):
            return False
        self.calls += 1
        return bool(self.failing) and self.calls > min(self.failing)

    def _half(self, name: str, args: tuple[Any, ...]) -> None:
        if self.calls == min(self.failing) + 1:
            super()._half(name, args)  # the last write is torn


def test_killed_at_every_change(tmp_path: Path) -> None:
    total = calls_of_a_whole_run(tmp_path, CHANGES)
    assert total > 100
    for at in range(total):
        path = tmp_path / str(at)
        fs = LastCallFileSystem(CHANGES, errno.EIO)
        scenario = Scenario(path, fs)
        fs.calls, fs.failing = 0, {at}
        before: dict[int, Records] = {}
        try:
            for step in scenario.steps():
                before = dict(scenario.model)
                step()
        except (OSError, ClosedError):
            pass
        fs.failing = {min(at, fs.calls)}  # a run with fewer changes is killed now
        with contextlib.suppress(OSError, ClosedError):  # changes nothing, but ends the sealer
            scenario.store.close()
        check_after_a_kill(path, scenario, before)
        shutil.rmtree(path)


def check_after_a_kill(path: Path, scenario: Scenario, before: dict[int, Records]) -> None:
    """A reader, then a writer: acknowledged blocks are there, the rest is old or new, whole."""
    allowed = [before, scenario.model]
    with RecordStore.open(path) as reader:
        check_one_of(reader, allowed, scenario.acknowledged)
    with RecordStore.open(path, "a", fs=FaultyFileSystem(())) as store:
        check_one_of(store, allowed, scenario.acknowledged)
        head = -1 if store.head is None else store.head
        store.append(head + 1, sample(head + 1, 5, 60))
        store.seal()
        assert store.verify() == []
        named = {str(Path(p).relative_to(path)) for p in store._state.manifest.paths(str(path))}
        assert {name for name in files_of(path) if "/" in name} <= named


def check_one_of(store: RecordStore, allowed: list[dict[int, Records]],
                 acknowledged: dict[int, Records]) -> None:
    head = -1 if store.head is None else store.head
    assert head >= max(acknowledged, default=-1)
    for number in range(head + 1):
        found = store.record(2, number)
        assert found in [model[number][2] for model in allowed if number in model]
        if number in acknowledged:
            assert found == acknowledged[number][2]
