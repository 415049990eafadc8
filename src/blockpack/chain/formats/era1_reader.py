"""Blocks of an era1 file, read in order; the index and the accumulator are checked at its end.

The entries are scanned, never found through the index, because an index may lie: what was scanned
is what the index is checked against, entry by entry. Blocks come out before the end is reached;
a fault in the tail is raised after them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from blockpack._native.keccak import keccak256_many
from blockpack._native.rlp import (
    BLOCK_SIZE_MAX,
    BlockSpans,
    item_span,
    join_block,
    split_block,
)
from blockpack.chain.formats import era1
from blockpack.chain.formats.block import SourceBlock
from blockpack.chain.formats.e2store import HEADER as ENTRY_HEADER
from blockpack.chain.formats.e2store import VERSION, Entry, read_entries
from blockpack.chain.formats.snappy_frames import StreamError, decoded_size, inflate
from blockpack.chain.formats.stream import ByteStream
from blockpack.errors import CorruptError, UnsupportedVersionError

# Decoded bytes inflated by one call: about 1,500 sparse blocks, a handful of dense ones.
BATCH_BYTES = 1 << 20
_STREAMS = 3  # header, body, receipts


class _Tuple(NamedTuple):
    """The entries of one block, still compressed, and what they decode to."""

    entries: list[Entry]
    sizes: list[int]


class _Tail(NamedTuple):
    """What closes an epoch."""

    accumulator: Entry
    block_index: Entry


def read_blocks(stream: ByteStream, epoch_blocks: int = era1.EPOCH_BLOCKS,
                batch_bytes: int = BATCH_BYTES) -> Iterator[SourceBlock]:
    """Every block of one era1 file, or of several that follow each other in one stream.

    Raises CorruptError with the file and the byte offset of the entry at fault, after the blocks
    before it were given; UnsupportedVersionError when this is another kind of e2store file.
    """
    epoch = _Epoch(stream.name, epoch_blocks)
    for batch, tail in _batches(_tuples(stream), batch_bytes):
        yield from epoch.decode(batch)
        if tail is not None:
            epoch.close(tail)
            epoch = _Epoch(stream.name, epoch_blocks)


def _tuples(stream: ByteStream) -> Iterator[_Tuple | _Tail]:
    """Group the entries by the grammar of era1."""
    block: list[Entry] = []
    accumulator: Entry | None = None
    closed = False
    for entry in read_entries(stream):
        if entry.type == VERSION:
            closed = False
        elif closed:
            raise _error(stream.name, entry, "entries after the block index", "the end of the file"
                         " or a Version entry")
        elif entry.type in era1.BLOCK_TYPES:
            block.append(_in_order(stream.name, entry, block, accumulator))
            if len(block) == len(era1.BLOCK_TYPES):
                yield _Tuple(block, _sizes(stream.name, block))
                block = []
        elif entry.type == era1.ACCUMULATOR:
            accumulator = _in_order(stream.name, entry, block, accumulator)
        elif entry.type == era1.INDEX:
            yield _tail(stream.name, block, accumulator, entry)
            accumulator, closed = None, True
        elif entry.type in era1.FOREIGN_TYPES:
            raise UnsupportedVersionError(
                f"{stream.name}: this is {era1.FOREIGN_TYPES[entry.type]} (entry type"
                f" {entry.type.hex()} at byte {entry.offset}); of the e2store formats only era1"
                " is read")
    if not closed:
        raise CorruptError("the era1 file ends without a block index: it is incomplete",
                           file=stream.name, offset=stream.offset, expected="a BlockIndex entry",
                           found="the end of the file")


def _in_order(name: str, entry: Entry, block: list[Entry], accumulator: Entry | None) -> Entry:
    expected = (era1.BLOCK_TYPES[len(block)] if block or entry.type != era1.ACCUMULATOR
                else era1.ACCUMULATOR)
    if entry.type != expected:
        raise _error(name, entry, "an era1 entry is out of order", f"type {expected.hex()}")
    if accumulator is not None:
        raise _error(name, entry, "an era1 entry after the accumulator", "the block index")
    return entry


def _tail(name: str, block: list[Entry], accumulator: Entry | None, index: Entry) -> _Tail:
    if block:
        raise _error(name, index, "the block index cuts a block",
                     f"type {era1.BLOCK_TYPES[len(block)].hex()}")
    if accumulator is None:
        raise _error(name, index, "the accumulator is missing", f"type {era1.ACCUMULATOR.hex()}")
    return _Tail(accumulator, index)


def _sizes(name: str, entries: list[Entry]) -> list[int]:
    sizes = []
    for entry in entries[:_STREAMS]:
        try:
            size = decoded_size(entry.data)
        except CorruptError as error:
            raise _moved(name, entry, error) from None
        if size > BLOCK_SIZE_MAX:
            raise _error(name, entry, "an era1 entry decodes to more than any block",
                         f"at most {BLOCK_SIZE_MAX} bytes", f"{size} bytes")
        sizes.append(size)
    if len(entries[_STREAMS].data) != era1.DIFFICULTY_BYTES:
        raise _error(name, entries[_STREAMS], "a total difficulty of another width",
                     f"{era1.DIFFICULTY_BYTES} bytes", f"{len(entries[_STREAMS].data)} bytes")
    return sizes


def _batches(tuples: Iterator[_Tuple | _Tail], batch_bytes: int
             ) -> Iterator[tuple[list[_Tuple], _Tail | None]]:
    """Blocks to inflate together. What came before a fault is given before it is raised."""
    batch: list[_Tuple] = []
    size = 0
    fault: Exception | None = None
    try:
        for item in tuples:
            if isinstance(item, _Tail):
                yield batch, item
                batch, size = [], 0
                continue
            batch.append(item)
            size += sum(item.sizes)
            if size >= batch_bytes:
                yield batch, None
                batch, size = [], 0
    except (CorruptError, UnsupportedVersionError) as error:
        fault = error
    yield batch, None
    if fault is not None:
        raise fault


class _Epoch:
    """The blocks of one era1 file so far, as its tail will be checked against."""

    def __init__(self, name: str, epoch_blocks: int) -> None:
        self.name = name
        self.epoch_blocks = epoch_blocks
        self.first = 0
        self.offsets: list[int] = []
        self.headers: list[bytes] = []
        self.difficulties: list[int] = []

    def decode(self, batch: list[_Tuple]) -> Iterator[SourceBlock]:
        """The blocks of a batch. A bad stream is raised after the blocks before it."""
        fault: CorruptError | None = None
        streams = [entry.data for item in batch for entry in item.entries[:_STREAMS]]
        sizes = [size for item in batch for size in item.sizes]
        try:
            parts = inflate(streams, sizes)
        except StreamError as error:
            block, part = divmod(error.index, _STREAMS)
            fault = _error(self.name, batch[block].entries[part],
                           "an era1 entry does not decode", "framed snappy", error.reason)
            batch = batch[:block]
            parts = inflate(streams[:block * _STREAMS], sizes[:block * _STREAMS])
        for index, item in enumerate(batch):
            yield self._block(item, *parts[index * _STREAMS:(index + 1) * _STREAMS])
        if fault is not None:
            raise fault

    def _block(self, item: _Tuple, header: memoryview, body: memoryview,
               receipts: memoryview) -> SourceBlock:
        rlp, spans = self._joined(item, header, body)
        first_entry = item.entries[0]
        if not self.offsets:
            self.first = spans.number
        elif spans.number != self.first + len(self.offsets):
            raise _error(self.name, first_entry, "block numbers do not follow each other",
                         self.first + len(self.offsets), spans.number)
        if spans.number // self.epoch_blocks != self.first // self.epoch_blocks:
            raise _error(self.name, first_entry,
                         f"a block of another epoch ({self.epoch_blocks} blocks each)",
                         f"epoch {self.first // self.epoch_blocks}", f"block {spans.number}")
        difficulty = int.from_bytes(item.entries[_STREAMS].data, "little")
        self.offsets.append(first_entry.offset)
        self.headers.append(bytes(header))
        self.difficulties.append(difficulty)
        return SourceBlock(rlp, spans, first_entry.offset, bytes(receipts), "consensus",
                           difficulty)

    def _joined(self, item: _Tuple, header: memoryview, body: memoryview
                ) -> tuple[bytes, BlockSpans]:
        """The block's RLP. Header and body entries must be one RLP list each, to the byte."""
        for entry, part in zip(item.entries, (header, body), strict=False):
            try:
                _, end = item_span(part)
            except CorruptError as error:
                raise _moved(self.name, entry, error) from None
            if end != len(part) or part[0] < 0xC0:
                raise _error(self.name, entry, "an era1 header or body is not one RLP list",
                             f"a list of {len(part)} bytes", f"one item of {end} bytes")
        start, end = item_span(body)
        rlp = join_block(header, body[start:end])
        try:
            return rlp, split_block(rlp)
        except CorruptError as error:
            raise _moved(self.name, item.entries[0], error) from None

    def close(self, tail: _Tail) -> None:
        """Check the index and the accumulator against what was scanned."""
        if not self.offsets:
            raise _error(self.name, tail.block_index, "an era1 file without blocks", "blocks")
        self._check_accumulator(tail.accumulator)
        self._check_index(tail.block_index)

    def _check_accumulator(self, entry: Entry) -> None:
        root = era1.accumulator(keccak256_many(self.headers), self.difficulties)
        if entry.data != root:
            raise _error(self.name, entry,
                         "the accumulator does not match the headers and difficulties",
                         root.hex(), bytes(entry.data).hex())

    def _check_index(self, entry: Entry) -> None:
        count = len(self.offsets)
        data, start = entry.data, entry.offset + ENTRY_HEADER.size
        expected = era1.encode_index(self.first, [at - entry.offset for at in self.offsets])
        if data == expected:
            return
        end = era1.INDEX_EDGE.size
        if len(data) < 2 * end or len(data) % end:
            raise _error(self.name, entry, "a block index of an impossible size",
                         f"{len(expected)} bytes", f"{len(data)} bytes")
        claimed = era1.INDEX_EDGE.unpack(data[-end:])[0]
        if claimed != count or len(data) != len(expected):
            raise CorruptError(
                "the block index does not have the count of the blocks in the file",
                file=self.name, offset=start + len(data) - end, expected=count,
                found=f"{claimed}, in {(len(data) - 2 * end) // end} offsets")
        at = next(i for i in range(0, len(data), end) if data[i:i + end] != expected[i:i + end])
        raise CorruptError(
            "the block index has another first block" if at == 0 else
            f"the block index has another offset for block {self.first + at // end - 1}",
            file=self.name, offset=start + at,
            expected=int.from_bytes(expected[at:at + end], "little", signed=True),
            found=int.from_bytes(data[at:at + end], "little", signed=True))


def _error(name: str, entry: Entry, message: str, expected: object, found: object = None
           ) -> CorruptError:
    return CorruptError(message, file=name, offset=entry.offset, expected=expected,
                        found=f"type {entry.type.hex()}" if found is None else found)


def _moved(name: str, entry: Entry, error: CorruptError) -> CorruptError:
    """The same fault, located in the file by the entry whose decoded data have it."""
    message = f"{error.args[0]}, in the data of the entry of type {entry.type.hex()}"
    return CorruptError(message, file=name, offset=entry.offset, expected=error.expected,
                        found=error.found)
