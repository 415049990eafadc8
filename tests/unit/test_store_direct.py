"""Direct import: the same sealed bytes as through the log, whole segments or nothing."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from storekit import SMALL, FaultyFileSystem, assert_holds, files_of, fill, sample, sealed_bytes

from blockpack.errors import ClosedError, SequenceError
from blockpack.store.direct import DirectWriter
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def through_the_log(folder: Path, first: int, stop: int, knobs: Knobs = SMALL) -> dict[str, bytes]:
    with RecordStore.create(folder, knobs) as store:
        for number in range(first, stop):
            if number == 13:
                store.set_chain(4, 13)
            store.append(number, sample(number))
        store.seal()
    return sealed_bytes(folder)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("knobs", [
    SMALL, Knobs(compression="zstd", segment_blocks=16, seal_compression_level="best"),
    Knobs(segment_blocks=1000, segment_bytes=4000, block_group_size=1),
])
def test_same_bytes_as_through_the_log(
        path: Path, tmp_path: Path, threads: int, knobs: Knobs) -> None:
    with RecordStore.create(path, knobs) as store:
        with store.direct_writer(threads) as direct:
            for number in range(5, 45):
                if number == 13:  # the chain is learnt in the middle of a segment
                    store.set_chain(4, 13)
                direct.append(number, sample(number))
        assert_holds(store, {n: sample(n) for n in range(5, 45)})
        assert store.verify() == []
    assert sealed_bytes(path) == through_the_log(tmp_path / "log", 5, 45, knobs)
    assert not [name for name in files_of(path) if name.startswith("open/") or "tmp" in name]


def test_only_at_a_border_and_alone(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 12)
        assert not store.at_border
        with pytest.raises(SequenceError, match=r"the open segment 8\.\.11 is not full"):
            store.direct_writer()
        fill(store, 12, 16)
        assert store.at_border
        with store.direct_writer(2) as direct:
            assert direct.next == 16
            for call in (store.seal, lambda: store.truncate(3), store.direct_writer,
                         lambda: store.append(16, sample(16))):
                with pytest.raises(ClosedError, match="a direct writer is at work"):
                    call()
            store.sync()
            for wrong in (15, 17):
                with pytest.raises(SequenceError) as refused:
                    direct.append(wrong, sample(wrong))
                assert (refused.value.have, refused.value.want) == (wrong, 16)
            for number in range(16, 30):
                direct.append(number, sample(number))
            with pytest.raises(ValueError, match="must be of the tables"):
                direct.append(30, {})
        with pytest.raises(ClosedError, match="has ended"):
            direct.append(30, sample(30))
        fill(store, 30, 35)
        assert_holds(store, {n: sample(n) for n in range(35)})


def append_all(direct: DirectWriter, numbers: list[int]) -> None:
    for number in numbers:
        direct.append(number, sample(number))


def test_an_exception_drops_what_is_not_published(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        with pytest.raises(SequenceError), store.direct_writer(2) as direct:
            append_all(direct, [*range(21), 99])
        assert store.head in (7, None, 15)
        stopped = -1 if store.head is None else store.head
        assert not [name for name in files_of(path) if "tmp" in name]
        with store.direct_writer(2) as direct:
            assert direct.next in (None, stopped + 1)
            for number in range(stopped + 1, 40):
                direct.append(number, sample(number))
        assert_holds(store, {n: sample(n) for n in range(40)})


def test_an_error_ends_the_writer(path: Path) -> None:
    """Going on after it would leave out the numbers of the segment that failed."""
    fs = FaultyFileSystem(("replace",))
    with RecordStore.create(path, SMALL, fs=fs) as store:
        fs.calls, fs.failing = 0, {0}
        with store.direct_writer(2) as direct:
            with pytest.raises(OSError, match="No space"):
                append_all(direct, [*range(40)])
            with pytest.raises(ClosedError, match="has ended"):
                append_all(direct, [direct.next or 0])
        assert store.head is None
        assert not [name for name in files_of(path) if name.startswith("sealed")]
        fill(store, 0, 9)
        assert_holds(store, {n: sample(n) for n in range(9)})


@pytest.mark.parametrize("kinds", [("create",), ("write_parts",), ("replace",), ("write",)])
def test_a_full_disk_at_every_call(path: Path, kinds: tuple[str, ...]) -> None:
    fs = FaultyFileSystem(kinds)
    with RecordStore.create(path, SMALL, fs=fs) as store:
        failures = 0
        while (store.head or 0) < 39:
            fs.calls, fs.failing = 0, {failures}
            try:
                with store.direct_writer(2) as direct:
                    for number in range(direct.next or 0, 40):
                        direct.append(number, sample(number))
            except OSError as error:
                failures += error.errno == errno.ENOSPC
            assert store.head in (None, 7, 15, 23, 31, 39)
            assert not [name for name in files_of(path) if "tmp" in name]
        assert failures >= 3
        assert_holds(store, {n: sample(n) for n in range(40)})
        assert store.verify() == []
        named = {str(Path(p).relative_to(path)) for p in store._state.manifest.paths(str(path))}
        assert {name for name in files_of(path) if name.startswith("sealed")} == named
