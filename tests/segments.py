"""Small sealed segments for tests: build one, break it, seal the damage, read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from blockpack._native.counters import Counters
from blockpack.segment import layout
from blockpack.segment.cache import GroupCache
from blockpack.segment.grouping import Grouping
from blockpack.segment.reader import SegmentReader
from blockpack.segment.writer import Record, SegmentSummary, SegmentWriter
from blockpack.store.fs import SYSTEM

FIRST = 1000


def build(path: Path, records: Sequence[Record], *, codec: str = "zstd", tier: str = "fastest",
          group_size: int = 4, first: int = FIRST, table: int = 2, chain_id: int = 1,
          executor: Executor | None = None, grouping: Grouping | None = None,
          hashed: bool = False) -> SegmentSummary:
    """Write a segment of these records; a file that is there already is replaced."""
    path.unlink(missing_ok=True)
    writer = SegmentWriter(str(path), table=table, first=first, codec=codec, tier=tier,
                           grouping=grouping or Grouping(group_size), chain_id=chain_id,
                           fs=SYSTEM, executor=executor, hashed=hashed)
    for record in records:
        writer.add(record)
    return writer.finish()


def open_reader(path: Path, *, cache: GroupCache | None = None, counters: Counters | None = None,
                mmap: bool = True, expect: tuple[int, int] | None = None) -> SegmentReader:
    """Open the segment with counters of its own."""
    return SegmentReader(str(path), counters=counters or Counters(), cache=cache, mmap=mmap,
                         expect=expect)


def contents(reader: SegmentReader) -> list[bytes | None]:
    """Every record, by single reads."""
    return [reader.record(reader.first + i) for i in range(reader.count)]


def scan(reader: SegmentReader, start: int, stop: int) -> list[bytes | None]:
    """The records start..stop-1, by groups."""
    found: list[bytes | None] = []
    for first, group, lo, hi in reader.groups(start, stop):
        assert first + lo == start + len(found)
        found += [group.record(i) for i in range(lo, hi)]
    return found


class Parts:
    """The parts of a segment's bytes, to change and put together again with valid checksums."""

    def __init__(self, data: bytes) -> None:
        self.header: dict[str, Any] = dict(zip(HEADER_FIELDS, layout.HEADER.unpack(data[:64]),
                                               strict=True))
        footer = layout.Footer.unpack(data[-64:], "test", len(data) - 64)
        self.frames = data[64:footer.tail_offset]    # of all groups, one after the other
        rows = layout.DIRECTORY_ENTRY.iter_unpack(data[footer.directory_offset:-64])
        self.sections = [[kind, lane, flags, data[offset:offset + size]]
                         for kind, lane, flags, _, offset, size, _ in rows]
        self.patch_footer: Callable[[bytearray], None] = lambda footer: None
        self.patch_directory: Callable[[bytearray], None] = lambda directory: None

    @property
    def index(self) -> list[list[int]]:
        """Rows of the frame index: offset, checksum."""
        return [list(row) for row in layout.INDEX_ENTRY.iter_unpack(self.sections[0][3])]

    @index.setter
    def index(self, rows: list[list[int]]) -> None:
        self.sections[0][3] = b"".join(layout.INDEX_ENTRY.pack(*row) for row in rows)

    def frame(self, i: int) -> bytes:
        """Stored bytes of frame i."""
        rows = self.index
        return self.frames[rows[i][0] - 64:rows[i + 1][0] - 64]

    def set_frames(self, frames: Sequence[bytes]) -> None:
        """Replace all frames, their offsets and checksums; which records they hold stays."""
        rows = self.index
        self.frames = b"".join(frames)
        offset = 64
        for i, frame in enumerate(frames):
            seed = layout.place_seed(self.identity, layout.KIND_FRAME, 0, i)
            rows[i] = [offset, layout.checksum(frame, seed)]
            offset += len(frame)
        rows[len(frames)][0] = offset
        self.index = rows

    def section(self, kind: int) -> list[Any]:
        """[kind, lane, flags, bytes] of a section."""
        return next(section for section in self.sections if section[0] == kind)

    @property
    def header_bytes(self) -> bytes:
        body = layout.HEADER.pack(*self.header.values())[:-8]
        return body + layout.checksum(body).to_bytes(8, "little")

    @property
    def identity(self) -> int:
        return int.from_bytes(self.header_bytes[-8:], "little")

    def join(self) -> bytes:
        """The file, every checksum made valid."""
        header = self.header_bytes
        data = bytearray(header + self.frames)
        tail_offset = len(data)
        directory = bytearray()
        for kind, lane, flags, section in self.sections:
            content = header + section[64:] if kind == layout.KIND_META else section
            data += bytes(layout.padding(len(data)))
            seed = layout.place_seed(self.identity, kind, lane)
            directory += layout.Section(kind, lane, flags, len(data), len(content),
                                        layout.checksum(content, seed)).pack()
            data += content
        data += bytes(layout.padding(len(data)))
        self.patch_directory(directory)
        seed = layout.place_seed(self.identity, layout.KIND_DIRECTORY)
        footer = bytearray(layout.Footer(
            len(self.sections), len(data) + len(directory) + 64, tail_offset, len(data),
            layout.checksum(directory, seed), self.identity).pack())
        self.patch_footer(footer)
        footer[-8:] = layout.checksum(footer[:-8]).to_bytes(8, "little")
        return bytes(data + directory + footer)


HEADER_FIELDS = ("magic", "version", "table", "codec", "tier", "lanes", "zero_a", "required",
                 "optional", "first", "group_size", "zero_b", "chain_id", "zero_c", "checksum")
