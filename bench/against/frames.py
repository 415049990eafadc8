"""The same frames without us: found through their index, sliced from a map, inflated bare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from blockpack._native import s2
from blockpack._native.group import Group
from blockpack.segment.opening import open_segment
from blockpack.segment.source import MappedFile

# A stream is read through this much at a time: less than the L2 cache, and no page is new.
SCRATCH_BYTES = 128 << 10
# Below this zstd inflates a whole frame faster than a stream of it can be set up.
STREAM_MIN = 256 << 10

Inflate = Callable[[memoryview], bytes]
InflateUntil = Callable[["Frame", int], object]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its stored bytes in a map, and the records in it."""

    data: memoryview
    path: str
    offset: int
    decoded_size: int
    first: int
    records: int


def table_frames(store: Path, table: str) -> list[Frame]:
    """Every frame of a table's sealed files, in number order."""
    frames = []
    for path in sorted((store / "sealed").glob(f"{table}-*.seg")):
        source = MappedFile(str(path))
        opened, index = open_segment(source, str(path), None)
        size_of = decoded_size[opened.header.codec]
        for at in range(len(index)):
            _, offset, stored, *_, ordinal, records = index.entry(at)
            data = source.read(offset, stored)
            frames.append(Frame(data, str(path), offset, size_of(data),
                                opened.header.first + ordinal, records))
    return frames


# By codec id: what a frame says of its own size.
decoded_size: dict[int, Callable[[memoryview], int]] = {
    1: s2.decompressed_size, 2: zstandard.frame_content_size, 3: s2.decompressed_size}


def frame_of(frames: list[Frame]) -> dict[int, Frame]:
    """The frame of each number."""
    return {number: frame for frame in frames
            for number in range(frame.first, frame.first + frame.records)}


def record_ends(frames: list[Frame], inflate: Inflate) -> dict[int, int]:
    """How far each number's frame has to be inflated to have its record."""
    ends = {}
    for frame in frames:
        group = Group(inflate(frame.data), frame.records)
        ends |= {frame.first + at: group.end(at) for at in range(frame.records)}
    return ends


def bare_inflate(codec: str) -> Inflate:
    """The codec's own call for a whole frame."""
    if codec == "zstd":
        return zstandard.ZstdDecompressor().decompress
    limit = 64 << 20
    return lambda data: s2.decompress(data, limit)


def bare_inflate_until(codec: str) -> InflateUntil:
    """The codec's fastest way to a frame's first bytes: given a frame and how many."""
    if codec != "zstd":
        return lambda frame, end: s2.decompress_until(frame.data, end, frame.decoded_size)
    whole = zstandard.ZstdDecompressor()
    streaming = zstandard.ZstdDecompressor(max_window_size=1 << 25)
    scratch = memoryview(bytearray(SCRATCH_BYTES))

    def inflate(frame: Frame, end: int) -> object:
        if frame.decoded_size < STREAM_MIN:
            return whole.decompress(frame.data)
        with streaming.stream_reader(frame.data) as stream:
            while end > 0:
                end -= stream.readinto(scratch[:end])
        return None

    return inflate
