"""A store of numbered records: tables that grow at the head, seal behind it and are cut together.

Opaque bytes in, the same bytes out; what a record means is the caller's business. One writer per
store (a lock file), any number of readers in any process (no lock).
"""

from __future__ import annotations

import os
import secrets
import struct
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from blockpack._native.counters import Counters
from blockpack._native.group import Group
from blockpack._native.rows import Rows
from blockpack.errors import (
    BlockpackError,
    ClosedError,
    CorruptError,
    KnobError,
)
from blockpack.segment.cache import GroupCache
from blockpack.segment.digest import Digest
from blockpack.store import recovery, report
from blockpack.store.direct import DirectWriter
from blockpack.store.finding import Finder
from blockpack.store.follower import Follower
from blockpack.store.fs import SYSTEM, FileSystem
from blockpack.store.knobs import CHAIN_ID_MAX, REPACKED, Knobs, check_between
from blockpack.store.manifest import Manifest, SegmentRow
from blockpack.store.repacking import RepackResult, repack
from blockpack.store.state import ReaderPool, State
from blockpack.store.verify import Progress, verify_store
from blockpack.store.windows import Windows
from blockpack.store.writer import NUMBER_LAST, Writer

_Result = TypeVar("_Result")
_OPEN: weakref.WeakSet[RecordStore] = weakref.WeakSet()


class _Closed:
    """Stands where the writer or follower was: whatever is asked of it raises."""

    def __init__(self, path: str, why: str) -> None:
        self._message = f"{path}: {why}"

    def __getattr__(self, name: str) -> NoReturn:
        raise ClosedError(self._message)


class RecordStore:
    """One store of numbered records, opened for reading ("r") or for writing ("a").

    Reads may come from any thread and take no lock. Writes may come from any thread, one at a
    time. Every method raises ClosedError once the store is closed, in a forked child of a writer,
    or (writes only) after a failed fsync.
    """

    def __init__(self, path: str, mode: str, *, cache_bytes: int | None, mmap: bool,
                 fs: FileSystem, knobs: dict[str, Any], seal_threads: int) -> None:
        """Use create() or open()."""
        self.path = path
        self.mode = mode
        self.mmap = mmap
        self.cache_bytes = cache_bytes
        self.counters = Counters()
        self._partial_coverage: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._finder = Finder()
        self._pool = self._new_pool()
        self._role: Any  # Writer, Follower or _Closed
        if mode == "a":
            self._role = recovery.open_writer(path, fs, self._pool, self.counters, knobs,
                                              seal_threads=seal_threads)
        else:
            self._role = Follower(path, self._pool)
        self._writer: Writer | None = self._role if mode == "a" else None
        _OPEN.add(self)

    def _new_pool(self) -> ReaderPool:
        return ReaderPool(self.path, self.counters, GroupCache(self.cache_bytes), self.mmap)

    # -- life --------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | os.PathLike[str], knobs: Knobs | None = None, *,
               first: int | None = None, chain_id: int | None = None,
               cache_bytes: int | None = None, mmap: bool = True, seal_threads: int = 1,
               fs: FileSystem = SYSTEM) -> RecordStore:
        """Make an empty store in a new or empty folder and open it for writing.

        ``first`` fixes the number of the first record (None: the first append decides);
        ``chain_id`` fixes the chain (None: see set_chain). Raises FileExistsError for a folder
        that holds anything, KnobError.
        """
        checked = recovery.checked_knobs(knobs or Knobs())
        if first is not None:
            check_between("first", first, 0, NUMBER_LAST)
        if chain_id is not None:
            check_between("chain_id", chain_id, 0, CHAIN_ID_MAX)
        manifest = Manifest(secrets.token_hex(16), checked, first=first, chain_id=chain_id)
        recovery.create_store(os.fspath(path), manifest, fs)
        return cls.open(path, "a", cache_bytes=cache_bytes, mmap=mmap, seal_threads=seal_threads,
                        fs=fs)

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: str = "r", *,
             cache_bytes: int | None = None, mmap: bool = True, seal_threads: int = 1,
             fs: FileSystem = SYSTEM, **knobs: Any) -> RecordStore:
        """Open a store: "r" writes nothing and takes no lock, "a" is the one writer.

        ``knobs`` (writer only, but block_group_size, which a reader may name too) change what
        can be changed; KnobError for a locked one with another value. ``seal_threads`` pack in
        the background, the bytes being the same whatever their number. Raises FileNotFoundError
        where there is no store, LockedError for a second writer, CorruptError,
        UnsupportedVersionError.
        """
        if mode not in ("r", "a"):
            raise ValueError(f"mode is {mode!r}, it must be 'r' or 'a'")
        given = {name: value for name, value in knobs.items() if value is not None}
        if mode == "r" and given.keys() - {"block_group_size"}:
            raise KnobError(f"opened for reading, {', '.join(given)} cannot change")
        store = cls(os.fspath(path), mode, cache_bytes=cache_bytes, mmap=mmap, fs=fs, knobs=given,
                    seal_threads=seal_threads)
        if mode == "r":
            store.knobs.changed(**given)
        return store

    def close(self, wait: bool = True) -> None:
        """Sync, then wait for the full segments to be sealed (or abandon that), then let go.

        Everything is let go of even when the sync or the seal failed; its error is then raised.
        Closing twice does nothing.
        """
        role = self._role
        if isinstance(role, _Closed):
            return
        try:
            if isinstance(role, Writer):
                role.close(wait)
        finally:
            self._role = _Closed(self.path, "the store is closed")
            self._pool.clear()

    def __enter__(self) -> RecordStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close(wait=kind is None)

    def _forked(self) -> None:
        """In a forked child: a writer's handle is dead; a reader's goes on with its own locks."""
        role = self._role
        if isinstance(role, Writer):
            role.forked()
            self._role = _Closed(self.path, role.closed or "")
        elif isinstance(role, Follower):
            self._pool = self._new_pool()
            self._finder = Finder()
            role.forked(self._pool)

    # -- what it is --------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        return isinstance(self._role, _Closed)

    @property
    def knobs(self) -> Knobs:
        return self._state.manifest.knobs

    @property
    def first(self) -> int | None:
        """The number of the first record; None until it is decided."""
        return self._state.manifest.first

    @property
    def head(self) -> int | None:
        """The last number, None when empty. A reader's is that of its last refresh."""
        state = self._state
        end = state.end
        return None if end is None or end == state.manifest.first else end - 1

    @property
    def chain_id(self) -> int | None:
        """The chain's id, None until it is known."""
        return self._state.manifest.chain_id

    def set_chain(self, chain_id: int, since: int) -> None:
        """Remember the chain id, learnt from record number ``since`` (call it before its append).

        Durable when it returns. Cutting the store before ``since`` forgets it again.
        Raises ChainMismatchError when the store has another id.
        """
        self._writing.set_chain(chain_id, since)

    @property
    def _state(self) -> State:
        return self._role.state  # type: ignore[no-any-return]

    @property
    def _writing(self) -> Writer:
        role = self._role
        if isinstance(role, Follower):
            raise ClosedError(f"{self.path}: opened for reading; open it with mode 'a' to write")
        return role  # type: ignore[no-any-return]

    # -- writing -----------------------------------------------------------------------------

    def append(self, number: int, records: Mapping[int, bytes]) -> None:
        """Append all records of one number ({table id: bytes}); buffered until sync.

        Raises SequenceError unless ``number`` is head + 1 (or decides ``first``), LimitError over
        1 GiB a record. After an OSError (disk full) the store's head is the last block on disk:
        go on from head + 1. Waits while more than two full segments are not sealed yet.
        A failed background seal is raised here too, before anything is appended; it is tried
        again, and its blocks stay readable.
        """
        self._writing.append(number, records)

    def sync(self) -> None:
        """Return when everything appended is durable and other processes can see it.

        After an OSError (disk full) go on from head + 1, as with append: what could not be
        written was taken back.
        """
        self._writing.sync()

    def seal(self) -> None:
        """Seal everything appended so far, full segments or not, and wait for it."""
        self._writing.seal()

    def truncate(self, last: int) -> None:
        """Cut every table after number ``last`` (first - 1 empties the store); durable.

        A ``last`` at or past the head changes nothing.
        """
        self._writing.truncate(last)

    @property
    def at_border(self) -> bool:
        """Whether the next number starts a new segment (also true when empty)."""
        return self._writing.at_border

    def direct_writer(self, threads: int | None = None) -> DirectWriter:
        """A context manager whose ``append(number, records)`` packs straight into segments.

        Only at_border: fill an open segment with append first. Each segment is published when
        it is full; leaving the block publishes the last one, short; leaving it by an exception
        drops what is not published. The store's head moves only with whole segments:
        the writer's own ``next`` is the number that it takes.
        """
        return DirectWriter(self._writing, threads or os.cpu_count() or 1)

    def repack(self, threads: int = 1, progress: Progress | None = None,
               **knobs: Any) -> RepackResult:
        """Pack every sealed segment that differs again with these knobs, which the store keeps.

        block_group_size, locked for append, can change here. Segments keep their borders:
        segment_blocks and segment_bytes count for new ones. Readers and the writer go on
        meanwhile. At most one segment more is on disk; each replaces its old one durably, so that
        after any interruption the same call goes on. A damaged segment is left as it is and among
        the result's faults. Raises KnobError, OSError (disk full: nothing is lost).
        """
        writer = self._writing
        wanted = recovery.checked_knobs(self.knobs.changed(REPACKED, **knobs))
        return repack(writer, wanted, threads, progress)

    # -- reading -----------------------------------------------------------------------------

    def refresh(self) -> bool:
        """See what the writer has synced since (readers); whether anything changed."""
        role = self._role
        return False if isinstance(role, Writer) else bool(role.refresh())

    def record(self, table: int, number: int) -> bytes | None:
        """One record, its own bytes; None where the table has none for this number.

        Raises NotYetError past the head (a reader refreshes first), MissingError before first.
        """
        state = self._role.state
        if state.first <= number < state.sealed_end:
            try:
                return state.sealed.record(table, number)  # type: ignore[no-any-return]
            except FileNotFoundError:
                pass  # the state is out of date
        return self._settled(number, lambda state: state.record(table, number))

    def view(self, table: int, number: int) -> memoryview | None:
        """As record(), as a view that pins the decoded group (no copy where it is cached)."""
        return self.views((table,), number)[0]

    def views(self, table_ids: Sequence[int], number: int) -> list[memoryview | None]:
        """One number's records of several tables, as view() gives them, all of one moment.

        Reading table by table could meet two states, and so two blocks, in a row.
        """
        state = self._role.state
        if state.first <= number < state.sealed_end:
            try:
                return state.sealed.views(table_ids, number)  # type: ignore[no-any-return]
            except FileNotFoundError:
                pass
        return self._settled(
            number, lambda state: [state.view(table, number) for table in table_ids])

    def find(self, table: int, digest: bytes) -> int | None:
        """The number of the record with this Keccak-256, the highest one; None where there is none.

        ``digest`` has 32 bytes. A reader that does not find it refreshes first.
        """
        def search(state: State) -> int | None:
            return self._finder.find(state, table, digest)

        found = self._retried(search)
        return self._retried(search) if found is None and self.refresh() else found

    def rows(self, table_ids: Sequence[int], start: int,
             stop: int) -> Iterator[tuple[memoryview | None, ...]]:
        """For each number of the range, its records of several tables, all of one moment.

        As groups() otherwise: checked at the call, and every group is decoded once.
        """
        if start < stop:
            self._require(start, stop)
        return self._rows(table_ids, start, stop)

    def _rows(self, table_ids: Sequence[int], start: int,
              stop: int) -> Iterator[tuple[memoryview | None, ...]]:
        while start < stop:
            state = self._require(start, stop)
            try:
                rows = Rows([state.groups(table, start, stop) for table in table_ids])
                while start < stop:
                    yield next(rows)
                    start += 1
            except FileNotFoundError as error:
                self._refresh_for(state, error)

    def windows(self, start: int, stop: int) -> Windows:
        """The range group by group in several tables at once; checked at the call, as groups()."""
        return Windows(self._require, self._refresh_for, start, stop)

    def groups(self, table: int, start: int, stop: int) -> Iterator[tuple[int, Group, int, int]]:
        """(number of the group's first record, Group, lo, hi) for start <= number < stop.

        Records lo..hi of the group are in the range; every group is decoded once. The range must
        lie inside first..head (NotYetError, MissingError at the call, not at the first next()).
        """
        if start < stop:
            self._require(start, stop)
        return self._groups(table, start, stop)

    def _groups(self, table: int, start: int,
                stop: int) -> Iterator[tuple[int, Group, int, int]]:
        while start < stop:
            state = self._require(start, stop)
            try:
                for first, group, low, high in state.groups(table, start, stop):
                    yield first, group, low, high
                    del group    # as Rows does
                    start = first + high
            except FileNotFoundError as error:
                self._refresh_for(state, error)

    def _require(self, start: int, stop: int) -> State:
        """The state, refreshed if need be, that holds all of start..stop."""
        state = self._state
        if stop > (state.end or 0):
            self.refresh()
            state = self._state
        for number in (start, stop - 1):
            state.require(number, self.path)
        return state

    def _settled(self, number: int, read: Callable[[State], _Result]) -> _Result:
        """read(state), with a state that has the number and whose files are there."""
        while True:
            state = self._require(number, number + 1)
            try:
                return read(state)
            except FileNotFoundError as error:
                self._refresh_for(state, error)
            except (CorruptError, struct.error):
                # A failed write took the number back while it was read.
                self._state.require(number, self.path)
                raise

    def _retried(self, read: Callable[[State], _Result]) -> _Result:
        """read(state), with a newer state when a truncation removed files of the first one."""
        while True:
            state = self._state
            try:
                return read(state)
            except FileNotFoundError as error:
                self._refresh_for(state, error)

    def _refresh_for(self, state: State, error: FileNotFoundError) -> None:
        """Refresh after a file was missing; CorruptError when the present manifest names it."""
        self.refresh()
        if self._state.manifest.generation == state.manifest.generation:
            raise CorruptError("the manifest names this file, but it is missing",
                               file=error.filename) from error

    # -- as a whole --------------------------------------------------------------------------

    def coverage(self, table: int) -> list[tuple[int, int]]:
        """The intervals (first, last) of numbers that have a record in this table."""
        return self._retried(
            lambda state: report.coverage(state, table, self._partial_coverage))

    def digest(self, table: int) -> Digest:
        """The digest of the table's records, whatever their layout."""
        return self._retried(lambda state: report.digest(state, table))

    def info(self) -> dict[str, Any]:
        """Sizes per table, segment and log; ``total_bytes`` is the sum of all file sizes."""
        state = self._state
        found = report.info(self.path, state)
        found["counters"] = self.counters.snapshot()
        if self._writer is not None:
            found["sealing"] = self._writer.sealing()
        return found

    def verify(self, progress: Progress | None = None) -> list[BlockpackError]:
        """Check every checksum and decode everything; all faults found, in order.

        ``progress(done, total)`` is called with bytes on disk.
        """
        return verify_store(self._state, self.path, progress, self._is_cut)

    def _is_cut(self, row: SegmentRow) -> bool:
        """Whether a segment is no longer part of the store."""
        self.refresh()
        return all(row.generation != raw[3] for raw in self._state.manifest.segments.raw)


def _after_fork_in_child() -> None:
    for store in list(_OPEN):
        store._forked()


os.register_at_fork(after_in_child=_after_fork_in_child)
