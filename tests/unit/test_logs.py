"""Logs of a store: eth_getLogs' rules, blooms that save reading, and what is refused."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chainmaker
import pytest
from receiptmaker import ADDRESS, OTHER, TOPICS, Made, bloom_of, log, receipts
from reference.rlp import encode

import blockpack
from blockpack import BlockStore, CorruptError, MissingError, NotYetError
from blockpack._native.keccak import keccak256
from blockpack._native.logs import Log, LogFilter
from blockpack.chain.records import FORM_IDS
from blockpack.store.tables import BODIES, HEADERS, RECEIPTS

FIRST, COUNT = 100, 40
ABSENT = b"\xee" * 20
T1, T2, T3, T4 = TOPICS
# In blocks FIRST + 5 and + 21 alone, so that the blooms rule out all others.
RARE = b"\xcc" * 20


def made_receipts(index: int) -> list[Made]:
    logs: list[Any] = [log(), log(OTHER, [T1]), log(ADDRESS, [T1, T2], bytes([index]))]
    if index in (5, 21):
        logs.append(log(RARE, [T3, T1, T2, T4], b"rare"))
    return [Made(0, b"\1", 21_000, logs[:1]), Made(2, b"\1", 50_000, logs[1:])]


def blocks_with_blooms(start: int = 0, parent: bytes = bytes(32), seed: int = 0
                       ) -> Iterator[bytes]:
    for index in range(start, COUNT):
        source = random.Random(seed + index)
        body = [chainmaker.transaction(source, 40, 5) for _ in range(2)]
        head = chainmaker.header(FIRST + index, parent, body, source)
        head = head.replace(b"\1\0" + bytes(256), b"\1\0" + bloom_of(made_receipts(index)))
        yield chainmaker.rlp_list(head + chainmaker.rlp(body) + b"\xc0")
        parent = keccak256(head)


BLOCKS = list(blocks_with_blooms())


def filled(path: Path, form: str = "slim", *, seal: bool = True, segment_blocks: int = 16
           ) -> None:
    with blockpack.create(path, block_group_size=4, segment_blocks=segment_blocks,
                          seal_lag=0) as store:
        for index, block in enumerate(BLOCKS):
            store.append(block, receipts=receipts(made_receipts(index), form),
                         receipts_form=form)
        if seal:
            store.seal()


@pytest.fixture(params=["sealed", "open log"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BlockStore]:
    filled(tmp_path / "store", seal=request.param == "sealed")
    with blockpack.open(tmp_path / "store") as opened:
        yield opened


def expected(addresses: list[bytes], topics: list[list[bytes]]) -> list[tuple[int, int, int]]:
    """(block, transaction, log) by the rules, the slow and obvious way."""
    found = []
    for index in range(COUNT):
        position = 0
        for transaction, one in enumerate(made_receipts(index)):
            for address, have, _ in one.logs:  # type: ignore[str-bytes-safe]
                if ((not addresses or address in addresses) and len(topics) <= len(have)
                        and all(not some or topic in some
                                for some, topic in zip(topics, have, strict=False))):
                    found.append((FIRST + index, transaction, position))
                position += 1
    return found


def places(logs: Iterator[Log]) -> list[tuple[int, int, int]]:
    return [(one.block_number, one.transaction_index, one.log_index) for one in logs]


FILTERS: list[tuple[Any, Any, list[bytes], list[list[bytes]]]] = [
    (None, None, [], []),
    ([], [], [], []),
    (ADDRESS, None, [ADDRESS], []),
    ("0x" + ADDRESS.hex(), None, [ADDRESS], []),
    ([ADDRESS, "0x" + RARE.hex()], None, [ADDRESS, RARE], []),
    (ABSENT, None, [ABSENT], []),
    (RARE, [T3], [RARE], [[T3]]),
    (None, [T1], [], [[T1]]),
    (None, ["0x" + T1.hex()], [], [[T1]]),
    (None, [None, T2], [], [[], [T2]]),
    (None, [[], T2], [], [[], [T2]]),
    (None, [[T3, T1]], [], [[T1, T3]]),
    (None, [None], [], [[]]),
    (None, [None, None, None, None], [], [[], [], [], []]),
    (None, [T3, T1, [T2, T1], T4], [], [[T3], [T1], [T1, T2], [T4]]),
    (OTHER, [T1, T2], [OTHER], [[T1], [T2]]),
    (None, [T2], [], [[T2]]),
]


@pytest.mark.parametrize("blooms", [True, False])
@pytest.mark.parametrize("at", range(len(FILTERS)))
def test_the_rules_of_eth_getlogs(store: BlockStore, at: int, blooms: bool) -> None:
    address, topics, addresses, positions = FILTERS[at]
    want = expected(addresses, positions)
    assert places(store.logs(FIRST, FIRST + COUNT, address, topics, blooms=blooms)) == want
    middle = [place for place in want if FIRST + 3 <= place[0] < FIRST + 22]
    assert places(store.logs(FIRST + 3, FIRST + 22, address, topics, blooms=blooms)) == middle


@pytest.mark.parametrize("form", FORM_IDS)
def test_every_form_of_receipts_gives_the_same(tmp_path: Path, form: str) -> None:
    filled(tmp_path / "store", form)
    with blockpack.open(tmp_path / "store") as opened:
        assert places(opened.logs(FIRST, FIRST + COUNT)) == expected([], [])


def test_fields_of_a_log(store: BlockStore) -> None:
    one = next(store.logs(FIRST, FIRST + COUNT, RARE))
    block = BLOCKS[5]
    assert (one.address, one.topics, one.data) == (RARE, (T3, T1, T2, T4), b"rare")
    assert (one.block_number, one.transaction_index, one.log_index) == (FIRST + 5, 1, 3)
    assert one.block_hash == chainmaker.hash_of(block)
    body = [chainmaker.rlp(chainmaker.transaction(source, 40, 5))
            for source in [random.Random(5)] for _ in range(2)]
    assert one.transaction_hash == keccak256(body[1])
    assert one.raw == encode(log(RARE, [T3, T1, T2, T4], b"rare"))
    assert one.to_dict() == {
        "block_number": FIRST + 5, "block_hash": one.block_hash, "transaction_index": 1,
        "log_index": 3, "transaction_hash": one.transaction_hash, "address": RARE,
        "topics": (T3, T1, T2, T4), "data": b"rare"}
    rpc = one.to_rpc()
    assert (rpc["blockNumber"], rpc["logIndex"], rpc["data"]) == ("0x69", "0x3", "0x72617265")
    assert rpc["topics"][0] == "0x" + T3.hex()
    assert rpc["removed"] is False
    assert "Log 3 of block 105, 4 topics" in repr(one)


def test_equality_hash_and_pickle(store: BlockStore) -> None:
    first, second = store.logs(FIRST, FIRST + COUNT, RARE)
    again = next(store.logs(FIRST, FIRST + COUNT, RARE))
    assert first == again
    assert hash(first) == hash(again)
    assert first != second
    assert first != "log"
    twin = pickle.loads(pickle.dumps(first))
    store.close()
    assert twin == first
    assert twin.to_dict()["transaction_hash"] == twin.transaction_hash
    assert first.topics == (T3, T1, T2, T4)


@pytest.mark.parametrize("store", ["sealed"], indirect=True)
def test_blooms_skip_receipts_and_bodies(store: BlockStore) -> None:
    """Segments of 16, 16 and 8 blocks in groups of four: ten groups of headers."""
    def inflated(*arguments: Any, **options: Any) -> int:
        store.counters.reset()
        assert list(store.logs(*arguments, **options)) is not None
        return store.counters.frames_inflated

    everything = FIRST, FIRST + COUNT
    assert inflated(*everything, ABSENT) == 10
    # Where receipts are read, so is the header again: both of one moment.
    assert inflated(*everything, RARE) == 10 + 2 * 2
    assert inflated(*everything, RARE, blooms=False) == 10 + 2 * 10
    assert inflated(FIRST, FIRST + 4, RARE) == 1
    assert inflated(*everything) == 10 + 2 * 10
    found = list(store.logs(*everything, RARE))
    store.counters.reset()
    assert len({one.block_hash for one in found}) == 2
    assert store.counters.frames_inflated == 0
    assert found[0].transaction_hash
    assert store.counters.frames_inflated > 0


def test_a_range_outside_of_the_store_raises_up_front(store: BlockStore) -> None:
    with pytest.raises(NotYetError):
        store.logs(FIRST, FIRST + COUNT + 1)
    with pytest.raises(MissingError):
        store.logs(FIRST - 1, FIRST + 1)
    assert list(store.logs(FIRST + 5, FIRST + 5)) == []


def test_blocks_without_receipts_are_named_up_front(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        for index, block in enumerate(BLOCKS):
            store.append(block, receipts=None if index == 7
                         else receipts(made_receipts(index), "slim"), receipts_form="slim")
        with pytest.raises(MissingError, match=f"no receipts for block {FIRST + 7}"):
            store.logs(FIRST, FIRST + COUNT, ABSENT)
        assert len(list(store.logs(FIRST, FIRST + 7, OTHER))) == 7
        assert len(list(store.logs(FIRST + 8, FIRST + COUNT, OTHER))) == COUNT - 8


@pytest.mark.parametrize(("address", "topics", "text"), [
    (b"short", None, "5 bytes, not 20"),
    ("0x" + "aa" * 32, None, "32 bytes, not 20"),
    ("aa" * 20, None, "starts with 0x"),
    ("0xzz", None, "non-hexadecimal"),
    (None, [ADDRESS], "20 bytes, not 32"),
    (None, [None] * 5, "5 topic positions"),
])
def test_bad_filters(store: BlockStore, address: Any, topics: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        store.logs(FIRST, FIRST + 1, address, topics)


def test_damaged_receipts_name_block_and_offset(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        head, body = chainmaker.header_of(BLOCKS[0]), chainmaker.body_of(BLOCKS[0])
        lie = b"\3" + encode([[b"", b"\1", b"\5", [[ADDRESS[:19], [], b""]]]])
        store.records.append(FIRST, {HEADERS: head, BODIES: body, RECEIPTS: lie})
        with pytest.raises(CorruptError, match=f"block {FIRST}: receipts: address of a log") as at:
            list(store.logs(FIRST, FIRST + 1))
        assert at.value.offset == 8
        assert list(store.logs(FIRST, FIRST + 1, ABSENT)) == []


def test_a_transaction_hash_after_the_block_was_cut(tmp_path: Path) -> None:
    filled(tmp_path / "store")
    with blockpack.open(tmp_path / "store", mode="a") as store:
        last = list(store.logs(FIRST + COUNT - 1, FIRST + COUNT))[-1]
        store.truncate(FIRST + COUNT - 2)
        with pytest.raises(NotYetError):
            assert last.transaction_hash
        other = chainmaker.chain(1, FIRST + COUNT - 1, seed=9,
                                 parent=chainmaker.hash_of(BLOCKS[-2]))[0]
        store.append(other)
        with pytest.raises(MissingError, match="was cut from the store"):
            assert last.transaction_hash


def test_a_log_after_a_cut_does_not_carry_the_header_of_the_block_that_was_cut(
        tmp_path: Path) -> None:
    filled(tmp_path / "store", seal=False, segment_blocks=1000)
    with blockpack.open(tmp_path / "store", mode="a") as store:
        found = store.logs(FIRST, FIRST + COUNT, RARE)
        assert next(found).block_number == FIRST + 5    # the headers of all blocks were read
        store.truncate(FIRST + 10)
        fork = blocks_with_blooms(11, chainmaker.hash_of(BLOCKS[10]), seed=1000)
        for index, block in enumerate(fork, 11):
            store.append(block, receipts=receipts(made_receipts(index), "slim"),
                         receipts_form="slim")
        later = next(found)
        assert later.block_number == FIRST + 21
        assert later.block_hash == store[FIRST + 21].hash != chainmaker.hash_of(BLOCKS[21])


def test_logs_made_by_hand() -> None:
    raw = encode(log(ADDRESS, [T1], b"x"))
    assert Log(raw, None, 0, 0).topics == (T1,)  # type: ignore[arg-type]
    for bad, text in ((b"", "ends before"), (raw + b"\xc0", "followed by"), (b"\xc0", "missing")):
        with pytest.raises(CorruptError, match=text):
            Log(bad, None, 0, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="made by __new__"):
        assert Log.__new__(Log).address


def test_headers_without_a_bloom_may_have_anything() -> None:
    wanted = LogFilter([ABSENT], [])
    headers = [b"", b"\xc0", encode([b"x"] * 15), chainmaker.header_of(BLOCKS[0])]
    assert wanted.candidates(headers) == [0, 1, 2]


def test_an_empty_bloom_is_that_of_a_block_without_logs() -> None:
    headers = [chainmaker.header_of(BLOCKS[0]), chainmaker.header_of(chainmaker.chain(1)[0])]
    assert LogFilter([], []).candidates(headers) == [0]


def test_many_logs_in_one_block() -> None:
    made = [Made(2, b"\1", 1, [log(ADDRESS if number % 3 else OTHER, [T1], bytes(90))
                               for number in range(1000)])]
    record = b"\2" + receipts(made, "storage")
    found = LogFilter([ADDRESS], [[T1]]).matches(record, None)  # type: ignore[arg-type]
    assert [one.log_index for one in found] == [n for n in range(1000) if n % 3]


def test_real_receipts(testdata: Path) -> None:
    for path in (testdata / "receipts").glob("*.rlp"):
        single = next((testdata / "singles").glob(path.name.split("-")[1].split(".")[0] + "_*"))
        block = single.read_bytes()
        record = b"\3" + path.read_bytes()
        everything = LogFilter([], []).matches(record, None)  # type: ignore[arg-type]
        assert [one.log_index for one in everything] == list(range(len(everything)))
        address = everything[-1].address
        wanted = LogFilter([address], [])
        assert wanted.candidates([chainmaker.header_of(block)]) == [0]
        assert [one.log_index for one in wanted.matches(record, None)] == [  # type: ignore
            one.log_index for one in everything if one.address == address]
