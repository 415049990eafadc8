"""The segment reader: records, views, groups, cache and counters, closing, pread and map."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest
from segments import FIRST, build, contents, open_reader, scan

from blockpack._native.counters import Counters
from blockpack.errors import ClosedError, CorruptError
from blockpack.segment.cache import GroupCache
from blockpack.segment.codecs import CODECS
from blockpack.segment.grouping import Grouping
from blockpack.segment.reader import SegmentReader
from blockpack.segment.writer import Record

RECORDS: list[bytes | None] = [
    None if i % 7 == 3 else bytes([i % 256]) * (i * 131 % 977) for i in range(101)]
MIXED: list[Record] = list(RECORDS)


@pytest.fixture(params=[True, False], ids=["map", "pread"])
def mmap(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def big_records(count: int = 12, size: int = 60_000) -> list[Record]:
    """Records whose groups are large enough to be inflated in part."""
    rnd = random.Random(4)
    return [rnd.randbytes(size // 3) + bytes(size // 3) + rnd.randbytes(size // 3)
            for _ in range(count)]


@pytest.fixture
def big(tmp_path: Path) -> Path:
    path = tmp_path / "big.seg"
    build(path, big_records(), group_size=6)
    return path


@pytest.mark.parametrize("codec", list(CODECS))
@pytest.mark.parametrize("group_size", [1, 4, 64, 128])
def test_every_record_by_every_path(tmp_path: Path, codec: str, group_size: int,
                                    mmap: bool) -> None:
    path = tmp_path / "a.seg"
    summary = build(path, MIXED, codec=codec, group_size=group_size)
    for cache in (None, GroupCache(), GroupCache(0), GroupCache(10 << 20)):
        reader = open_reader(path, cache=cache, mmap=mmap,
                             expect=(summary.file_bytes, summary.seal))
        for _ in range(2):    # the second time from the cache where there is one
            assert contents(reader) == RECORDS
            for i, record in enumerate(RECORDS):
                view = reader.view(FIRST + i)
                assert (view is None) == (record is None)
                assert view is None or (view == record and view.readonly)
        for start, stop in ((0, 101), (0, 0), (101, 101), (5, 6), (3, 4), (60, 70), (63, 101)):
            assert scan(reader, FIRST + start, FIRST + stop) == RECORDS[start:stop]
        assert reader.verify() == []
        reader.close()


def test_description(tmp_path: Path, mmap: bool) -> None:
    path = tmp_path / "a.seg"
    summary = build(path, MIXED, codec="s2", tier="better", group_size=16, first=2**40, table=3,
                    chain_id=2**63 + 1)
    reader = open_reader(path, mmap=mmap)
    assert (reader.table, reader.first, reader.count, reader.frame_count) == (3, 2**40, 101, 7)
    assert (reader.codec, reader.tier, reader.grouping) == ("s2", "better", Grouping(16))
    assert reader.chain_id == 2**63 + 1
    assert reader.digest == summary.digest
    assert (reader.present, reader.decoded_bytes) == (summary.present, summary.decoded_bytes)
    assert (reader.file_bytes, reader.seal) == (path.stat().st_size, summary.seal)
    assert sum(reader.sections().values()) == path.stat().st_size
    assert {"header", "frames", "index", "meta", "directory", "footer"} <= set(reader.sections())


@pytest.mark.parametrize("number", [FIRST - 1, FIRST + 101, 0, -1, 2**64, 2**70])
def test_a_number_outside_is_an_index_error(tmp_path: Path, number: int) -> None:
    build(tmp_path / "a.seg", MIXED)
    reader = open_reader(tmp_path / "a.seg", cache=GroupCache())
    for read in (reader.record, reader.view):
        with pytest.raises(IndexError):
            read(number)


def test_a_range_outside_is_an_index_error_up_front(tmp_path: Path) -> None:
    build(tmp_path / "a.seg", MIXED)
    reader = open_reader(tmp_path / "a.seg")
    for start, stop in ((FIRST - 1, FIRST + 1), (FIRST, FIRST + 102), (FIRST + 5, FIRST + 4)):
        with pytest.raises(IndexError):
            reader.groups(start, stop)


def test_numbers_up_to_the_last(tmp_path: Path) -> None:
    build(tmp_path / "a.seg", [b"a", b"b"], first=2**64 - 2)
    reader = open_reader(tmp_path / "a.seg")
    assert reader.record(2**64 - 1) == b"b"
    assert scan(reader, 2**64 - 2, 2**64) == [b"a", b"b"]
    assert reader.verify() == []


@pytest.mark.parametrize("codec", list(CODECS))
def test_first_touch_in_part_second_touch_whole_and_kept(tmp_path: Path, codec: str) -> None:
    records = big_records()
    build(tmp_path / "a.seg", records, group_size=6, codec=codec)
    counters = Counters()
    reader = open_reader(tmp_path / "a.seg", cache=GroupCache(), counters=counters)
    assert reader.record(FIRST) == records[0]
    assert (counters.frames_inflated, counters.frames_partial) == (1, 1)
    assert counters.bytes_out < 70_000
    assert reader.record(FIRST + 1) == records[1]
    assert (counters.frames_inflated, counters.frames_partial) == (2, 1)
    assert reader.record(FIRST + 2) == records[2]
    assert (counters.frames_inflated, counters.cache_hits, counters.cache_misses) == (2, 1, 2)
    # Another group pushes the first one out only once it is kept itself.
    assert reader.view(FIRST + 7) == records[7]
    assert reader.record(FIRST + 5) == records[5]
    assert (counters.frames_inflated, counters.cache_hits) == (3, 2)


def test_counters_count_bytes(tmp_path: Path) -> None:
    summary = build(tmp_path / "a.seg", MIXED, group_size=10)
    counters = Counters()
    reader = open_reader(tmp_path / "a.seg", counters=counters)
    scan(reader, FIRST, FIRST + 101)
    assert counters.frames_inflated == summary.frames
    assert counters.frames_partial == 0
    assert counters.bytes_in == reader.sections()["frames"]
    assert counters.bytes_out > summary.decoded_bytes
    tables = sum(group.table_size for _, group, _, _ in reader.groups(FIRST, FIRST + 101))
    assert counters.bytes_out == 2 * (summary.decoded_bytes + tables)
    assert counters.inflate_ns > 0
    assert (counters.cache_hits, counters.cache_misses) == (0, 0)


def test_a_range_inflates_each_frame_once_and_caches_none(big: Path) -> None:
    counters = Counters()
    cache = GroupCache(100 << 20)
    reader = open_reader(big, counters=counters, cache=cache)
    assert scan(reader, FIRST + 2, FIRST + 8) == big_records()[2:8]
    assert (counters.frames_inflated, counters.frames_partial) == (2, 1)
    assert counters.bytes_out < 6 * 60_000 + 3 * 60_000
    assert len(cache) == 0


def test_a_range_is_lazy(big: Path) -> None:
    counters = Counters()
    reader = open_reader(big, counters=counters)
    groups = reader.groups(FIRST, FIRST + 12)
    assert counters.frames_inflated == 0
    next(groups)
    assert counters.frames_inflated == 1


def test_views_outlive_the_reader(tmp_path: Path, mmap: bool) -> None:
    build(tmp_path / "a.seg", MIXED)
    reader = open_reader(tmp_path / "a.seg", cache=GroupCache(), mmap=mmap)
    view = reader.view(FIRST + 1)
    reader.close()
    del reader
    assert view == RECORDS[1]


def test_a_closed_reader_says_so(tmp_path: Path, mmap: bool) -> None:
    build(tmp_path / "a.seg", MIXED)
    cache = GroupCache(10 << 20)
    reader = open_reader(tmp_path / "a.seg", cache=cache, mmap=mmap)
    contents(reader)
    groups = reader.groups(FIRST, FIRST + 101)
    next(groups)
    reader.close()
    reader.close()
    assert len(cache) == 0
    for call in (lambda: reader.record(FIRST), lambda: reader.view(FIRST), reader.sections,
                 reader.verify, lambda: next(groups)):
        with pytest.raises(ClosedError, match=r"a\.seg"):
            call()


def test_closing_lets_go_of_the_descriptor(tmp_path: Path, mmap: bool) -> None:
    build(tmp_path / "a.seg", MIXED)
    before = len(os.listdir("/dev/fd"))
    reader = open_reader(tmp_path / "a.seg", mmap=mmap)
    assert len(os.listdir("/dev/fd")) > before
    reader.close()
    assert len(os.listdir("/dev/fd")) == before
    (tmp_path / "bad.seg").write_bytes(b"x" * 1000)
    with pytest.raises(CorruptError):
        open_reader(tmp_path / "bad.seg", mmap=mmap)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("group_size", [1, 6])
def test_many_threads_and_a_close_in_their_midst(tmp_path: Path, mmap: bool,
                                                 group_size: int) -> None:
    records = big_records(24, 30_000)
    build(tmp_path / "a.seg", records, group_size=group_size)
    notes: list[object] = []
    for _ in range(3):
        reader = open_reader(tmp_path / "a.seg", cache=GroupCache(300_000), mmap=mmap)
        ready = threading.Barrier(5)
        threads = [threading.Thread(target=hammer, args=(reader, records, ready, notes))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        ready.wait()
        time.sleep(0.1)
        reader.close()
        for thread in threads:
            thread.join()
    assert notes == ["closed"] * 12


def hammer(reader: SegmentReader, records: list[Record], ready: threading.Barrier,
           notes: list[object]) -> None:
    """Read at random until the reader is closed; note that, and whatever is not right."""
    rnd = random.Random(threading.get_ident())
    ready.wait()
    try:
        while True:
            i = rnd.randrange(len(records))
            if reader.record(FIRST + i) != records[i] or reader.view(FIRST + i) != records[i]:
                notes.append(i)
            for first, group, lo, hi in reader.groups(FIRST + i, min(FIRST + i + 9, FIRST + 24)):
                if group.view(lo) != records[first + lo - FIRST] or hi <= lo:
                    notes.append((first, lo))
    except ClosedError:
        notes.append("closed")
    except BaseException as error:
        notes.append(error)


def test_a_file_that_is_not_the_manifest_s(tmp_path: Path) -> None:
    first = build(tmp_path / "a.seg", MIXED)
    build(tmp_path / "b.seg", [*MIXED[:-1], b"other"])
    with pytest.raises(CorruptError, match="not the file that the manifest names"):
        open_reader(tmp_path / "b.seg", expect=(first.file_bytes, first.seal))


def test_a_missing_file_is_a_missing_file(tmp_path: Path, mmap: bool) -> None:
    with pytest.raises(FileNotFoundError):
        open_reader(tmp_path / "a.seg", mmap=mmap)


def test_verify_reports_progress(tmp_path: Path) -> None:
    build(tmp_path / "a.seg", MIXED)
    reader = open_reader(tmp_path / "a.seg")
    steps: list[int] = []
    assert reader.verify(steps.append) == []
    assert len(steps) == reader.frame_count
    assert sum(steps) == reader.sections()["frames"]


def test_a_symbolic_link_is_followed(tmp_path: Path, mmap: bool) -> None:
    build(tmp_path / "a.seg", MIXED)
    (tmp_path / "link.seg").symlink_to(tmp_path / "a.seg")
    assert contents(open_reader(tmp_path / "link.seg", mmap=mmap)) == RECORDS
