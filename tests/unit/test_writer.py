"""The segment writer: where groups close, equal bytes, the file's parts, and failures."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from segments import FIRST, Parts, build, contents, open_reader

from blockpack._native.group import pack
from blockpack.errors import ClosedError, KnobError, LimitError
from blockpack.segment import layout
from blockpack.segment.codecs import LEVELS, get_codec
from blockpack.segment.digest import Digest
from blockpack.segment.grouping import Grouping
from blockpack.segment.writer import Record, SegmentWriter
from blockpack.store.fs import FileSystem

PAIRS = [(codec, tier) for codec, tiers in LEVELS.items() for tier in tiers]
RECORDS: list[Record] = [b"one", None, b"", b"x" * 1000, b"five", b"six" * 50, None]


def test_summary_and_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.seg"
    summary = build(path, RECORDS, group_size=3)
    data = path.read_bytes()
    digest = Digest()
    digest.add_all(FIRST, RECORDS)
    assert (summary.path, summary.table, summary.first) == (str(path), 2, FIRST)
    assert (summary.count, summary.present, summary.frames) == (7, 5, 3)
    assert summary.file_bytes == len(data)
    assert summary.decoded_bytes == 3 + 1000 + 4 + 150
    assert summary.digest == digest
    assert summary.seal.to_bytes(8, "little") == data[-8:]
    parts = Parts(data)
    assert parts.join() == data
    assert [section[0] for section in parts.sections] == [layout.KIND_FRAMES, layout.KIND_META]
    groups = [RECORDS[0:3], RECORDS[3:6], RECORDS[6:7]]
    for i, group in enumerate(groups):
        content = pack(group)
        assert get_codec("zstd").decompress(parts.frame(i), len(content)) == content


@pytest.mark.parametrize(("codec", "tier"), PAIRS)
def test_the_same_bytes_with_and_without_threads(tmp_path: Path, codec: str, tier: str) -> None:
    records: list[Record] = [bytes([i]) * (i * 37 % 901) for i in range(50)]
    build(tmp_path / "alone.seg", records, codec=codec, tier=tier)
    with ThreadPoolExecutor(3) as pool:
        build(tmp_path / "pool.seg", records, codec=codec, tier=tier, executor=pool)
    assert (tmp_path / "alone.seg").read_bytes() == (tmp_path / "pool.seg").read_bytes()


def test_any_buffer_gives_the_same_bytes(tmp_path: Path) -> None:
    build(tmp_path / "a.seg", [b"abc", b"def"])
    build(tmp_path / "b.seg", [bytearray(b"abc"), memoryview(b"-def-")[1:-1]])
    assert (tmp_path / "a.seg").read_bytes() == (tmp_path / "b.seg").read_bytes()


@pytest.mark.parametrize("changed", [
    {"table": 3}, {"first": FIRST + 1}, {"chain_id": 2}, {"tier": "best"}, {"codec": "s2"},
    {"group_size": 5},
])
def test_identity_depends_on_every_field_of_the_header(tmp_path: Path,
                                                       changed: dict[str, Any]) -> None:
    build(tmp_path / "a.seg", [b"abc"])
    build(tmp_path / "b.seg", [b"abc"], **changed)
    first, second = ((tmp_path / name).read_bytes() for name in ("a.seg", "b.seg"))
    assert first[56:64] != second[56:64]


def frame_records(path: Path) -> list[int]:
    parts = Parts(path.read_bytes())
    if layout.KIND_FIRSTS not in [section[0] for section in parts.sections]:
        count = open_reader(path).count
        return [min(64, count - first) for first in range(0, count, 64)]
    firsts = [first for first, in layout.INDEX_FIRST.iter_unpack(
        parts.section(layout.KIND_FIRSTS)[3])]
    return [following - first for first, following in itertools.pairwise(firsts)]


def test_a_group_closes_before_it_would_exceed_32_mib(tmp_path: Path) -> None:
    mib = 1 << 20
    path = tmp_path / "a.seg"
    # Content is counted with a table of 5 bytes a record and 5 for its base: 15 + sizes.
    exact = bytes(16 * mib - 15)
    cases: list[tuple[list[Record], list[int]]] = [
        ([bytes(16 * mib), exact], [2]),
        ([bytes(16 * mib), exact + b"x"], [1, 1]),
        ([b"a", bytes(40 * mib), b"b", b"c"], [1, 1, 2]),
        ([bytes(40 * mib), None, b""], [1, 2]),
        ([bytes(10 * mib)] * 7, [3, 3, 1]),
    ]
    for records, expected in cases:
        build(path, records, group_size=64)
        assert frame_records(path) == expected
        reader = open_reader(path)
        assert [None if r is None else len(r) for r in contents(reader)] == [
            None if r is None else len(r) for r in records]
        assert reader.verify() == []


def test_a_record_above_the_limit_is_refused_and_the_writer_goes_on(tmp_path: Path) -> None:
    writer = new_writer(tmp_path, FileSystem())
    writer.add(b"a")

    class Huge(bytes):
        def __len__(self) -> int:
            return layout.RECORD_BYTES_MAX + 1

    with pytest.raises(LimitError, match="record 1001 has 1073741825 bytes"):
        writer.add(Huge())
    writer.add(b"b")
    assert writer.finish().count == 2


def new_writer(folder: Path, fs: FileSystem, executor: Executor | None = None) -> SegmentWriter:
    return SegmentWriter(str(folder / "a.seg"), table=2, first=FIRST, codec="zstd",
                         tier="fastest", grouping=Grouping(2), chain_id=1, fs=fs, executor=executor)


def test_knobs_are_checked_before_a_file_exists(tmp_path: Path) -> None:
    good: dict[str, Any] = {"table": 2, "first": 0, "codec": "zstd", "tier": "fastest",
                            "grouping": Grouping(1), "chain_id": 1, "fs": FileSystem()}
    for wrong in ({"codec": "lz4"}, {"tier": "quick"}, {"codec": "s2", "tier": "default"}):
        with pytest.raises(KnobError):
            SegmentWriter(str(tmp_path / "a.seg"), **{**good, **wrong})
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.seg").write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        new_writer(tmp_path, FileSystem())
    assert (tmp_path / "a.seg").read_bytes() == b"precious"


def test_use_after_the_end_is_refused(tmp_path: Path) -> None:
    writer = new_writer(tmp_path, FileSystem())
    with pytest.raises(ClosedError, match="no records"):
        writer.finish()
    writer.add(b"a")
    writer.finish()
    for call in (writer.finish, lambda: writer.add(b"b")):
        with pytest.raises(ClosedError):
            call()
    writer.abort()    # after finish: the file stays
    assert (tmp_path / "a.seg").exists()


def test_abort_removes_the_file(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        writer = new_writer(tmp_path, FileSystem(), pool)
        for i in range(9):
            writer.add(bytes(i))
        writer.abort()
        writer.abort()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ClosedError):
        writer.add(b"x")


class Failing(FileSystem):
    """Fails in the n-th call that writes or syncs, once; remembers what is open."""

    def __init__(self, call: int) -> None:
        self.left = call
        self.open: set[int] = set()

    def count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(errno.ENOSPC, "no space left on device")

    def create(self, path: str) -> int:
        fd = super().create(path)
        self.open.add(fd)
        return fd

    def write_parts(self, fd: int, parts: Sequence[Any]) -> None:
        self.count()
        super().write_parts(fd, parts)

    def fsync(self, fd: int) -> None:
        self.count()
        super().fsync(fd)

    def close(self, fd: int) -> None:
        self.open.discard(fd)
        super().close(fd)


def fill(writer: SegmentWriter, records: Sequence[Record]) -> OSError | None:
    """Add all and finish; the error of the disk, if there was one."""
    try:
        for record in records:
            writer.add(record)
        writer.finish()
    except OSError as error:
        return error
    return None


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path: Path, nth: int,
                                                    threads: int) -> None:
    fs = Failing(nth)
    noise = [bytes(range(256)) * 3000 + bytes([i]) for i in range(8)]
    with ThreadPoolExecutor(threads or 1) as pool:
        writer = SegmentWriter(str(tmp_path / "a.seg"), table=2, first=FIRST, codec="snappy",
                               tier="fastest", grouping=Grouping(1), chain_id=1, fs=fs,
                               executor=pool if threads else None)
        failure = fill(writer, noise * 4)
        if failure is None:
            assert fs.left > 0    # fewer calls than that: nothing failed
        else:
            assert failure.errno == errno.ENOSPC
            for call in (lambda: writer.add(b"more"), writer.finish):
                with pytest.raises(ClosedError):
                    call()
            writer.abort()
            assert list(tmp_path.iterdir()) == []
    assert not fs.open


class Broken(Executor):
    """An executor whose jobs fail."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(MemoryError())
        return future


def test_a_failed_job_is_raised_and_the_segment_given_up(tmp_path: Path) -> None:
    writer = new_writer(tmp_path, FileSystem(), Broken())
    writer.add(b"a")
    with pytest.raises(MemoryError):
        writer.finish()
    with pytest.raises(ClosedError):
        writer.finish()
    writer.abort()
    assert list(tmp_path.iterdir()) == []


class Counting(Executor):
    """Runs each job when its result is asked for, and knows how many wait."""

    def __init__(self) -> None:
        self.waiting = self.most = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        outer = self

        class Lazy(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                outer.waiting -= 1
                return fn(*args, **kwargs)

        return Lazy()


def test_no_more_groups_than_the_window_are_in_flight(tmp_path: Path) -> None:
    pool = Counting()
    writer = SegmentWriter(str(tmp_path / "a.seg"), table=2, first=FIRST, codec="zstd",
                           tier="fastest", grouping=Grouping(2), chain_id=1, fs=FileSystem(),
                           executor=pool, window=3)
    for i in range(30):
        writer.add(bytes(i))
    assert writer.finish().frames == 15
    assert pool.most == 3
    assert pool.waiting == 0
