"""Frames in memory, stored as they are, behind a native reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference import index as reference
from reference.index import Row

from blockpack._native.counters import Counters
from blockpack._native.frames import FrameReader
from blockpack._native.group import pack
from blockpack._native.index import FrameIndex
from blockpack.segment import layout
from blockpack.segment.cache import GroupCache

FIRST = 2**64 - 8
CONTENTS = [pack([b"a", None, b"ccc"]), pack([b"d" * 50]), pack([b"", b"f", b"g" * 300])]


class Memory:
    """A source that notes what is asked of it."""

    def __init__(self, data: bytes, mapped: bool) -> None:
        self.size = len(data)
        self.data = data
        self.window = memoryview(data) if mapped else None
        self.advised_fd = -1
        self.advised: list[tuple[int, int]] = []

    def read(self, offset: int, size: int) -> bytes:
        return self.data[offset:offset + size]

    def advise(self, offset: int, size: int) -> None:
        self.advised.append((offset, size))


def reader(*, mapped: bool = True, identity: int = 7, cache: GroupCache | None = None,
           inflate: Callable[[Any, int], bytes] | None = None,
           limits: tuple[int, int, int, int] = (1000, 2000, 200, 20),
           source: Memory | None = None) -> FrameReader:
    """Frames that are stored as they are; ``identity`` is what the reader believes."""
    rows: list[Row] = []
    offset = first = 0
    for i, content in enumerate(CONTENTS):
        seed = layout.place_seed(7, layout.KIND_FRAME, 0, i)
        records = (3, 1, 3)[i]
        rows.append(Row(64 + offset, len(content), layout.checksum(content, seed), first, records))
        offset, first = offset + len(content), first + records
    entries, firsts = reference.encode(rows)
    index = FrameIndex(entries, firsts, records=7, group_size=3, start=64, end=64 + offset)
    source = source or Memory(bytes(64) + b"".join(CONTENTS), mapped)
    return FrameReader(index, source, inflate or (lambda data, size_max: bytes(data)),
                       layout.checksum, path="file", identity=identity, first=FIRST,
                       counters=Counters(), limits=limits, cache=cache)
