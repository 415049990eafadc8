"""A store of numbered records: tables that grow at the head, seal behind it and are cut together.

Opaque bytes in, the same bytes out; what a record means is the caller's business. One writer per
store (a lock file), any number of readers in any process (no lock).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from blockpack.store.knobs import Knobs

Progress = Callable[[int, int], None]


class RecordStore:
    """One store of numbered records, opened for reading ("r") or for writing ("a").

    Reads may come from any thread and take no lock. Writes may come from any thread, one at a
    time. Every method raises ClosedError once the store is closed, in a forked child of a writer,
    or (writes only) after a failed fsync.
    """

    # -- life --------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | os.PathLike[str], knobs: Knobs | None = None, *,
               first: int | None = None, chain_id: int | None = None,
               cache_bytes: int | None = None, mmap: bool = True) -> RecordStore:
        """Make an empty store in a new or empty folder and open it for writing.

        ``first`` fixes the number of the first record (None: the first append decides);
        ``chain_id`` fixes the chain (None: see set_chain). Raises FileExistsError for a folder
        that holds anything.
        """
        raise NotImplementedError

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: str = "r", *,
             cache_bytes: int | None = None, mmap: bool = True, **knobs: Any) -> RecordStore:
        """Open a store: "r" writes nothing and takes no lock, "a" is the one writer.

        ``knobs`` (writer only, but block_group_size, which a reader may name too) change what
        can be changed; KnobError for a locked one with another value. Raises FileNotFoundError
        where there is no store, LockedError for a second writer, CorruptError,
        UnsupportedVersionError.
        """
        raise NotImplementedError

    def close(self, wait: bool = True) -> None:
        """Sync, then wait for the full segments to be sealed (or abandon that), then let go.

        Everything is let go of even when the sync or the seal failed; its error is then raised.
        Closing twice does nothing.
        """
        raise NotImplementedError

    def __enter__(self) -> RecordStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close(wait=kind is None)

    # -- what it is --------------------------------------------------------------------------

    path: str
    mode: str  # "r" or "a"
    mmap: bool
    cache_bytes: int | None
    counters: Any  # blockpack._native.counters.Counters
    knobs: Knobs

    @property
    def closed(self) -> bool:
        raise NotImplementedError

    @property
    def first(self) -> int | None:
        """The number of the first record; None until it is decided."""
        raise NotImplementedError

    @property
    def head(self) -> int | None:
        """The last number, None when empty. A reader's is that of its last refresh."""
        raise NotImplementedError

    @property
    def chain_id(self) -> int | None:
        """The chain's id, None until it is known."""
        raise NotImplementedError

    def set_chain(self, chain_id: int, since: int) -> None:
        """Remember the chain id, learnt from record number ``since`` (call it before its append).

        Durable when it returns. Cutting the store before ``since`` forgets it again.
        Raises ChainMismatchError when the store has another id.
        """
        raise NotImplementedError

    # -- writing -----------------------------------------------------------------------------

    def append(self, number: int, records: Mapping[int, bytes]) -> None:
        """Append all records of one number ({table id: bytes}); buffered until sync.

        Raises SequenceError unless ``number`` is head + 1 (or decides ``first``), LimitError over
        1 GiB a record. After an OSError (disk full) the store's head is the last block on disk:
        go on from head + 1. Waits while more than two full segments are not sealed yet.
        A failed background seal is raised here too, before anything is appended; it is tried
        again, and its blocks stay readable.
        """
        raise NotImplementedError

    def sync(self) -> None:
        """Return when everything appended is durable and other processes can see it."""
        raise NotImplementedError

    def seal(self) -> None:
        """Seal everything appended so far, full segments or not, and wait for it."""
        raise NotImplementedError

    def truncate(self, last: int) -> None:
        """Cut every table after number ``last`` (first - 1 empties the store); durable.

        A ``last`` at or past the head changes nothing.
        """
        raise NotImplementedError

    @property
    def at_border(self) -> bool:
        """Whether the next number starts a new segment (also true when empty)."""
        raise NotImplementedError

    def direct_writer(self, threads: int | None = None) -> Any:
        """A context manager whose ``append(number, records)`` packs straight into segments.

        Only at_border: fill an open segment with append first. Each segment is published when
        it is full; leaving the block publishes the last one, short; leaving it by an exception
        drops what is not published. The store's head moves only with whole segments:
        the writer's own ``next`` is the number that it takes.
        """
        raise NotImplementedError

    # -- reading -----------------------------------------------------------------------------

    def refresh(self) -> bool:
        """See what the writer has synced since (readers); whether anything changed."""
        raise NotImplementedError

    def record(self, table: int, number: int) -> bytes | None:
        """One record, its own bytes; None where the table has none for this number.

        Raises NotYetError past the head (a reader refreshes first), MissingError before first.
        """
        raise NotImplementedError

    def view(self, table: int, number: int) -> memoryview | None:
        """As record(), as a view that pins the decoded group (no copy where it is cached)."""
        raise NotImplementedError

    def groups(self, table: int, start: int, stop: int) -> Iterator[tuple[int, Any, int, int]]:
        """(number of the group's first record, Group, lo, hi) for start <= number < stop.

        Records lo..hi of the group are in the range; every group is decoded once. The range must
        lie inside first..head (NotYetError, MissingError at the call, not at the first next()).
        """
        raise NotImplementedError

    def coverage(self, table: int) -> list[tuple[int, int]]:
        """The intervals (first, last) of numbers that have a record in this table."""
        raise NotImplementedError

    def digest(self, table: int) -> Any:
        """The digest of the table's records (blockpack.segment.digest), whatever their layout."""
        raise NotImplementedError

    def info(self) -> dict[str, Any]:
        """Sizes per table, segment and log; ``total_bytes`` is the sum of all file sizes."""
        raise NotImplementedError

    def verify(self, progress: Progress | None = None) -> list[Exception]:
        """Check every checksum and decode everything; all faults found, in order.

        ``progress(done, total)`` is called with bytes on disk.
        """
        raise NotImplementedError
