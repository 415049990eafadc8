"""Repacking sealed segments: the same records, other knobs, whatever goes on beside it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from storekit import SMALL, assert_holds, fill, sealed_bytes

from blockpack.errors import ClosedError, CorruptError, KnobError
from blockpack.store.records import RecordStore

CHANGES = [
    {"block_group_size": 1},
    {"block_group_size": 8},
    {"seal_compression_level": "best"},
    {"compression": "zstd", "seal_compression_level": 3, "compression_level": 1},
    {"compression": "snappy"},
    {"seal_dictionary": "auto", "block_group_size": 8},
]


def digests(store: RecordStore) -> list[bytes]:
    return [bytes(store.digest(table)) for table in (1, 2, 3, 4)]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_gives_the_bytes_of_a_new_store_with_these_knobs(
        tmp_path: Path, change: dict[str, int | str]) -> None:
    knobs = SMALL.changed(("block_group_size",), **change)
    with RecordStore.create(tmp_path / "new", knobs) as new:
        fill(new, 0, 30)
        new.seal()
    with RecordStore.create(tmp_path / "old", SMALL) as store:
        model = fill(store, 0, 30)
        store.seal()
        before = digests(store)
        done = store.repack(**change)
        assert (done.repacked, done.kept, done.faults) == (4, 0, [])
        assert_holds(store, model)
        assert digests(store) == before
        assert store.verify() == []
        assert store.repack(**change)[:4] == (0, 4, 0, 0)
    assert sealed_bytes(tmp_path / "old") == sealed_bytes(tmp_path / "new")
    with RecordStore.open(tmp_path / "old") as reader:
        assert_holds(reader, model)
        assert reader.knobs == knobs


def test_the_knobs_count_for_what_comes_after(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        fill(store, 0, 8)
        store.seal()
        store.repack(block_group_size=2)
        fill(store, 8, 16)
        store.seal()
        sizes = [file["group_size"] for segment in store.info()["segments"]
                 for file in segment["files"]]
    assert set(sizes) == {2}


def test_links_stay_locked(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        with pytest.raises(KnobError, match="links is locked"):
            store.repack(links="none")
        with pytest.raises(KnobError, match="repack` changes it"):
            store.knobs.changed(block_group_size=9)


def test_an_empty_store_takes_the_knobs(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        assert store.repack(block_group_size=2)[:2] == (0, 0)
        assert store.knobs.block_group_size == 2


def test_a_cut_segment_loses_what_it_hides(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        model = fill(store, 0, 16)
        store.seal()
        store.truncate(11)
        assert store.info()["segments"][-1]["hidden"] == 4
        assert store.repack()[:2] == (1, 1)
        assert store.info()["segments"][-1]["hidden"] == 0
        assert_holds(store, {n: r for n, r in model.items() if n <= 11})


def test_a_damaged_segment_is_left_alone_and_named(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 0, 24)
        store.seal()
        damaged = path / store.info()["segments"][1]["files"][1]["file"]
        data = bytearray(damaged.read_bytes())
        data[200] ^= 1
        damaged.write_bytes(data)
        done = store.repack(block_group_size=2)
        assert (done.repacked, done.kept) == (2, 0)
        assert [Path(fault.file) for fault in done.faults] == [damaged]
        assert damaged.read_bytes() == data
        for number in (*range(8), *range(16, 24)):
            assert store.record(2, number) == model[number][2]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 16)
        store.seal()
        missing = path / store.info()["segments"][0]["files"][0]["file"]
        missing.unlink()
        done = store.repack(block_group_size=2)
        assert (done.repacked, [type(fault) for fault in done.faults]) == (1, [CorruptError])
        assert str(missing) in str(done.faults[0])


def test_readers_and_the_writer_go_on(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with RecordStore.create(path, SMALL) as store, RecordStore.open(path) as reader:
        model = fill(store, 0, 64)
        store.seal()
        reader.refresh()
        stop = threading.Event()
        faults: list[BaseException] = []

        def read() -> None:
            while not stop.is_set():
                try:
                    for handle in (store, reader):
                        for number in range(64):
                            assert handle.record(2, number) == model[number][2]
                except BaseException as error:
                    faults.append(error)
                    return

        thread = threading.Thread(target=read)
        thread.start()
        try:
            for size in (1, 2, 3, 8):
                store.repack(threads=2, block_group_size=size)
                model |= fill(store, len(model), len(model) + 8)
            store.repack()
        finally:
            stop.set()
            thread.join()
        assert faults == []
        store.seal()
        assert_holds(store, model)
    names = {str(file.relative_to(path)) for file in (path / "sealed").iterdir()}
    with RecordStore.open(path) as reader:
        assert names == {f["file"] for s in reader.info()["segments"] for f in s["files"]}


def test_truncating_meanwhile_wins(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        model = fill(store, 0, 32)
        store.seal()
        cut = False

        def progress(done: int, total: int) -> None:
            nonlocal cut
            if done > 0 and not cut:
                cut = True
                store.truncate(9)

        done = store.repack(progress=progress, block_group_size=2)
        assert done.faults == []
        assert_holds(store, {n: r for n, r in model.items() if n <= 9})
        assert {f["group_size"] for s in store.info()["segments"] for f in s["files"]} == {2}


def test_truncating_the_segment_in_hand_wins(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        model = fill(store, 0, 16)
        store.seal()
        calls = 0

        def progress(done: int, total: int) -> None:
            nonlocal calls
            calls += 1
            if calls == 1:
                store.truncate(5)

        assert store.repack(progress=progress, block_group_size=2).repacked == 1
        assert_holds(store, {n: r for n, r in model.items() if n <= 5})


def test_closing_meanwhile_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = RecordStore.create(path, SMALL)
    model = fill(store, 0, 32)
    store.seal()
    closer = threading.Thread(target=store.close)

    def progress(done: int, total: int) -> None:
        if done and not closer.is_alive():
            closer.start()
            while not store._writing.closing:
                pass

    with pytest.raises(ClosedError, match="repack again"):
        store.repack(progress=progress, block_group_size=2)
    closer.join()
    with RecordStore.open(path, "a") as again:
        assert_holds(again, model)
        assert again.repack().faults == []
        assert_holds(again, model)


def test_one_at_a_time(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        fill(store, 0, 8)
        store.seal()
        with store.direct_writer(1), pytest.raises(ClosedError, match="must end first"):
            store.repack(block_group_size=2)
        refused = []

        def progress(done: int, total: int) -> None:
            if not refused:
                with pytest.raises(ClosedError, match="must end first"):
                    store.repack()
                refused.append(True)

        store.repack(progress=progress, block_group_size=2)
        assert refused
