"""era1 files: the real one, made ones, and every way in which one can lie."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path

import chainmaker
import pytest
from chainmaker import entry, framed

from blockpack.chain.formats.era1_reader import read_blocks
from blockpack.chain.formats.stream import ByteStream, FileReader
from blockpack.errors import BlockpackError, CorruptError, UnsupportedVersionError

FIRST, COUNT = 96, 5
BLOCKS = chainmaker.chain(COUNT, FIRST)
PARTS = chainmaker.era1_parts(BLOCKS, FIRST)
ACCUMULATOR, INDEX = len(PARTS) - 2, len(PARTS) - 1


def read(data: bytes, **options: int) -> tuple[list[bytes], BlockpackError | None]:
    """The blocks that come out, and the error that ends them."""
    blocks = []
    stream = ByteStream(FileReader(io.BytesIO(data), "a.era1"), "a.era1")
    try:
        for block in read_blocks(stream, **options):
            blocks.append(bytes(block.rlp))
    except BlockpackError as error:
        return blocks, error
    return blocks, None


def offset_of(part: int) -> int:
    return sum(map(len, PARTS[:part]))


def replaced(part: int, data: bytes) -> bytes:
    return b"".join([*PARTS[:part], data, *PARTS[part + 1:]])


@pytest.mark.parametrize("batch_bytes", [1, 1000, 1 << 20])
def test_blocks_receipts_and_difficulties(batch_bytes: int) -> None:
    stream = ByteStream(FileReader(io.BytesIO(b"".join(PARTS)), "a.era1"), "a.era1")
    got = list(read_blocks(stream, batch_bytes=batch_bytes))
    assert [bytes(block.rlp) for block in got] == BLOCKS
    assert [block.receipts for block in got] == list(map(chainmaker.receipts_of, BLOCKS))
    assert {block.receipts_form for block in got} == {"consensus"}
    assert [block.difficulty for block in got] == chainmaker.difficulties(BLOCKS)
    assert [block.offset for block in got] == [offset_of(1 + 4 * i) for i in range(COUNT)]


def test_unknown_entries_are_skipped() -> None:
    other = entry(b"\0\0", b"skip") + entry(b"zz")
    parts = [PARTS[0], other, *PARTS[1:3], entry(b"\0\0"), *PARTS[3:]]
    got, error = read(b"".join(parts))
    assert got == BLOCKS
    assert error is not None  # the index does not count the entries that were put in
    assert "another offset for block 96" in str(error)


def test_files_one_after_the_other() -> None:
    more = chainmaker.chain(3, FIRST + COUNT, parent=chainmaker.hash_of(BLOCKS[-1]))
    data = b"".join(PARTS + chainmaker.era1_parts(more, FIRST + COUNT))
    assert read(data) == (BLOCKS + more, None)


def test_truncated_at_every_byte() -> None:
    data = b"".join(PARTS)
    ends = [offset_of(1 + 4 * index) for index in range(1, COUNT + 1)]
    for size in range(8, len(data)):
        got, error = read(data[:size])
        assert got == BLOCKS[:sum(end <= size for end in ends)]
        assert isinstance(error, CorruptError)
        assert error.file == "a.era1"
        assert (error.offset or 0) <= size


def index_data(**change: object) -> bytes:
    values = {"start": FIRST, "count": COUNT, "offsets": [
        offset_of(1 + 4 * i) - offset_of(INDEX) for i in range(COUNT)]} | change
    offsets = values["offsets"]
    assert isinstance(offsets, list)
    return entry(b"f2", struct.pack(f"<Q{len(offsets)}qQ", values["start"], *offsets,
                                    values["count"]))


GOOD_OFFSETS = [offset_of(1 + 4 * i) - offset_of(INDEX) for i in range(COUNT)]


@pytest.mark.parametrize(("index", "at", "match"), [
    (index_data(count=8192), 8 + 8 + 8 * COUNT, "count"),
    (index_data(count=COUNT - 1), 8 + 8 + 8 * COUNT, "count"),
    (index_data(count=1 << 63), 8 + 8 + 8 * COUNT, "count"),
    (index_data(offsets=GOOD_OFFSETS[:-1], count=COUNT - 1), 8 + 8 + 8 * (COUNT - 1), "count"),
    (index_data(offsets=[*GOOD_OFFSETS, 0], count=COUNT + 1), 8 + 8 + 8 * (COUNT + 1), "count"),
    (index_data(start=FIRST + 1), 8, "another first block"),
    (index_data(offsets=[0, *GOOD_OFFSETS[1:]]), 16, "another offset for block 96"),
    (index_data(offsets=[*GOOD_OFFSETS[:-1], -(1 << 63)]), 16 + 8 * (COUNT - 1),
     "another offset for block 100"),
    (index_data(offsets=[GOOD_OFFSETS[1], GOOD_OFFSETS[0], *GOOD_OFFSETS[2:]]), 16,
     "another offset for block 96"),
    (entry(b"f2"), 0, "impossible size"),
    (entry(b"f2", bytes(8)), 0, "impossible size"),
    (entry(b"f2", bytes(17)), 0, "impossible size"),
], ids=range(12))
def test_an_index_that_lies(index: bytes, at: int, match: str) -> None:
    got, error = read(replaced(INDEX, index))
    assert got == BLOCKS
    assert isinstance(error, CorruptError)
    assert match in str(error)
    assert (error.file, error.offset) == ("a.era1", offset_of(INDEX) + at)


def test_an_accumulator_that_lies() -> None:
    for data in (bytes(32), bytes(31), PARTS[ACCUMULATOR][8:] + b"\0"):
        got, error = read(replaced(ACCUMULATOR, entry(b"\7\0", data)))
        assert got == BLOCKS
        assert isinstance(error, CorruptError)
        assert "accumulator does not match" in str(error)
        assert error.offset == offset_of(ACCUMULATOR)


def test_a_difficulty_that_lies_is_seen_through_the_accumulator() -> None:
    got, error = read(replaced(4, entry(b"\6\0", bytes(32))))
    assert got == BLOCKS
    assert "accumulator does not match" in str(error)


HEADER_7, BODY_7, RECEIPTS_7, TOTAL_7 = 9, 10, 11, 12  # the entries of the third block


@pytest.mark.parametrize(("part", "data", "match"), [
    (HEADER_7, entry(b"\3\0", b"not snappy at all"), "no framed snappy"),
    (HEADER_7, entry(b"\3\0"), "no framed snappy"),
    (HEADER_7, entry(b"\3\0", framed(b"\x80")), "not one RLP list"),
    (HEADER_7, entry(b"\3\0", framed(chainmaker.header_of(BLOCKS[2]) + b"\xc0")), "not one RLP"),
    (HEADER_7, entry(b"\3\0", framed(chainmaker.header_of(BLOCKS[3]))), "do not follow"),
    (HEADER_7, entry(b"\3\0", framed(b"\xc0")), "header"),
    (BODY_7, entry(b"\4\0", framed(b"\xc1\xc0")), "block"),
    (BODY_7, entry(b"\4\0", framed(b"\xc2\xc0\xc0\xc0")), "not one RLP list"),
    (BODY_7, entry(b"\4\0", framed(bytes.fromhex("ff8000000000000000"))), "RLP item"),
    (BODY_7, entry(b"\4\0", PARTS[BODY_7][8:-1]), "outside of its stream"),
    (RECEIPTS_7, entry(b"\5\0", PARTS[RECEIPTS_7][8:-1] + b"\xee"), "does not decode"),
    (RECEIPTS_7, entry(b"\4\0", PARTS[RECEIPTS_7][8:]), "out of order"),
    (RECEIPTS_7, b"", "out of order"),
    (TOTAL_7, entry(b"\6\0", bytes(31)), "another width"),
    (TOTAL_7, entry(b"\7\0", bytes(32)), "out of order"),
    (TOTAL_7, PARTS[INDEX], "cuts a block"),
], ids=range(16))
def test_a_bad_entry_keeps_the_blocks_before_it(part: int, data: bytes, match: str) -> None:
    got, error = read(replaced(part, data))
    assert got == BLOCKS[:2]
    assert isinstance(error, CorruptError)
    assert match in str(error)
    assert error.file == "a.era1"
    assert offset_of(HEADER_7) <= (error.offset or 0) <= offset_of(TOTAL_7)


@pytest.mark.parametrize(("change", "match"), [
    (lambda parts: parts[:ACCUMULATOR] + parts[INDEX:], "accumulator is missing"),
    (lambda parts: parts[:INDEX], "without a block index"),
    (lambda parts: [*parts, b"\0"], "ends inside"),
    (lambda parts: [*parts, parts[1]], "after the block index"),
    (lambda parts: parts[:INDEX] + parts[1:5] + parts[INDEX:], "after the accumulator"),
    (lambda parts: parts[:INDEX] + parts[ACCUMULATOR:], "after the accumulator"),
], ids=range(6))
def test_a_bad_tail_keeps_all_blocks(change: Callable[[list[bytes]], list[bytes]], match: str
                                     ) -> None:
    got, error = read(b"".join(change(PARTS)))
    assert got == BLOCKS
    assert isinstance(error, CorruptError)
    assert match in str(error)


def test_an_era1_without_blocks() -> None:
    got, error = read(b"".join(chainmaker.era1_parts([], 0)))
    assert got == []
    assert "without blocks" in str(error)


def test_epochs_end_at_their_multiples() -> None:
    blocks = chainmaker.chain(4, 14)
    data = b"".join(chainmaker.era1_parts(blocks, 14))
    assert read(data) == (blocks, None)
    got, error = read(data, epoch_blocks=16)
    assert got == blocks[:2]
    assert "another epoch" in str(error)


@pytest.mark.parametrize(("kind", "named"), [
    (b"\1\0", ".era file"), (b"i2", ".era file"), (b"\3\1", ".e2hs"), (b"g2", ".ere"),
])
def test_sibling_formats_are_named(kind: bytes, named: str) -> None:
    got, error = read(PARTS[0] + entry(kind, b"data"))
    assert got == []
    assert isinstance(error, UnsupportedVersionError)
    assert named in str(error)
    assert "a.era1" in str(error)


def test_the_real_file(testdata: Path) -> None:
    path = testdata / "sepolia-00098-40286059.era1"
    with path.open("rb", buffering=0) as file:
        stream = ByteStream(FileReader(file, "sepolia"), "sepolia")
        blocks = list(read_blocks(stream))
    assert [block.spans.number for block in blocks] == list(range(802_816, 811_008))
    index = path.read_bytes()[-16 - 8 * 8192:]
    record = path.stat().st_size - 24 - 8 * 8192
    for k in (0, 1, 4096, 8191):  # by index as by scan
        offset = struct.unpack_from("<q", index, 8 + 8 * k)[0]
        assert blocks[k].offset == record + offset
