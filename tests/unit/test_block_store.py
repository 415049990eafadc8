"""The block store: what it takes, what it refuses, and what it gives back."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import chainmaker
import pytest

import blockpack
from blockpack import (
    BlockStore,
    ChainMismatchError,
    ClosedError,
    CorruptError,
    ForkError,
    KnobError,
    LimitError,
    MissingError,
    NotYetError,
    SequenceError,
)
from blockpack.chain import sharing

FIRST, COUNT = 1000, 30
BLOCKS = chainmaker.chain(COUNT, FIRST, chain_id=7)
SMALL = {"block_group_size": 4, "segment_blocks": 10, "seal_lag": 0}


@pytest.fixture(params=["open log", "sealed", "both"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlockStore]:
    """Thirty blocks with receipts and difficulty: in the log, sealed, or half and half."""
    knobs = SMALL | ({"segment_blocks": 50_000} if request.param == "open log" else {})
    with blockpack.create(tmp_path / "store", **knobs) as made:  # type: ignore[arg-type]
        for index, block in enumerate(BLOCKS):
            if index == 15 and request.param == "both":
                made.seal()
            made.append(block, receipts=chainmaker.receipts_of(block), difficulty=index)
        if request.param == "sealed":
            made.seal()
        yield made


def test_blocks_come_back_byte_for_byte(store: BlockStore) -> None:
    for number, block in enumerate(BLOCKS, FIRST):
        assert store.raw(number) == block
        header, body = store.view(number)
        assert (header, body) == (chainmaker.header_of(block), chainmaker.body_of(block))
        assert store.header(number).raw == header
        assert store.receipts(number).raw == chainmaker.receipts_of(block)
        assert store.receipts(number).form == "consensus"
        assert store.difficulty(number) == number - FIRST
        assert store[number].raw == block
    assert list(store.raw_range(FIRST, FIRST + COUNT)) == BLOCKS
    assert [block.raw for block in store] == BLOCKS


def test_what_it_is(store: BlockStore) -> None:
    assert (store.first, store.head, len(store)) == (FIRST, FIRST + COUNT - 1, COUNT)
    assert store.chain_id == 7
    assert FIRST in store
    assert FIRST + COUNT - 1 in store
    assert FIRST - 1 not in store
    assert FIRST + COUNT not in store
    assert "1000" not in store
    assert store.coverage("receipts") == [(FIRST, FIRST + COUNT - 1)]
    assert str(FIRST) in repr(store)


READERS: list[Callable[[BlockStore, int], object]] = [
    BlockStore.raw, BlockStore.view, BlockStore.header, BlockStore.receipts,
    BlockStore.difficulty, BlockStore.__getitem__,
    lambda store, number: store.get_many([number]),
    lambda store, number: store.raw_range(number, number + 1),
    lambda store, number: store.raw_range(number, number + 1, views=True),
]


@pytest.mark.parametrize("read", READERS, ids=range(len(READERS)))
def test_numbers_at_the_borders(store: BlockStore, read: Callable[[BlockStore, int], object]
                                ) -> None:
    last = FIRST + COUNT - 1
    for number in (FIRST, last):
        assert read(store, number) is not None
    for number in (FIRST - 1, 0):
        with pytest.raises(MissingError):
            read(store, number)
    for number in (last + 1, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 80):
        with pytest.raises(NotYetError):
            read(store, number)


def test_negative_numbers_count_from_the_head(store: BlockStore) -> None:
    assert store.raw(-1) == store[-1].raw == BLOCKS[-1]
    assert store.header(-COUNT).raw == chainmaker.header_of(BLOCKS[0])
    assert store.get_many([-2, -1]) == BLOCKS[-2:]
    with pytest.raises(MissingError):
        store.raw(-COUNT - 1)


def test_numbers_may_be_of_any_integer_type(store: BlockStore) -> None:
    class Number:
        def __index__(self) -> int:
            return FIRST + 3

    assert store.raw(Number()) == BLOCKS[3]  # type: ignore[arg-type]
    assert Number() in store
    with pytest.raises(TypeError):
        store.raw(1.0)  # type: ignore[arg-type]


def test_raw_range_raises_up_front(store: BlockStore) -> None:
    last = FIRST + COUNT - 1
    for start, stop in ((FIRST, last + 2), (last + 1, last + 2), (FIRST, 1 << 64)):
        with pytest.raises(NotYetError):
            store.raw_range(start, stop)
    for start, stop in ((FIRST - 1, FIRST + 1), (-5, FIRST)):
        with pytest.raises(MissingError):
            store.raw_range(start, stop)
    assert list(store.raw_range(FIRST, FIRST)) == []
    assert list(store.raw_range(last, FIRST)) == []


@pytest.mark.parametrize("views", [False, True])
def test_max_bytes_ends_a_range_before_it_is_passed(store: BlockStore, views: bool) -> None:
    sizes = [len(chainmaker.header_of(b)) + len(chainmaker.body_of(b)) for b in BLOCKS]
    for count, max_bytes in ((1, 0), (1, 1), (1, sizes[0]), (1, sizes[0] + sizes[1] - 1),
                             (2, sizes[0] + sizes[1]), (COUNT, 1 << 40)):
        got = store.raw_range(FIRST, FIRST + COUNT, max_bytes, views=views)  # type: ignore
        assert len(list(got)) == count


@pytest.mark.parametrize("store", ["sealed"], indirect=True)
def test_each_group_is_inflated_once(store: BlockStore) -> None:
    """Thirty blocks, segments of ten, groups of four: three groups in each of three segments."""
    numbers = range(FIRST, FIRST + COUNT)
    for read, groups in (
            (lambda: list(store.raw_range(FIRST, FIRST + COUNT)), 9),
            (lambda: list(store.raw_range(FIRST, FIRST + COUNT, views=True)), 9),
            (lambda: list(store), 9),
            (lambda: store.get_many(numbers), 9),
            (lambda: store.get_many(reversed(numbers[::3])), 8)):  # none of the last two blocks
        store.counters.reset()
        read()
        assert store.counters.frames_inflated == 2 * groups


def test_many_in_the_order_asked_for(store: BlockStore) -> None:
    numbers = [FIRST + 20, FIRST, FIRST + 20, FIRST + 7, -1]
    assert store.get_many(numbers) == [BLOCKS[20], BLOCKS[0], BLOCKS[20], BLOCKS[7], BLOCKS[-1]]
    assert store.get_many([]) == []
    with pytest.raises(NotYetError):
        store.get_many([FIRST, FIRST + COUNT])


def test_views_and_blocks_outlive_the_store(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store", **SMALL) as store:  # type: ignore[arg-type]
        for block in BLOCKS:
            store.append(block)
        store.seal()
        view, block, raw = store.view(FIRST), store[FIRST + 1], store.raw(FIRST + 2)
    assert view == (chainmaker.header_of(BLOCKS[0]), chainmaker.body_of(BLOCKS[0]))
    assert (block.raw, raw) == (BLOCKS[1], BLOCKS[2])


def refused(store: BlockStore, error: type[Exception], block: bytes, **records: object
            ) -> Exception:
    """Append, which must raise and leave the store as it was."""
    before = store.head, store.digest(), store.chain_id
    with pytest.raises(error) as caught:
        store.append(block, **records)  # type: ignore[arg-type]
    assert (store.head, store.digest(), store.chain_id) == before
    return caught.value


def test_refusals_write_nothing(store: BlockStore) -> None:
    following = chainmaker.chain(3, FIRST + COUNT, parent=chainmaker.hash_of(BLOCKS[-1]))
    error = refused(store, SequenceError, following[1])
    assert error.have == FIRST + COUNT + 1  # type: ignore[attr-defined]
    assert error.want == FIRST + COUNT  # type: ignore[attr-defined]
    refused(store, SequenceError, BLOCKS[-1])
    fork = chainmaker.chain(1, FIRST + COUNT, seed=9)[0]
    error = refused(store, ForkError, fork)
    assert error.have == chainmaker.hash_of(BLOCKS[-1])  # type: ignore[attr-defined]
    assert error.got == bytes(32)  # type: ignore[attr-defined]
    foreign = chainmaker.chain(1, FIRST + COUNT, parent=chainmaker.hash_of(BLOCKS[-1]),
                               chain_id=8)[0]
    error = refused(store, ChainMismatchError, foreign)
    assert (error.have, error.got) == (7, 8)  # type: ignore[attr-defined]
    for bad in (b"", b"\xc0", following[0][:-1], following[0] + b"\0", b"\x80" * 100):
        refused(store, CorruptError, bad)
    refused(store, CorruptError, following[0], receipts=b"\x80")
    refused(store, ValueError, following[0], difficulty=1 << 256)
    refused(store, ValueError, following[0], receipts=b"\xc0", receipts_form="odd")
    store.append(following[0])
    assert store.raw(-1) == following[0]


def test_tables_that_a_block_does_not_have(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        for index, block in enumerate(BLOCKS):
            some = index % 10 < 5
            store.append(block, receipts=b"\xc0" if some else None,
                         difficulty=1 if some else None, receipts_form="slim")
        assert store.receipts(FIRST).raw == b"\xc0"
        assert store.receipts(FIRST).form == "slim"
        for read in (store.receipts, store.difficulty):
            with pytest.raises(MissingError, match=f"for block {FIRST + 5}"):
                read(FIRST + 5)
        assert store.coverage("difficulty") == [
            (FIRST + at, FIRST + at + 4) for at in (0, 10, 20)]


def test_truncate_and_append_another_fork(store: BlockStore) -> None:
    store.truncate(FIRST + 12)
    assert (store.head, len(store)) == (FIRST + 12, 13)
    with pytest.raises(NotYetError):
        store.raw(FIRST + 13)
    fork = chainmaker.chain(10, FIRST + 13, seed=5, parent=chainmaker.hash_of(BLOCKS[12]))
    for block in fork:
        store.append(block)
    assert list(store.raw_range(FIRST, FIRST + 23)) == BLOCKS[:13] + fork
    store.truncate(FIRST - 1)
    assert (store.head, len(store), bool(store)) == (None, 0, True)
    with pytest.raises(NotYetError):
        store.raw(-1)
    with pytest.raises(SequenceError):
        store.append(BLOCKS[1])
    store.append(BLOCKS[0])


def test_first_block_and_chain_id_given(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store", chain_id=1, first_block=FIRST) as store:
        assert (store.first, store.head, store.chain_id) == (FIRST, None, 1)
        refused(store, SequenceError, BLOCKS[1])
        refused(store, ChainMismatchError, BLOCKS[0])
        store.append(chainmaker.chain(1, FIRST)[0])


def test_numbers_up_to_the_last(tmp_path: Path) -> None:
    last = (1 << 64) - 2  # the number after it must fit into 64 bits as well
    blocks = chainmaker.chain(3, last - 1)
    with blockpack.create(tmp_path / "store") as store:
        for block in blocks[:2]:
            store.append(block)
        assert store.raw(last) == blocks[1]
        assert list(store.raw_range(last - 1, last + 1)) == blocks[:2]
        store.seal()
        assert [block.raw for block in store] == blocks[:2]
        refused(store, LimitError, blocks[2])


def test_links_none(tmp_path: Path) -> None:
    blocks = [chainmaker.chain(1, number)[0] for number in range(3)]
    with blockpack.create(tmp_path / "hash") as store:
        store.append(blocks[0])
        refused(store, ForkError, blocks[1])
    with blockpack.create(tmp_path / "none", links="none") as store:
        for block in blocks:
            store.append(block)
    with blockpack.open(tmp_path / "none", mode="a") as store:
        assert list(store.raw_range(0, 3)) == blocks
        store.append(chainmaker.chain(1, 3)[0])
    with pytest.raises(KnobError):
        blockpack.open(tmp_path / "none", mode="a", links="hash")


def test_a_writer_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "store"
    for index, block in enumerate(BLOCKS):
        with (blockpack.open(path, mode="a") if index else blockpack.create(path)) as store:
            store.append(block)
    with blockpack.open(path) as store:
        assert [block.raw for block in store] == BLOCKS
        assert store.chain_id == 7


def test_digest_depends_on_the_records_alone(tmp_path: Path) -> None:
    digests = set()
    for index, knobs in enumerate([{}, {"block_group_size": 1, "compression": "zstd"}, SMALL]):
        with blockpack.create(tmp_path / str(index), **knobs) as store:  # type: ignore[arg-type]
            for block in BLOCKS:
                store.append(block)
            if index:
                store.seal()
            digests.add(store.digest())
            assert len(store.digest()) == 32
    assert len(digests) == 1
    with blockpack.create(tmp_path / "receipts") as store:
        for block in BLOCKS:
            store.append(block, receipts=b"\xc0")
        digests.add(store.digest())
        store.truncate(FIRST + COUNT - 2)
        digests.add(store.digest())
    assert len(digests) == 3


def test_closed(store: BlockStore) -> None:
    store.close()
    store.close()
    for use in (lambda: store.raw(FIRST), lambda: store.append(BLOCKS[0]), store.sync,
                lambda: store.head, lambda: store.raw_range(FIRST, FIRST + 1)):
        with pytest.raises(ClosedError):
            use()
    assert "closed" in repr(store)


def test_handles_pickle_by_path(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store", **SMALL) as store:  # type: ignore[arg-type]
        for block in BLOCKS:
            store.append(block)
        store.sync()
        twin = pickle.loads(pickle.dumps(store))
        with twin:
            assert twin.raw(-1) == BLOCKS[-1]
            with pytest.raises(ClosedError, match="opened for reading"):
                twin.append(BLOCKS[0])
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(len, (store,)) == COUNT


def test_public_names() -> None:
    assert len(set(blockpack.__all__)) == len(blockpack.__all__)
    for name in blockpack.__all__:
        public = getattr(blockpack, name)
        if not isinstance(public, Mapping):    # TABLES
            assert getattr(public, "__module__", None) or public.__name__.startswith("blockpack.")
    with pytest.raises(AttributeError, match="no attribute 'Blocks'"):
        blockpack.Blocks    # noqa: B018


def test_reading_does_not_import_numpy(store: BlockStore) -> None:
    """It took 7 MB of the 30 that reading may take, and a third of a short program's time."""
    store.sync()
    code = f"""
import sys, blockpack
store = blockpack.open({store.path!r})
store[-1].transactions, list(store.raw_range(store.first, store.head + 1))
assert "numpy" not in sys.modules
blockpack.Columns
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("threads", [2, 5])
def test_a_range_on_several_threads(store: BlockStore, threads: int,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "JOB_BLOCKS", 3)
    stop = FIRST + COUNT
    assert list(store.raw_range(FIRST, stop, threads=threads)) == BLOCKS
    assert list(store.raw_range(FIRST + 1, FIRST + 2, threads=threads)) == BLOCKS[1:2]
    views = store.raw_range(FIRST, stop, views=True, threads=threads)
    assert [header for header, _ in views] == list(map(chainmaker.header_of, BLOCKS))
    limit = sum(map(len, BLOCKS[:7]))
    assert list(store.raw_range(FIRST, stop, limit, threads=threads)) == BLOCKS[:7]
    with pytest.raises(NotYetError):
        store.raw_range(FIRST, stop + 1, threads=threads)
    with pytest.raises(KnobError, match="threads is 0"):
        store.raw_range(FIRST, stop, threads=0)


def test_a_range_on_threads_that_is_left_early_ends_them(store: BlockStore,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "JOB_BLOCKS", 3)
    blocks = store.raw_range(FIRST, FIRST + COUNT, threads=2)
    assert next(blocks) == BLOCKS[0]
    assert any(thread.name.startswith("blockpack-read") for thread in threading.enumerate())
    blocks.close()    # type: ignore[attr-defined]
    assert not any(thread.name.startswith("blockpack-read") for thread in threading.enumerate())
