"""Verification of links: what it finds, and that it goes on."""

from __future__ import annotations

from pathlib import Path

import chainmaker

import blockpack
from blockpack import BlockStore, CorruptError, ForkError
from blockpack.chain.store import block_records
from blockpack.chain.verify import verify_chain, verify_roots
from blockpack.store.records import RecordStore

FIRST = 10
BLOCKS = chainmaker.chain(50, FIRST)


def store_of(path: Path, headers: list[bytes], links: str = "hash") -> BlockStore:
    """A store with these headers, whatever they are: a block store would refuse them."""
    with blockpack.create(path, block_group_size=4, segment_blocks=16, seal_lag=0,
                          links=links) as store:
        records: RecordStore = store.records
        for number, header in enumerate(headers, FIRST):
            records.append(number, block_records(header, b"\xc0\xc0", None, None, "consensus"))
        store.seal()
    return blockpack.open(path)


HEADERS = list(map(chainmaker.header_of, BLOCKS))


def test_a_good_chain_and_its_progress(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with store_of(tmp_path / "store", HEADERS) as store:
        assert verify_chain(store, lambda *call: calls.append(call)) == []
    assert calls[-1] == (50, 50)
    assert calls == sorted(calls)


def test_an_empty_store(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        assert verify_chain(store) == []


def test_every_fault_is_listed(tmp_path: Path) -> None:
    other = chainmaker.header_of(chainmaker.chain(1, FIRST + 5, seed=2)[0])
    headers = [*HEADERS]
    headers[5] = other                 # links neither to 4 nor from 6
    headers[20] = HEADERS[21]          # another number, and no link on both sides
    headers[30] = b"\xc3\x01\x02\x03"  # no header at all
    with store_of(tmp_path / "store", headers) as store:
        faults = verify_chain(store)
    assert [(type(fault), getattr(fault, "number", None)) for fault in faults] == [
        (ForkError, 15), (ForkError, 16),
        (CorruptError, None), (ForkError, 30), (ForkError, 31),
        (CorruptError, None), (ForkError, 41)]
    assert faults[0].have == chainmaker.hash_of(BLOCKS[4])  # type: ignore[attr-defined]
    assert (faults[2].expected, faults[2].found) == (30, 31)  # type: ignore[attr-defined]
    assert "block 40" in str(faults[5])


def test_links_none_checks_numbers_alone(tmp_path: Path) -> None:
    headers = [chainmaker.header_of(chainmaker.chain(1, number)[0])
               for number in range(FIRST, FIRST + 5)]
    with store_of(tmp_path / "none", headers, links="none") as store:
        assert verify_chain(store) == []
    with store_of(tmp_path / "number", headers[:2] + headers[3:], links="none") as store:
        assert [str(fault) for fault in verify_chain(store)] == [
            "a header has another number than its place (expected 12, found 13)",
            "a header has another number than its place (expected 13, found 14)"]


def test_a_group_that_cannot_be_read_does_not_end_it(tmp_path: Path) -> None:
    headers = [*HEADERS]
    headers[40] = HEADERS[39]
    store = store_of(tmp_path / "store", headers)
    store.close()
    segment = sorted((tmp_path / "store" / "sealed").glob("headers-*"))[0]
    content = bytearray(segment.read_bytes())
    content[100] ^= 0xFF  # in the first frame
    segment.write_bytes(content)
    with blockpack.open(tmp_path / "store") as hurt:
        faults = verify_chain(hurt)
    assert isinstance(faults[0], CorruptError)
    assert faults[0].file == str(segment)
    assert [type(fault) for fault in faults[1:]] == [CorruptError, ForkError, ForkError]


def store_with_roots(path: Path, blocks: list[bytes], receipts: list[bytes | None]) -> BlockStore:
    with blockpack.create(path, block_group_size=4, segment_blocks=16, seal_lag=0,
                          links="none") as store:
        for block, one in zip(blocks, receipts, strict=True):
            store.append(block, receipts=one, receipts_form="slim")
        store.seal()
    return blockpack.open(path)


def swapped_body(block: bytes, other: bytes) -> bytes:
    header, body = chainmaker.header_of(block), chainmaker.body_of(other)
    return chainmaker.rlp_list(header + body)


def test_roots_of_a_good_chain_and_their_progress(tmp_path: Path) -> None:
    blocks = chainmaker.chain(150, FIRST)
    calls: list[tuple[int, int]] = []
    with store_with_roots(tmp_path / "store", blocks, [None] * 150) as store:
        assert verify_roots(store, lambda *call: calls.append(call)) == []
    assert calls == [(64, 150), (128, 150), (150, 150)]
    with blockpack.create(tmp_path / "empty") as store:
        assert verify_roots(store) == []


def test_roots_name_every_block_that_lies(tmp_path: Path) -> None:
    blocks = [*BLOCKS]
    for index in (3, 20):
        blocks[index] = swapped_body(BLOCKS[index], BLOCKS[index + 1])
    receipts: list[bytes | None] = [None] * 50
    receipts[30] = chainmaker.rlp([[0, 1, 21_000, []]])     # not what the header has
    receipts[31] = b"\xc0"
    with store_with_roots(tmp_path / "store", blocks, receipts) as store:
        found = [str(fault).split(" (")[0] for fault in verify_roots(store)]
    assert found == [
        *(f"block {number}: the transactions root in the header is not that of the block's records"
          for number in (FIRST + 3, FIRST + 20)),
        f"block {FIRST + 30}: the receipts root in the header is not that of the block's records",
        f"block {FIRST + 31}: another number of receipts than of transactions"]


def test_roots_go_on_after_a_group_that_cannot_be_read(tmp_path: Path) -> None:
    blocks = [*BLOCKS]
    blocks[40] = swapped_body(BLOCKS[40], BLOCKS[41])
    store_with_roots(tmp_path / "store", blocks, [None] * 50).close()
    segment = sorted((tmp_path / "store" / "sealed").glob("bodies-*"))[0]
    content = bytearray(segment.read_bytes())
    content[100] ^= 0xFF  # in the first frame
    segment.write_bytes(content)
    with blockpack.open(tmp_path / "store") as hurt:
        first, second = verify_roots(hurt)
    assert isinstance(first, CorruptError)
    assert first.file == str(segment)
    assert str(second).startswith(f"block {FIRST + 40}: the transactions root")
