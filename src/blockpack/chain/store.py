"""A chain's blocks in a folder: append at the head, read by number."""

from __future__ import annotations

import hashlib
import operator
import os
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Literal, overload

from blockpack._native.block import Block
from blockpack._native.counters import Counters
from blockpack._native.header import Header, header_view
from blockpack._native.logs import Log
from blockpack._native.receipt import Receipts
from blockpack._native.rlp import BlockSpans, split_block
from blockpack.chain import reading
from blockpack.chain.links import Chain
from blockpack.chain.logs import (
    AddressFilter,
    BlockOrigin,
    TopicsFilter,
    Value,
    find_logs,
    value_of,
)
from blockpack.chain.ranges import BlockRange, clamped
from blockpack.chain.records import (
    CONSENSUS,
    Buffer,
    decode_difficulty,
    encode_difficulty,
    encode_receipts,
    join,
    split,
    split_receipts,
)
from blockpack.errors import CorruptError, MissingError, NotYetError
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore
from blockpack.store.repacking import Progress, RepackResult
from blockpack.store.tables import BODIES, DIFFICULTY, HEADERS, IDS, NAMES, RECEIPTS

_TABLE_IDS = {name: table for table, name in NAMES.items()}


class BlockStore:
    """Blocks ``first`` to ``head`` of one chain, one writer and any number of readers.

    Made by ``blockpack.create`` and ``blockpack.open``. Reads may come from any thread. A number
    past the head is a NotYetError, one before the first block a MissingError; a negative number
    counts from the head, -1 being the head. Everything raises ClosedError after ``close``.
    """

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._chain: Chain | None = None
        self._write_lock = threading.Lock()

    # -- life --------------------------------------------------------------------------------

    def close(self) -> None:
        """Make everything durable, wait for full segments to be sealed, and let go."""
        self._records.close()

    def __enter__(self) -> BlockStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._records.close(wait=kind is None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Handles travel by path, and always to a reader: a store has one writer."""
        records = self._records
        return open_store, (records.path, "r", records.cache_bytes, records.mmap)

    def __repr__(self) -> str:
        records = self._records
        if records.closed:
            return f"<BlockStore {records.path} closed>"
        return f"<BlockStore {records.path} {records.mode!r} {records.first}..{records.head}>"

    # -- what it is --------------------------------------------------------------------------

    @property
    def path(self) -> str:
        return self._records.path

    @property
    def records(self) -> RecordStore:
        """The store of records below, for tools that look at tables rather than blocks."""
        return self._records

    @property
    def knobs(self) -> Knobs:
        return self._records.knobs

    @property
    def first(self) -> int | None:
        """The first block's number; None until it is decided."""
        return self._records.first

    @property
    def head(self) -> int | None:
        """The last block's number; None when empty. For a reader, as of its last refresh."""
        return self._records.head

    @property
    def chain_id(self) -> int | None:
        """The chain id, None until it is given or a transaction tells it."""
        return self._records.chain_id

    @property
    def counters(self) -> Counters:
        """What reading and writing has cost since the store was opened."""
        return self._records.counters

    def info(self) -> dict[str, Any]:
        """Sizes per table and segment, to the byte, and the store's identity and knobs."""
        return self._records.info()

    def coverage(self, table: str) -> list[tuple[int, int]]:
        """Intervals (first, last) of the numbers that have a record in the table of this name."""
        return self._records.coverage(_TABLE_IDS[table])

    def digest(self) -> bytes:
        """32 bytes that depend on the records and their numbers alone, not on how they are kept."""
        total = hashlib.sha256()
        for table in IDS:
            total.update(bytes((table,)) + bytes(self._records.digest(table)))
        return total.digest()

    # -- writing -----------------------------------------------------------------------------

    def append(self, rlp: Buffer, receipts: Buffer | None = None, difficulty: int | None = None,
               *, receipts_form: str = CONSENSUS) -> None:
        """Append one block; buffered until ``sync``.

        ``receipts`` are an RLP list in the form named, ``difficulty`` the total difficulty up to
        and with the block. Refused, with nothing written: SequenceError (another number than
        head + 1), ForkError (another parent), ChainMismatchError (another chain's transactions),
        CorruptError (no canonical block RLP, or bytes after it), LimitError (over 1 GiB).
        """
        spans = split_block(rlp)
        if spans.end != len(rlp):
            raise CorruptError("bytes follow the block", offset=spans.end,
                               expected=f"{spans.end} bytes", found=f"{len(rlp)} bytes")
        self.append_split(rlp, spans, receipts, difficulty, receipts_form)

    def append_split(self, rlp: Buffer, spans: BlockSpans, receipts: Buffer | None = None,
                     difficulty: int | None = None, receipts_form: str = CONSENSUS) -> None:
        """As ``append``, of a block that was split already."""
        self._check_writable()
        header, body = split(rlp, spans)
        made = block_records(header, body, receipts, difficulty, receipts_form)
        with self._write_lock:
            chain = self._standing()
            chain_id = chain.check(spans)
            try:
                if chain_id is not None:
                    self._records.set_chain(chain_id, spans.number)
                    chain.chain_id = chain_id
                self._records.append(spans.number, made)
            except BaseException:
                # A failed write may have taken back more than this block.
                self._chain = None
                raise
            chain.advance(spans, header)

    def _check_writable(self) -> None:
        """Before the lock is taken: in a forked child it may be held by a thread that is not."""
        if self._records.closed or self._records.mode != "a":
            self._records.sync()  # raises what there is to say

    def _standing(self) -> Chain:
        """Where the chain stands, made anew after anything but an append has moved the head."""
        head = self._records.head
        want = self._records.first if head is None else head + 1
        if self._chain is None or self._chain.want != want:
            self._chain = standing(self._records)
        return self._chain

    def sync(self) -> None:
        """Return when everything appended is durable, and other processes can see it."""
        self._records.sync()

    def seal(self) -> None:
        """Seal the open segment now, full or not, lag or not, and wait for it."""
        self._records.seal()

    def repack(self, threads: int = 1, progress: Progress | None = None,
               **knobs: Any) -> RepackResult:
        """Pack sealed segments that differ from these knobs again; see RecordStore.repack."""
        return self._records.repack(threads, progress, **knobs)

    def truncate(self, last: int) -> None:
        """Cut every block after ``last``, durably; ``first - 1`` empties the store."""
        self._check_writable()
        with self._write_lock:
            self._chain = None
            self._records.truncate(operator.index(last))

    def refresh(self) -> bool:
        """See what the writer has synced since; whether anything changed."""
        return self._records.refresh()

    # -- reading one block -------------------------------------------------------------------

    def raw(self, number: int) -> bytes:
        """The block's RLP, byte for byte as it was appended."""
        header, body = self._records.views(reading.BLOCK_TABLES, self._absolute(number))
        if header is None or body is None:
            raise reading.missing(HEADERS if header is None else BODIES, self._absolute(number))
        return join(header, body)

    def view(self, number: int) -> tuple[memoryview, memoryview]:
        """(header, body) as views, which keep alive what they view."""
        number = self._absolute(number)
        header, body = self._records.views(reading.BLOCK_TABLES, number)
        if header is None or body is None:
            raise reading.missing(HEADERS if header is None else BODIES, number)
        return header, body

    def header(self, number: int) -> Header:
        """The block's header, without inflating any body."""
        return header_view(self._record(HEADERS, self._absolute(number)))

    def receipts(self, number: int) -> Receipts:
        """The block's receipts: a sequence, its bytes as their source had them, and their form."""
        number = self._absolute(number)
        header, record = self._records.views((HEADERS, RECEIPTS), number)
        if header is None or record is None:
            raise reading.missing(HEADERS if header is None else RECEIPTS, number)
        receipts, form = split_receipts(record)
        return Receipts(receipts, form, BlockOrigin(number, bytes(header), self._records))

    def difficulty(self, number: int) -> int:
        """The total difficulty up to and with the block."""
        return decode_difficulty(self._record(DIFFICULTY, self._absolute(number)))

    def find(self, block_hash: Value) -> int | None:
        """The number of the block with this hash, 32 bytes or 0x... text; None where there is none.

        A few microseconds a sealed segment, the newest first. A block's hash is the keccak of its
        header's bytes; on chains where it is not (``links`` "none"), that is what is looked for.
        """
        digest = value_of(block_hash)
        if len(digest) != 32:
            raise ValueError(f"a block hash has 32 bytes, not {len(digest)}")
        return self._records.find(HEADERS, digest)

    def _record(self, table: int, number: int) -> bytes:
        record = self._records.record(table, number)
        if record is None:
            raise reading.missing(table, number)
        return record

    def _absolute(self, number: int) -> int:
        number = operator.index(number)
        if number >= 0:
            return number
        head = self._records.head
        if head is None:
            raise NotYetError(f"the store is empty: it has no block {number}")
        if number + head + 1 < (self._records.first or 0):
            raise MissingError(f"the store has no block {number}: it has {len(self)}")
        return number + head + 1

    @overload
    def __getitem__(self, index: int) -> Block: ...

    @overload
    def __getitem__(self, index: slice) -> BlockRange: ...

    def __getitem__(self, index: int | slice) -> Block | BlockRange:
        """A block, or a range by absolute number that clamps as a sequence does."""
        if isinstance(index, slice):
            return BlockRange(self, clamped(index, self._records.first, self._records.head))
        header, body = self.view(index)
        return Block(bytes(header), bytes(body))

    # -- reading many ------------------------------------------------------------------------

    def __len__(self) -> int:
        head, first = self._records.head, self._records.first
        return 0 if head is None or first is None else head - first + 1

    def __bool__(self) -> bool:
        """A store is true, an empty one too."""
        return True

    def __contains__(self, number: object) -> bool:
        head, first = self._records.head, self._records.first
        if head is None or first is None or not hasattr(number, "__index__"):
            return False
        return first <= operator.index(number) <= head

    def __iter__(self) -> Iterator[Block]:
        """Every block from the first to what is now the head."""
        return iter(self[:])

    @overload
    def raw_range(self, start: int, stop: int, max_bytes: int | None = None,
                  views: Literal[False] = False, threads: int = 1) -> Iterator[bytes]: ...

    @overload
    def raw_range(self, start: int, stop: int, max_bytes: int | None = None, *,
                  views: Literal[True],
                  threads: int = 1) -> Iterator[tuple[memoryview, memoryview]]: ...

    def raw_range(self, start: int, stop: int, max_bytes: int | None = None, views: bool = False,
                  threads: int = 1) -> Iterator[bytes] | Iterator[tuple[memoryview, memoryview]]:
        """Blocks start, start + 1, ... stop - 1: their RLP, or (header, body) views.

        A range past the head or before the first block raises here, not on the way. Each group
        is inflated once. ``max_bytes`` ends the iteration before the block that would take the
        records' bytes past it; the first block always comes. With several ``threads``, groups are
        inflated ahead, two jobs of some MB for each thread. Where the writer cuts the store
        meanwhile and takes another fork, the rest may come from that fork.
        """
        start, stop = operator.index(start), operator.index(stop)
        if start >= stop:
            return iter(())
        if threads == 1:
            pairs = reading.views(self._records, start, stop)
        else:
            pairs = reading.views_by_threads(self._records, start, stop, threads)
        if max_bytes is not None:
            pairs = reading.limited(pairs, max_bytes)
        return pairs if views else reading.raws(pairs)

    def logs(self, start: int, stop: int, address: AddressFilter = None,
             topics: TopicsFilter = None, *, blooms: bool = True) -> Iterator[Log]:
        """The logs of blocks start .. stop - 1 that eth_getLogs would give, in chain order.

        ``address`` is one or a list of them, None or an empty list for all. ``topics`` has a
        topic, a list of them (any of these) or None (any at all) for each position; a log with
        fewer topics than that does not match. Values are bytes or 0x... text.

        Receipts of blocks whose header's bloom rules them out are not inflated; ``blooms`` False
        is for chains whose headers have none. MissingError up front where the store lacks the
        receipts of a block of the range, otherwise as ``raw_range``; CorruptError on the way.
        """
        return find_logs(self._records, operator.index(start), operator.index(stop), address,
                         topics, blooms=blooms)

    def get_many(self, numbers: Iterable[int]) -> list[bytes]:
        """The RLP of each of these blocks, in the order asked for.

        They are read in number order; numbers that share a group inflate it once.
        """
        wanted = [self._absolute(number) for number in numbers]
        asked = set(wanted)
        distinct = sorted(asked)
        for number in distinct[:1] + distinct[-1:]:
            self._records.rows(reading.BLOCK_TABLES, number, number + 1)  # raises up front
        # Numbers less than a group apart lie in one group or in two that touch.
        apart = max(1, self._records.knobs.block_group_size - 1)
        found: dict[int, bytes] = {}
        for run in reading.runs(distinct, apart):
            if len(run) == 1:
                found[run[0]] = self.raw(run[0])
                continue
            pairs = reading.views(self._records, run[0], run[-1] + 1)
            found |= {number: join(*pair) for number, pair in zip(run, pairs, strict=True)
                      if number in asked}
        return [found[number] for number in wanted]


def block_records(header: Buffer, body: Buffer, receipts: Buffer | None, difficulty: int | None,
                  receipts_form: str) -> dict[int, Any]:
    """All records of one block, by table."""
    made: dict[int, Any] = {HEADERS: header, BODIES: body}
    if receipts is not None:
        made[RECEIPTS] = encode_receipts(receipts, receipts_form)
    if difficulty is not None:
        made[DIFFICULTY] = encode_difficulty(difficulty)
    return made


def standing(records: RecordStore) -> Chain:
    """Where the chain of a record store stands."""
    head = records.head
    header = None if head is None else records.record(HEADERS, head)
    return Chain(want=records.first if head is None else head + 1, head_header=header,
                 chain_id=records.chain_id, hash_links=records.knobs.links == "hash")


def create(path: str | os.PathLike[str], chain_id: int | None = None, *, compression: str = "s2",
           compression_level: int | str = 1, seal_compression_level: int | str = 6,
           block_group_size: int = 64, segment_blocks: int = 50_000,
           first_block: int | None = None, seal_dictionary: str = "none", seal_lag: int = 64,
           segment_bytes: int = 8 << 30, links: str = "hash", cache_bytes: int | None = None,
           mmap: bool = True, seal_threads: int = 1) -> BlockStore:
    """Make a store in a new or empty folder, and open it for writing.

    ``chain_id`` None is learnt from the first transaction that carries one, ``first_block`` None
    from the first append. Levels are numbers or tier names; ``segment_bytes`` counts decoded
    bytes. ``links`` "none" leaves parent hashes unchecked, for chains whose block hash is not
    the keccak of the header (IBFT, Clique). ``seal_threads`` pack segments in the background.
    Raises KnobError and FileExistsError.
    """
    knobs = Knobs(
        compression=compression, compression_level=compression_level,
        seal_compression_level=seal_compression_level, block_group_size=block_group_size,
        segment_blocks=segment_blocks, segment_bytes=segment_bytes, seal_lag=seal_lag,
        seal_dictionary=seal_dictionary, links=links)
    return BlockStore(RecordStore.create(path, knobs, first=first_block, chain_id=chain_id,
                                         cache_bytes=cache_bytes, mmap=mmap,
                                         seal_threads=seal_threads))


def open_store(path: str | os.PathLike[str], mode: str = "r", cache_bytes: int | None = None,
               mmap: bool = True, block_group_size: int | None = None, *,
               seal_threads: int = 1, **knobs: Any) -> BlockStore:
    """Open a store: "r" reads and writes nothing at all, "a" is its one writer.

    ``cache_bytes`` is for inflated groups (None: the largest group); ``mmap`` False reads with
    pread, for network file systems. A writer may change any knob that is not locked; another
    ``block_group_size`` than the store's is a KnobError in both modes. Raises FileNotFoundError,
    LockedError, CorruptError, UnsupportedVersionError.
    """
    return BlockStore(RecordStore.open(path, mode, cache_bytes=cache_bytes, mmap=mmap,
                                       block_group_size=block_group_size,
                                       seal_threads=seal_threads, **knobs))
