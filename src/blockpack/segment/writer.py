"""Writes one sealed segment: groups in order, then the sections, then the footer.

Nothing of the file counts until its footer is durable and a manifest names it: what a crash
leaves before that is an orphan.
"""

from __future__ import annotations

from array import array
from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from blockpack._native.hashes import build, hash_records
from blockpack.errors import ClosedError, LimitError, naming
from blockpack.segment import layout
from blockpack.segment.codecs import TIER_IDS, get_codec, parse_level
from blockpack.segment.digest import Digest
from blockpack.segment.grouping import Grouping
from blockpack.segment.packing import Record, pack_frames

if TYPE_CHECKING:
    from collections.abc import Sequence

# Frames are handed to the file system in pieces of about this size: a call per 90-byte frame of a
# sparse table would cost more than its compression.
WRITE_BYTES = 1 << 20


class Files(Protocol):
    """The part of the store's file system class that a segment writer uses."""

    def create(self, path: str) -> int: ...
    def write_parts(self, fd: int, parts: Sequence[bytes]) -> None: ...
    def fsync(self, fd: int) -> None: ...
    def close(self, fd: int) -> None: ...
    def unlink(self, path: str) -> None: ...


@dataclass(frozen=True, slots=True)
class SegmentSummary:
    """What a finished segment holds; sizes in bytes."""

    path: str
    table: int
    first: int
    count: int
    present: int
    file_bytes: int
    decoded_bytes: int    # lengths of the present records
    digest: Digest
    frames: int
    seal: int             # the footer's checksum: it stands for every byte of the file


@dataclass(frozen=True, slots=True)
class _Packed:
    """A group, packed and compressed: its frames, and the checksum of each for the index."""

    frames: list[tuple[bytes, int]]
    count: int
    present: int
    decoded_size: int
    digest: Digest
    hashes: bytes


class SegmentWriter:
    """Packs consecutive records of one table into a new file. Not for several threads at once.

    With an ``executor``, groups are packed and compressed there, at most ``window`` at a time;
    the file's bytes are the same without. A record must not change until ``finish``. A ``hashed``
    segment finds its records by their Keccak-256.
    """

    def __init__(self, path: str, *, table: int, first: int, codec: str, tier: str,
                 grouping: Grouping, chain_id: int, fs: Files, executor: Executor | None = None,
                 window: int = 4, hashed: bool = False) -> None:
        self._codec = get_codec(codec)
        self._tier = parse_level(codec, tier)
        self._path = path
        self._grouping = grouping
        self._fs = fs
        self._executor = executor
        self._window = window
        self._hashes = bytearray() if hashed else None
        header = layout.Header(table, self._codec.id, TIER_IDS[self._tier],
                               grouping.group_size, first, chain_id)
        self._header = header
        self._header_bytes = header.pack()
        self._identity = int.from_bytes(self._header_bytes[-8:], "little")
        self._group: list[Record] = []
        self._group_bytes = 0
        self._flight: deque[Future[_Packed]] = deque()
        self._queue: list[bytes] = [self._header_bytes]    # written in one call when it is large
        self._queue_bytes = len(self._header_bytes)
        self._index = bytearray()
        self._firsts = array("I")    # 4 bytes a group: first ordinals
        self._first_frames = array("I")
        self._regular = True         # every group before the last is full
        self._offset = self._queue_bytes
        self._count = self._present = self._content_bytes = self._frames = 0
        self._added = 0
        self._closed_frames = 0      # of closed groups, written or in flight
        self._digest = Digest()
        self._fd: int | None = fs.create(path)
        self._sound = True

    def add(self, record: Record) -> None:
        """Take the record of the next number; None when it is absent.

        Raises LimitError for a record above 1 GiB, with nothing taken, and OSError.
        """
        if not self._sound:
            raise ClosedError(f"{self._path}: the segment was finished, or failed before")
        size = 0 if record is None else len(record)
        if size > layout.RECORD_BYTES_MAX:
            raise LimitError(f"record {self._header.first + self._added} has {size} bytes; the "
                             f"limit is {layout.RECORD_BYTES_MAX}")
        size += layout.TABLE_BYTES_A_RECORD
        if self._group and self._group_bytes + size > layout.GROUP_BYTES_MAX:
            self._close_group()
        if not self._group:
            self._group_bytes = layout.TABLE_BYTES_A_RECORD    # of the table's base
        self._group.append(record)
        self._group_bytes += size
        self._added += 1
        if len(self._group) == self._grouping.group_size:
            self._close_group()

    def finish(self) -> SegmentSummary:
        """Write what is left and make the file durable; the folder's sync is the caller's."""
        if not self._sound or not self._added or self._fd is None:
            raise ClosedError(f"{self._path}: the segment has no records, was finished, or "
                              "failed before")
        if self._group:
            self._close_group()
        self._sound = False
        while self._flight:
            self._take(self._flight.popleft().result())
        summary = self._write_tail()
        with naming(self._path):
            self._fs.fsync(self._fd)
        fd, self._fd = self._fd, None
        self._fs.close(fd)
        return summary

    def abort(self) -> None:
        """Give up: close and remove the file. Fine after ``finish`` failed, or twice."""
        for future in self._flight:
            future.cancel()
        self._flight.clear()
        self._sound = False
        if self._fd is not None:
            fd, self._fd = self._fd, None
            self._fs.close(fd)
            self._fs.unlink(self._path)

    def _close_group(self) -> None:
        self._sound = False    # until this returns: a frame that was lost cannot be made up for
        records, self._group = self._group, []
        number = self._header.first + self._added - len(records)
        frames = self._grouping.frames(len(records))
        first_frame = self._closed_frames
        self._closed_frames += len(frames)
        if self._executor is None:
            self._take(self._encode(records, number, frames, first_frame))
        else:
            while len(self._flight) >= self._window:
                self._take(self._flight.popleft().result())
            self._flight.append(self._executor.submit(self._encode, records, number, frames,
                                                      first_frame))
        self._sound = True

    def _encode(self, records: list[Record], number: int, frames: Sequence[Sequence[int]],
                first_frame: int) -> _Packed:
        """Runs on any thread and touches nothing of the writer that changes."""
        digest = Digest()
        digest.add_all(number, records)
        packed = []
        decoded_size = 0
        for i, (data, content) in enumerate(pack_frames(
                self._codec, self._tier, records, frames, linked=self._grouping.linked)):
            seed = layout.place_seed(self._identity, layout.KIND_FRAME, 0, first_frame + i)
            checksum = layout.checksum(data, seed)
            if i:    # it has a prefix
                checksum = layout.prefixed_checksum(checksum, layout.checksum(content, seed))
            packed.append((data, checksum))
            decoded_size += len(content)
        hashes = b"" if self._hashes is None else hash_records(
            records, number - self._header.first)
        return _Packed(packed, len(records), len(records) - records.count(None), decoded_size,
                       digest, hashes)

    def _take(self, packed: _Packed) -> None:
        size = self._grouping.group_size
        self._regular = self._regular and self._count == len(self._firsts) * size
        self._firsts.append(self._count)
        self._first_frames.append(self._frames)
        for data, checksum in packed.frames:
            self._index += layout.INDEX_ENTRY.pack(self._offset, checksum)
            self._append(data)
        self._frames += len(packed.frames)
        self._count += packed.count
        self._present += packed.present
        self._content_bytes += packed.decoded_size
        self._digest.merge(packed.digest)
        if self._hashes is not None:
            self._hashes += packed.hashes
        if self._queue_bytes >= WRITE_BYTES:
            self._flush()

    def _append(self, data: bytes) -> None:
        self._queue.append(data)
        self._queue_bytes += len(data)
        self._offset += len(data)

    def _flush(self) -> None:
        assert self._fd is not None
        with naming(self._path):
            self._fs.write_parts(self._fd, self._queue)
        self._queue = []
        self._queue_bytes = 0

    def _write_tail(self) -> SegmentSummary:
        tail_offset = self._offset
        self._append(bytes(layout.padding(tail_offset)))
        self._index += layout.INDEX_ENTRY.pack(tail_offset, 0)
        sections = []
        if self._hashes is not None:    # the first one: opening a file reads the end of it
            hashes = build(self._hashes, self._count)
            sections.append(self._section(layout.KIND_HASHES, hashes, flags=0))
        sections.append(self._section(layout.KIND_FRAMES, bytes(self._index)))
        if not self._regular:
            firsts = b"".join(map(layout.INDEX_FIRST.pack, [*self._firsts, self._count]))
            sections.append(self._section(layout.KIND_FIRSTS, firsts))
            if self._grouping.keyed:
                frames = [*self._first_frames, self._frames]
                sections.append(self._section(layout.KIND_FIRST_FRAMES, b"".join(
                    map(layout.INDEX_FIRST.pack, frames))))
        sections.append(self._section(layout.KIND_META, self._meta()))
        directory = b"".join(section.pack() for section in sections)
        directory_offset = self._offset
        seed = layout.place_seed(self._identity, layout.KIND_DIRECTORY)
        footer = layout.Footer(
            len(sections), directory_offset + len(directory) + layout.FOOTER.size, tail_offset,
            directory_offset, layout.checksum(directory, seed), self._identity).pack()
        self._append(directory + footer)
        self._flush()
        return SegmentSummary(
            self._path, self._header.table, self._header.first, self._count, self._present,
            self._offset, self._digest.length, self._digest, self._frames,
            int.from_bytes(footer[-8:], "little"))

    def _meta(self) -> bytes:
        grouping = self._grouping
        lane = layout.Lane(self._codec.id, TIER_IDS[self._tier], grouping.group_size,
                           self._content_bytes, grouping.keys, grouping.stride,
                           grouping.frame_records, grouping.linked)
        return layout.Meta(self._header_bytes, self._count, self._present, self._digest,
                           (lane,)).pack()

    def _section(self, kind: int, data: bytes,
                 flags: int = layout.SECTION_REQUIRED) -> layout.Section:
        """Append a section, aligned, and return its directory entry."""
        section = layout.Section(
            kind, 0, flags, self._offset, len(data),
            layout.checksum(data, layout.place_seed(self._identity, kind)))
        self._append(data)
        self._append(bytes(layout.padding(len(data))))
        return section
