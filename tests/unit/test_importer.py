"""Import: idempotent, resumable, through the log or directly."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import chainmaker
import pytest

import blockpack
from blockpack import BlockStore, ChainMismatchError, CorruptError, ForkError, SequenceError
from blockpack.chain import importer
from blockpack.chain.importer import import_blocks

BLOCKS = chainmaker.chain(100, 50, chain_id=3)
SMALL = {"block_group_size": 4, "segment_blocks": 16, "seal_lag": 0}

Create = Callable[..., BlockStore]


@pytest.fixture
def create(tmp_path: Path) -> Create:
    made = iter(range(100))
    return lambda **knobs: blockpack.create(tmp_path / f"store-{next(made)}", **(SMALL | knobs))


def data(blocks: list[bytes]) -> io.BytesIO:
    return io.BytesIO(b"".join(blocks))


def contents(store: BlockStore) -> list[bytes]:
    return [block.raw for block in store]


@pytest.mark.parametrize("direct", [False, True])
def test_twice_changes_nothing(create: Create, tmp_path: Path, direct: bool) -> None:
    path = tmp_path / "chain.rlp"
    path.write_bytes(b"".join(BLOCKS))
    with create() as store:
        result = import_blocks(store, path, direct=direct)
        assert (result.appended, result.skipped) == (100, 0)
        assert result.nbytes == path.stat().st_size
        store.seal()  # so that no seal in the background changes the sizes
        before = store.digest(), store.info()["total_bytes"]
        result = import_blocks(store, str(path), direct=direct)
        assert (result.appended, result.skipped) == (0, 100)
        assert (store.digest(), store.info()["total_bytes"]) == before
        assert contents(store) == BLOCKS
        assert store.chain_id == 3


@pytest.mark.parametrize("direct", [False, True])
def test_several_sources_that_overlap(create: Create, direct: bool) -> None:
    sources = [data(BLOCKS[:30]), data(BLOCKS[20:60]), data(BLOCKS[10:15]),
               io.BytesIO(gzip.compress(b"".join(BLOCKS[40:])))]
    with create() as store:
        result = import_blocks(store, sources, direct=direct)
        assert (result.appended, result.skipped) == (100, 10 + 5 + 20)
        assert contents(store) == BLOCKS


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("done", [1, 15, 16, 17, 99])
def test_goes_on_where_another_import_stopped(create: Create, direct: bool, done: int) -> None:
    with create() as store:
        import_blocks(store, data(BLOCKS[:done]))
        result = import_blocks(store, data(BLOCKS), direct=direct)
        assert (result.appended, result.skipped) == (100 - done, done)
        assert contents(store) == BLOCKS


def test_direct_fills_the_open_segment_first(create: Create) -> None:
    with create() as store:
        import_blocks(store, data(BLOCKS[:5]))
        import_blocks(store, data(BLOCKS), direct=True)
        assert contents(store) == BLOCKS
        assert {row["first"] % 16 for row in store.info()["segments"][1:]} == {0}


@pytest.mark.parametrize("direct", [False, True])
def test_an_overlap_with_other_bytes_is_a_fork(create: Create, direct: bool) -> None:
    fork = chainmaker.chain(20, 60, seed=4, parent=chainmaker.hash_of(BLOCKS[9]))
    with create() as store:
        import_blocks(store, data(BLOCKS[:40]))
        before = store.digest()
        with pytest.raises(ForkError, match=r"stream at byte 0: block 60 is .* another fork"
                           ) as caught:
            import_blocks(store, data(fork), direct=direct)
        assert caught.value.number == 60
        assert caught.value.have == chainmaker.hash_of(BLOCKS[10])
        assert caught.value.got == chainmaker.hash_of(fork[0])
        assert store.digest() == before


def test_a_fork_of_blocks_that_are_not_published_yet(create: Create) -> None:
    fork = chainmaker.chain(20, 60, seed=4, parent=chainmaker.hash_of(BLOCKS[9]))
    with create(segment_blocks=1000) as store:
        with pytest.raises(ForkError) as caught:
            import_blocks(store, [data(BLOCKS[:40]), data(fork)], direct=True)
        assert caught.value.have == chainmaker.hash_of(BLOCKS[10])
        assert caught.value.got == chainmaker.hash_of(fork[0])
        assert contents(store) == BLOCKS[:40]


def test_same_header_and_another_body(create: Create) -> None:
    header = chainmaker.header_of(BLOCKS[7])
    swapped = chainmaker._prefixed(0xC0, header + chainmaker.body_of(BLOCKS[8]))
    with create() as store:
        import_blocks(store, data(BLOCKS))
        with pytest.raises(ForkError, match="not the same body") as caught:
            import_blocks(store, data([swapped]))
        assert caught.value.have == caught.value.got == chainmaker.hash_of(BLOCKS[7])


def test_receipts_and_difficulty_are_compared(create: Create) -> None:
    era1 = b"".join(chainmaker.era1_parts(BLOCKS, 50))
    other = b"".join(chainmaker.era1_parts(BLOCKS, 50, before=1))
    with create() as store:
        import_blocks(store, io.BytesIO(era1))
        assert store.coverage("receipts") == store.coverage("difficulty") == [(50, 149)]
        assert store.difficulty(51) == 2 * 131_072
        import_blocks(store, [io.BytesIO(era1), data(BLOCKS)])
        with pytest.raises(ForkError, match="not the same total difficulty"):
            import_blocks(store, io.BytesIO(other))
    with create() as store:
        for block in BLOCKS:
            store.append(block, receipts=b"\xc0")
        with pytest.raises(ForkError, match="not the same receipts"):
            import_blocks(store, io.BytesIO(era1))


@pytest.mark.parametrize("direct", [False, True])
def test_gaps_and_blocks_before_the_first(create: Create, direct: bool) -> None:
    with create() as store:
        with pytest.raises(SequenceError, match=r"stream at byte \d+: block 90") as caught:
            import_blocks(store, data(BLOCKS[10:20] + BLOCKS[40:]), direct=direct)
        assert (caught.value.have, caught.value.want) == (90, 70)
        assert contents(store) == BLOCKS[10:20]
        with pytest.raises(SequenceError, match="before the store's first"):
            import_blocks(store, data(BLOCKS), direct=direct)
        assert contents(store) == BLOCKS[10:20]


@pytest.mark.parametrize("direct", [False, True])
def test_another_chain(create: Create, direct: bool) -> None:
    with create(chain_id=1) as store:
        with pytest.raises(ChainMismatchError, match="stream at byte 0"):
            import_blocks(store, data(BLOCKS), direct=direct)
        assert len(store) == 0


@pytest.mark.parametrize("direct", [False, True])
def test_what_came_before_an_error_is_kept_and_durable(create: Create, direct: bool) -> None:
    with create() as store:
        with pytest.raises(CorruptError) as caught:
            import_blocks(store, io.BytesIO(b"".join(BLOCKS[:37]) + b"garbage"), direct=direct)
        assert caught.value.offset == sum(map(len, BLOCKS[:37]))
        with blockpack.open(store.path) as reader:
            assert contents(reader) == BLOCKS[:37]
        import_blocks(store, data(BLOCKS), direct=direct)
        assert contents(store) == BLOCKS


def test_a_directory_with_a_broken_file_in_the_middle(create: Create, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "c").write_bytes(b"".join(BLOCKS[:30]))
    (folder / "b").write_bytes(b"")
    (folder / "a").write_bytes(b"".join(BLOCKS[60:]))
    (folder / "notes.txt").write_bytes(b"notes")
    with create() as store:
        with pytest.raises(CorruptError, match="empty") as caught:
            import_blocks(store, folder)
        assert caught.value.file == str(folder / "b")
        assert contents(store) == BLOCKS[:30]
        (folder / "b").write_bytes(b"".join(BLOCKS[30:60]))
        result = import_blocks(store, folder)
        assert (result.appended, result.skipped) == (70, 30)
        assert result.passed_over == [folder / "notes.txt"]
        assert contents(store) == BLOCKS


def test_progress(create: Create, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_REPORT_SECONDS", 0)
    monkeypatch.setattr(importer, "_TICK_BLOCKS", 8)
    path = tmp_path / "chain.rlp"
    path.write_bytes(b"".join(BLOCKS))
    size = path.stat().st_size
    calls: list[tuple[int, int, int | None]] = []
    with create() as store:
        import_blocks(store, [path, path], progress=lambda *call: calls.append(call))
        assert calls == sorted(calls)  # type: ignore[type-var]
        assert calls[-1] == (200, 2 * size, 2 * size)
        assert len(calls) == 2 * (100 // 8 + 1)
        calls.clear()
        import_blocks(store, [path, data(BLOCKS)], progress=lambda *call: calls.append(call))
        assert {total for _, _, total in calls} == {None}


def test_each_group_is_inflated_once_to_compare(create: Create) -> None:
    with create() as store:
        import_blocks(store, data(BLOCKS), direct=True)
        store.counters.reset()
        import_blocks(store, data(BLOCKS))
        groups = sum(-(-min(16, 150 - first) // 4) for first in (50, *range(64, 150, 16)))
        assert store.counters.frames_inflated <= 2 * (groups + 2)


def test_a_running_import_is_synced_now_and_then(create: Create,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "SYNC_SECONDS", 0)
    monkeypatch.setattr(importer, "_TICK_BLOCKS", 10)
    with create(segment_blocks=1000) as store, blockpack.open(store.path) as reader:
        heads: list[int | None] = []

        def look(*_: object) -> None:
            reader.refresh()
            heads.append(reader.head)

        monkeypatch.setattr(importer, "_REPORT_SECONDS", 0)
        import_blocks(store, data(BLOCKS), progress=look)
        assert heads[1:] == [50 + 10 * n - 1 for n in range(1, 10)] + [50 + 99]
