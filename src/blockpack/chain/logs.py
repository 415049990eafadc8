"""Logs of a range of blocks, found by the blooms in the headers and then in the receipts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from blockpack._native.keccak import keccak256, keccak256_many
from blockpack._native.logs import Log, LogFilter
from blockpack._native.rlp import item_span, list_items
from blockpack.chain import reading
from blockpack.errors import CorruptError, MissingError
from blockpack.store.records import RecordStore
from blockpack.store.tables import BODIES, HEADERS, NAMES, RECEIPTS

Value = bytes | bytearray | memoryview | str
AddressFilter = Value | Iterable[Value] | None
TopicsFilter = Sequence[Value | Iterable[Value] | None] | None

_LIST_MIN = 0xC0


class BlockOrigin:
    """The block of some logs or receipts: ``number``, ``hash``, and of its transactions the
    hashes and types, when asked.
    """

    __slots__ = ("_hash", "_hashes", "_header", "_records", "_types", "number")

    def __init__(self, number: int, header: bytes, records: RecordStore | None) -> None:
        self.number = number
        self._header = header
        self._records = records
        self._hash: bytes | None = None
        self._hashes: list[bytes] | None = None
        self._types = b""

    @property
    def hash(self) -> bytes:
        """32 bytes."""
        if self._hash is None:
            self._hash = keccak256(self._header)
        return self._hash

    def transaction_hash(self, index: int) -> bytes:
        """The hash of a transaction, 32 bytes; the first call reads the block's body.

        MissingError when the block is no longer in the store, ClosedError after it was closed.
        """
        return self._known()[index]

    def transaction_type(self, index: int) -> int:
        """The type of a transaction, 0 for legacy; read as its hash is."""
        self._known()
        return self._types[index]

    def _known(self) -> list[bytes]:
        if self._hashes is None:
            payloads = self._read_payloads()
            self._types = bytes(one[0] if one[0] < _LIST_MIN else 0 for one in payloads)
            self._hashes = keccak256_many(payloads)
        return self._hashes

    def _read_payloads(self) -> list[memoryview]:
        if self._records is None:
            raise MissingError(f"block {self.number}: the transactions are not at hand")
        header, body = self._records.views((HEADERS, BODIES), self.number)
        if header is None or body is None or bytes(header) != self._header:
            raise MissingError(f"block {self.number} was cut from the store since its logs"
                               " or receipts were read")
        return [body[start if body[start] >= _LIST_MIN else item_span(body, start)[0]:end]
                for start, end in list_items(body)]

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the store: hashes and types are read now."""
        return _restored, (self.number, self._header, self._known(), self._types)


def _restored(number: int, header: bytes, hashes: list[bytes], types: bytes) -> BlockOrigin:
    origin = BlockOrigin(number, header, None)
    origin._hashes, origin._types = hashes, types
    return origin


def find_logs(records: RecordStore, start: int, stop: int, address: AddressFilter,
              topics: TopicsFilter, *, blooms: bool) -> Iterator[Log]:
    """See ``BlockStore.logs``. Bad filters and ranges raise here, not on the way."""
    addresses = _values(address)
    wanted = LogFilter(addresses, [_values(position) for position in topics or ()])
    if start >= stop:
        return iter(())
    records.rows((), start, stop)  # raises for a range outside of the store
    _require_receipts(records, start, stop)
    return _found(records, start, stop, wanted, blooms)


def _values(given: Value | Iterable[Value] | None) -> list[bytes]:
    """One value or several; None is no choice among values, as an empty list is."""
    if given is None:
        return []
    if isinstance(given, str | bytes | bytearray | memoryview):
        return [value_of(given)]
    return [value for one in given for value in _values(one)]


def value_of(given: Value) -> bytes:
    """Bytes as they are or from 0x... text; ValueError for other text."""
    if isinstance(given, str):
        if not given.startswith("0x"):
            raise ValueError(f"{given!r} is neither bytes nor hex that starts with 0x")
        return bytes.fromhex(given[2:])
    return bytes(given)


def _require_receipts(records: RecordStore, start: int, stop: int) -> None:
    for first, last in records.coverage(RECEIPTS):
        if first <= start <= last:
            start = last + 1
    if start < stop:
        raise MissingError(f"logs are in the receipts, and the store has no {NAMES[RECEIPTS]} for"
                           f" block {start}")


def _found(records: RecordStore, start: int, stop: int, wanted: LogFilter, blooms: bool
           ) -> Iterator[Log]:
    apart = max(1, records.knobs.block_group_size - 1)  # as in BlockStore.get_many
    for first, group, low, high in records.groups(HEADERS, start, stop):
        headers: list[Any] = []
        for number, header in enumerate(group.views(low, high, False), first + low):
            if header is None:
                raise reading.missing(HEADERS, number)
            headers.append(header)
        del group
        candidates = wanted.candidates(headers) if blooms else range(len(headers))
        numbers = [first + low + index for index in candidates]
        for run in reading.runs(numbers, apart):
            chosen = set(numbers).intersection(run)
            for number, (header, record) in zip(run, _receipts(records, run), strict=True):
                if number in chosen:
                    yield from _logs_of(number, header, record, records, wanted)


def _receipts(records: RecordStore, run: range) -> Iterable[Sequence[memoryview | None]]:
    """(header, receipts record) of a run; a block alone is inflated no further than to its end.

    Header and receipts of one moment: the header whose bloom was looked at may be that of a block
    which the writer has cut since.
    """
    tables = (HEADERS, RECEIPTS)
    if len(run) == 1:
        return [records.views(tables, run[0])]
    return records.rows(tables, run[0], run[-1] + 1)


def _logs_of(number: int, header: memoryview | None, record: memoryview | None,
             records: RecordStore, wanted: LogFilter) -> list[Log]:
    if header is None or record is None:
        raise reading.missing(HEADERS if header is None else RECEIPTS, number)
    try:
        return wanted.matches(record, BlockOrigin(number, bytes(header), records))
    except CorruptError as fault:
        raise CorruptError(f"block {number}: receipts: {fault.args[0]}", offset=fault.offset
                           ) from None
