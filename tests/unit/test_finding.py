"""Finding records by their hash: sealed, open, cut, rolled back, and in files without an index."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import chainmaker
import pytest
from storekit import SMALL, FaultyFileSystem, fill, sample

import blockpack
from blockpack._native.keccak import keccak256
from blockpack.errors import CorruptError
from blockpack.segment.reader import SegmentReader
from blockpack.store.records import RecordStore
from blockpack.store.tables import BODIES, HEADERS


def hash_of(number: int, table: int = HEADERS, salt: int = 0) -> bytes:
    return keccak256(sample(number, salt)[table])


def test_every_number_is_found_sealed_or_open(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        fill(store, 0, 30)
        store.sync()
        with RecordStore.open(tmp_path / "store") as reader:
            for handle in (store, reader, store):
                assert [handle.find(HEADERS, hash_of(n)) for n in range(30)] == list(range(30))
                assert handle.find(HEADERS, bytes(32)) is None


def test_a_reader_refreshes_for_what_it_does_not_know(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        fill(store, 0, 4)
        store.sync()
        with RecordStore.open(tmp_path / "store") as reader:
            fill(store, 4, 6)
            store.sync()
            assert reader.find(HEADERS, hash_of(5)) == 5


def test_tables_without_an_index_are_searched_too(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        fill(store, 0, 20)
        assert [store.find(BODIES, hash_of(n, BODIES)) for n in range(20)] == list(range(20))
        assert store.find(HEADERS, hash_of(3, BODIES)) is None


def test_what_was_cut_is_not_found_and_the_other_fork_is(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        fill(store, 0, 23)
        store.seal()
        assert store.find(HEADERS, hash_of(12)) == 12
        store.truncate(10)
        assert store.find(HEADERS, hash_of(12)) is None
        assert store.find(HEADERS, hash_of(10)) == 10
        fill(store, 11, 14, salt=1)
        assert store.find(HEADERS, hash_of(12)) is None
        assert store.find(HEADERS, hash_of(12, salt=1)) == 12


def test_what_a_failed_write_took_back_is_not_found(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    with RecordStore.create(tmp_path / "store", SMALL, fs=fs) as store:
        fill(store, 0, 3)
        store.sync()
        fill(store, 3, 5)
        assert store.find(HEADERS, hash_of(4)) == 4
        fs.failing = range(10**9)
        with pytest.raises(OSError, match="No space"):
            store.sync()
        fs.failing = set()
        assert store.head == 2
        assert store.find(HEADERS, hash_of(4)) is None
        fill(store, 3, 5, salt=1)
        assert store.find(HEADERS, hash_of(4)) is None
        assert store.find(HEADERS, hash_of(4, salt=1)) == 4
    assert fs.error == errno.ENOSPC


def test_a_damaged_index_is_named_and_hides_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with RecordStore.create(path, SMALL) as store:
        fill(store, 0, 16)
        store.seal()
    victim = min((path / "sealed").glob("headers-*"))
    with RecordStore.open(path) as reader:
        offset = SegmentReader(str(victim), counters=reader.counters).sections()
        assert offset["hashes"] == 8 + 4 * 2 + 8 * 3
    data = bytearray(victim.read_bytes())
    start = data.index(struct_head())
    data[start + 20] ^= 1
    victim.write_bytes(data)
    with RecordStore.open(path) as reader:
        assert reader.record(HEADERS, 3) == sample(3)[HEADERS]
        assert reader.find(HEADERS, hash_of(12)) == 12
        with pytest.raises(CorruptError, match="kind 5"):
            reader.find(HEADERS, hash_of(3))
        assert [fault.offset for fault in reader.verify()] == [start]


def struct_head() -> bytes:
    """How the index of 8 present records of 8 starts."""
    return b"\x08\0\0\0\0\x01\0\0"


def test_searches_beside_the_writer(tmp_path: Path) -> None:
    with RecordStore.create(tmp_path / "store", SMALL) as store:
        faults: list[BaseException] = []
        done = threading.Event()

        def search() -> None:
            try:
                while not done.is_set():
                    head = store.head
                    if head is not None:
                        assert store.find(HEADERS, hash_of(head)) == head
                        assert store.find(HEADERS, hash_of(head // 2)) == head // 2
            except BaseException as error:
                faults.append(error)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(0, 200, 10):
            fill(store, number, number + 10)
        store.seal()
        done.set()
        for thread in threads:
            thread.join()
        assert faults == []


def test_blocks_by_hash(tmp_path: Path) -> None:
    blocks = chainmaker.chain(12)
    with blockpack.create(tmp_path / "store", segment_blocks=4, seal_lag=0) as store:
        for block in blocks:
            store.append(block)
        hashes = [keccak256(chainmaker.header_of(block)) for block in blocks]
        assert [store.find(found) for found in hashes] == list(range(12))
        assert store.find("0x" + hashes[7].hex()) == 7
        assert store.find(memoryview(hashes[0])) == 0
        assert store.find(bytes(32)) is None
        for wrong in (bytes(31), "0x00", "zz"):
            with pytest.raises(ValueError, match=r"32 bytes|0x"):
                store.find(wrong)
