"""RecordStore: append, sync, seal, truncate, and reading by every way, in one process."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from storekit import SMALL, assert_holds, covered, files_of, fill, ranged, sample

from blockpack.errors import (
    ChainMismatchError,
    ClosedError,
    CorruptError,
    KnobError,
    LockedError,
    MissingError,
    NotYetError,
    SequenceError,
)
from blockpack.segment.digest import Digest
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore
from blockpack.store.tables import IDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_an_empty_store(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        assert (store.first, store.head, store.chain_id) == (None, None, None)
        assert store.at_border
        with pytest.raises(NotYetError, match="the head is empty"):
            store.record(1, 0)
        store.sync()
        store.seal()
        store.truncate(5)
        assert store.info()["blocks"] == 0
        assert store.verify() == []
        assert store.coverage(1) == []
    with RecordStore.open(path) as reader:
        assert reader.head is None


def test_records_come_back_from_open_and_sealed_parts(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 5, 40)
        assert_holds(store, model)
        store.sync()
        assert_holds(store, model)
        store.seal()
        assert_holds(store, model)
        model |= fill(store, 40, 45)
        assert_holds(store, model)
        assert store.verify() == []
        for table in IDS:
            assert store.coverage(table) == covered(model, table)
    with RecordStore.open(path) as reader:
        assert_holds(reader, model)
        assert reader.verify() == []


@pytest.mark.parametrize("codec", ["s2", "zstd", "snappy"])
@pytest.mark.parametrize("mmap", [True, False])
def test_codecs_and_pread(path: Path, codec: str, mmap: bool) -> None:
    knobs = Knobs(compression=codec, segment_blocks=8, seal_lag=0, block_group_size=3)
    with RecordStore.create(path, knobs, mmap=mmap) as store:
        model = fill(store, 0, 30)
        store.sync()
        with RecordStore.open(path, mmap=mmap) as reader:
            assert_holds(reader, model)
        store.seal()
        assert_holds(store, model)


def test_numbers_must_follow(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 7, 10)
        for wrong in (6, 9, 11):
            with pytest.raises(SequenceError) as failure:
                store.append(wrong, sample(wrong))
            assert (failure.value.have, failure.value.want) == (wrong, 10)
        assert store.head == 9
        with pytest.raises(ValueError, match="must be of the tables"):
            store.append(10, {})
        with pytest.raises(ValueError, match="must be of the tables"):
            store.append(10, {5: b""})
        with pytest.raises(TypeError):
            store.append(10, {1: b"good", 2: 7})  # type: ignore[dict-item]
        assert_holds(store, fill(store, 10, 12) | {n: sample(n) for n in range(7, 10)})


def test_a_fixed_first_number(path: Path) -> None:
    with RecordStore.create(path, SMALL, first=100) as store:
        assert (store.first, store.head) == (100, None)
        with pytest.raises(SequenceError) as failure:
            store.append(0, sample(0))
        assert (failure.value.have, failure.value.want) == (0, 100)
        assert_holds(store, fill(store, 100, 103))


def test_the_largest_numbers(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 2**64 - 12, 2**64 - 1)
        with pytest.raises(SequenceError):
            store.append(2**64 - 1, sample(1))
        store.seal()
        assert_holds(store, model)
    with RecordStore.open(path) as reader:
        assert_holds(reader, model)


def test_numbers_outside_and_ranges(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 5, 30)
        for wrong in (30, 2**70):
            with pytest.raises(NotYetError, match="the head is at 29"):
                store.record(1, wrong)
        with pytest.raises(MissingError, match="before the first number, 5"):
            store.view(1, 4)
        with pytest.raises(NotYetError):
            store.groups(1, 20, 31)  # at the call, not at the first next()
        with pytest.raises(MissingError):
            store.groups(1, 4, 10)
        assert list(store.groups(1, 9, 9)) == []
        store.seal()
        for start in range(5, 30):
            for stop in range(start, 31):
                assert ranged(store, 2, start, stop) == [model[n][2] for n in range(start, stop)]


def test_a_range_inflates_each_frame_once(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 32)
        store.seal()
        store.counters.reset()
        ranged(store, 2, 0, 32)
        assert store.counters.frames_inflated == 32 // 4


def test_digest_and_info_do_not_depend_on_layout(path: Path, tmp_path: Path) -> None:
    wanted = {table: Digest() for table in IDS}
    # No seal beside the test: its files would come and go while their sizes are added up.
    with RecordStore.create(path, replace(SMALL, seal_lag=1000)) as store:
        for number, records in fill(store, 3, 30).items():
            for table, record in records.items():
                wanted[table].add(number, record)
        for _ in range(2):
            assert {table: store.digest(table) for table in IDS} == wanted
            store.sync()
            info = store.info()
            sizes = {name: (path / name).stat().st_size for name in files_of(path)}
            assert info["total_bytes"] == sum(sizes.values())
            assert info["total_bytes"] == sum(
                info[part] for part in ("sealed_bytes", "open_bytes", "other_bytes"))
            store.seal()
        store.truncate(20)
        for number in range(21, 30):
            for table, record in sample(number).items():
                wanted[table].remove(number, record)
        assert {table: store.digest(table) for table in IDS} == wanted


@pytest.mark.parametrize("last", [4, 5, 9, 15, 16, 20, 23, 24, 28, 29])
@pytest.mark.parametrize("sealed", [True, False])
def test_truncate_anywhere_and_append_again(path: Path, last: int, sealed: bool) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 5, 30)
        store.seal() if sealed else store.sync()
        store.truncate(last)
        model = {n: records for n, records in model.items() if n <= last}
        assert_holds(store, model)
        with RecordStore.open(path) as reader:
            assert_holds(reader, model)
        model |= fill(store, last + 1, 40, salt=9)
        assert_holds(store, model)
        assert store.verify() == []
    with RecordStore.open(path, "a") as store:
        assert_holds(store, model)
        assert store.coverage(3) == covered(model)
        store.seal()
        assert_holds(store, model)
    with RecordStore.open(path) as reader:
        assert_holds(reader, model)


def test_truncate_removes_files_and_refuses_what_it_cannot(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 8, 40)
        store.seal()
        with pytest.raises(ValueError, match="starts at 8"):
            store.truncate(6)
        store.truncate(20)
        left = {name.split("-")[1] for name in files_of(path) if name.startswith("sealed/bodies")}
        assert left == {"000000008", "000000016"}


def test_chain_ids(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 10)
        store.set_chain(5, 10)
        store.set_chain(5, 12)
        fill(store, 10, 20)
        with pytest.raises(ChainMismatchError) as failure:
            store.set_chain(6, 20)
        assert (failure.value.have, failure.value.got) == (5, 6)
        store.seal()
        rows = store._state.manifest.segments
        found = [store._state.reader(row, 1).chain_id for row in rows]  # type: ignore[union-attr]
        assert found == [0, 5, 5]
        store.truncate(10)
        assert store.chain_id == 5
        store.truncate(9)
        assert store.chain_id is None
    with RecordStore.create(path.with_name("given"), SMALL, chain_id=7) as store:
        fill(store, 0, 3)
        store.truncate(-1)
        assert store.chain_id == 7


def test_modes_knobs_and_locks(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RecordStore.open(path)
    with pytest.raises(FileNotFoundError):
        RecordStore.open(path, "a")
    store = RecordStore.create(path, SMALL)
    with pytest.raises(FileExistsError):
        RecordStore.create(path)
    with pytest.raises(LockedError):
        RecordStore.open(path, "a")
    with pytest.raises(ValueError, match="mode is 'w'"):
        RecordStore.open(path, "w")
    with pytest.raises(KnobError, match="opened for reading"):
        RecordStore.open(path, segment_blocks=9)
    with pytest.raises(KnobError, match="the store has 4, asked for 64"):
        RecordStore.open(path, block_group_size=64)
    reader = RecordStore.open(path, block_group_size=4)
    with pytest.raises(ClosedError, match="opened for reading"):
        reader.append(0, sample(0))
    store.close()
    with pytest.raises(KnobError):
        RecordStore.open(path, "a", block_group_size=64)
    with pytest.raises(KnobError):
        RecordStore.open(path, "a", compression="zstd", seal_compression_level="worst")
    with RecordStore.open(path, "a", compression="zstd", seal_lag=7) as again:
        assert (again.knobs.compression, again.knobs.seal_lag) == ("zstd", 7)
    assert RecordStore.open(path).knobs.compression == "zstd"


def test_changed_knobs_hold_for_new_segments(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 0, 20)
        store.seal()
        model |= fill(store, 20, 30)
    with RecordStore.open(path, "a", segment_blocks=4, compression="snappy", seal_lag=0) as store:
        model |= fill(store, 30, 34)
    with RecordStore.open(path, "a", segment_blocks=16, compression="zstd") as store:
        model |= fill(store, 34, 50)
        store.seal()
        assert_holds(store, model)
        spans = [(row.first, row.count) for row in store._state.manifest.segments]
        assert spans == [(0, 8), (8, 8), (16, 4), (20, 4), (24, 4), (28, 4), (32, 16), (48, 2)]
        codecs = [s["files"][0]["codec"] for s in store.info()["segments"]]
        assert codecs == ["s2"] * 4 + ["snappy"] * 2 + ["zstd"] * 2


def test_segments_close_early_at_segment_bytes(path: Path) -> None:
    knobs = Knobs(segment_blocks=100, segment_bytes=3000, seal_lag=0)
    with RecordStore.create(path, knobs) as store:
        model = fill(store, 0, 40, size=500)
        sizes = {n: sum(map(len, records.values())) for n, records in model.items()}
    with RecordStore.open(path) as store:
        for row in store._state.manifest.segments:
            total = sum(sizes[n] for n in range(row.first, row.first + row.count))
            assert total >= 3000 > total - sizes[row.first + row.count - 1]
        assert len(store._state.manifest.segments) == sum(sizes.values()) // 3400
        assert_holds(store, model)


def test_after_close_everything_says_so(path: Path) -> None:
    store = RecordStore.create(path, SMALL)
    fill(store, 0, 20)
    view = store.view(2, 3)
    assert view is not None
    store.close()
    store.close()
    assert store.closed
    assert view == sample(3)[2]  # what was handed out stays valid
    for call in (lambda: store.record(1, 0), lambda: store.head, store.sync, store.seal,
                 lambda: store.append(20, sample(20)), lambda: store.groups(1, 0, 2),
                 store.info, store.refresh, lambda: store.truncate(3)):
        with pytest.raises(ClosedError, match="the store is closed"):
            call()


def test_a_reader_follows_and_looks_again_past_its_head(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store, RecordStore.open(path) as reader:
        assert not reader.refresh()
        model = fill(store, 0, 3)
        with pytest.raises(NotYetError):
            reader.record(1, 0)  # not synced
        store.sync()
        assert reader.record(1, 2) == model[2][1]  # without a refresh of ours
        model |= fill(store, 3, 30)
        store.sync()
        assert reader.refresh()
        assert not reader.refresh()
        assert_holds(reader, model)
        store.seal()
        assert_holds(reader, model)  # its logs are gone, its descriptors are not
        assert reader.refresh()
        store.truncate(10)
        model = {n: r for n, r in model.items() if n <= 10} | fill(store, 11, 20, salt=4)
        store.sync()
        assert reader.refresh()
        assert_holds(reader, model)


def test_a_reader_with_old_names_finds_the_new_ones(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store, RecordStore.open(path) as reader:
        model = fill(store, 0, 32)
        store.seal()
        reader.refresh()
        store.truncate(7)
        model = {n: r for n, r in model.items() if n < 8} | fill(store, 8, 32)
        store.seal()
        assert_holds(reader, model)  # never opened, and removed: retried with a new manifest


def test_a_missing_segment_is_named_and_hides_no_other(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 32)
        store.seal()
    victim = next(path.glob("sealed/bodies-000000008*"))
    victim.unlink()
    with RecordStore.open(path) as reader:
        assert reader.record(2, 0) == sample(0)[2]
        assert reader.record(1, 9) == sample(9)[1]
        with pytest.raises(CorruptError, match="missing") as failure:
            reader.record(2, 9)
        assert failure.value.file == str(victim)
        with pytest.raises(CorruptError, match="missing"):
            ranged(reader, 2, 0, 32)
        assert [error.file for error in reader.verify()] == [str(victim)]
        faults = [f for s in reader.info()["segments"] for f in s["files"] if "fault" in f]
        assert len(faults) == 1


def test_verify_reports_every_fault(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 32)
        store.seal()
        fill(store, 32, 36)
    for pattern, at in (("sealed/bodies-000000008*", 100), ("sealed/headers-000000016*", 70),
                        ("open/*.log", 120)):
        file = next(path.glob(pattern))
        data = bytearray(file.read_bytes())
        data[at] ^= 1
        file.write_bytes(data)
    done: list[tuple[int, int]] = []
    with RecordStore.open(path) as reader:
        faults = reader.verify(lambda *at: done.append(at))
        assert [Path(str(fault.file)).name[:4] for fault in faults] == ["bodi", "head", "0000"]
        assert done[-1][0] <= done[-1][1]
        assert done == sorted(done)


def test_few_files_stay_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockpack.store.state.READERS_MAX", 5)
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 0, 100)
        store.seal()
        views = {n: store.view(2, n) for n in range(0, 100, 3)}
        assert_holds(store, model)
        assert len(store._pool.ready) <= 5
        assert all(view == model[n][2] for n, view in views.items())


def test_threads_read_while_one_appends_seals_and_cuts(path: Path) -> None:
    stop = threading.Event()
    faults: list[BaseException] = []

    def read(store: RecordStore, seed: int) -> None:
        number = seed
        try:
            while not stop.is_set():
                number = (number * 31 + 7) % 60
                for table in IDS:
                    try:
                        assert store.record(table, number) == sample(number).get(table)
                    except NotYetError:
                        break
        except BaseException as error:
            faults.append(error)

    with RecordStore.create(path, SMALL) as store:
        threads = [threading.Thread(target=read, args=(store, n)) for n in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            fill(store, store.head + 1 if store.head is not None else 0, 60)
            store.seal()
            store.truncate(13)
        stop.set()
        for thread in threads:
            thread.join()
    assert faults == []


def test_writers_in_threads_take_turns(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        taken: list[int] = []

        def write() -> None:
            for number in range(300):
                try:
                    store.append(number, sample(number))
                    taken.append(number)
                except SequenceError:
                    continue

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while store.head != 299:
            number = (store.head if store.head is not None else -1) + 1
            store.append(number, sample(number))
            taken.append(number)
        assert sorted(taken) == list(range(300))
        assert_holds(store, {n: sample(n) for n in range(300)})


@pytest.mark.parametrize("given", [{"first": -1}, {"first": 2**64 - 1}, {"first": "7"},
                                   {"chain_id": -4}, {"chain_id": 2**63}])
def test_a_first_number_or_chain_id_that_no_file_could_hold_is_refused(
        path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(KnobError, match="takes a whole number"):
        RecordStore.create(path, SMALL, **given)
    assert not path.exists()


def test_a_missing_log_is_damage_to_a_writer_as_to_a_reader(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 5)
    next(path.glob("open/*.log")).unlink()
    for mode in "ra":
        with pytest.raises(CorruptError, match="missing"):
            RecordStore.open(path, mode)


def test_a_missing_segment_is_damage_to_its_digest(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 20)
    next(path.glob("sealed/bodies*")).unlink()
    with RecordStore.open(path) as reader, pytest.raises(CorruptError, match="missing"):
        reader.digest(2)


def test_what_reads_a_whole_store_follows_a_truncation(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 32)
        store.seal()
        readers = [RecordStore.open(path) for _ in range(3)]
        store.truncate(9)
        assert readers[0].verify() == []
        assert readers[1].digest(2) == store.digest(2)
        assert readers[2].coverage(3) == store.coverage(3)
        for reader in readers:
            reader.close()
