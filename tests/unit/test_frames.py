"""The native way from a number to its group: what it asks of its parts, and its refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from reference import index as reference
from reference.index import Row

from blockpack._native.counters import Counters
from blockpack._native.frames import FrameReader
from blockpack._native.group import pack
from blockpack._native.index import FrameIndex
from blockpack.errors import CorruptError
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
        self.advised: list[tuple[int, int]] = []

    def read(self, offset: int, size: int) -> bytes:
        return self.data[offset:offset + size]

    def advise(self, offset: int, size: int) -> None:
        self.advised.append((offset, size))


def reader(*, mapped: bool = True, identity: int = 7, cache: GroupCache | None = None,
           inflate: Callable[[Any, int], bytes] | None = None,
           limits: tuple[int, int, int, int] = (1000, 2000, 200, 20)) -> FrameReader:
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
    source = Memory(bytes(64) + b"".join(CONTENTS), mapped)
    return FrameReader(index, source, inflate or (lambda data, size_max: bytes(data)),
                       layout.checksum, path="file", identity=identity, first=FIRST,
                       counters=Counters(), limits=limits, cache=cache)


@pytest.mark.parametrize("mapped", [True, False])
def test_records_and_views(mapped: bool) -> None:
    frames = reader(mapped=mapped)
    expected = [b"a", None, b"ccc", b"d" * 50]
    assert [frames.record(FIRST + i) for i in range(4)] == expected
    assert [frames.view(FIRST + i) for i in range(4)] == expected
    assert [bytes(frames.data(i)) for i in range(3)] == CONTENTS
    assert [len(frames.group(i)) for i in range(3)] == [3, 1, 3]


def test_a_large_frame_of_several_records_is_left_to_extraction_once() -> None:
    frames = reader(cache=GroupCache(10_000))
    assert frames.record(FIRST + 6) is NotImplemented
    assert frames.view(FIRST + 6) == b"g" * 300    # the second touch
    without = reader()
    assert without.view(FIRST + 4) is NotImplemented
    assert without.view(FIRST + 4) is NotImplemented


def test_only_frames_above_the_limit_are_announced() -> None:
    frames = reader()
    for i in range(3):
        frames.group(i)
    source = frames.source
    assert isinstance(source, Memory)
    assert [size for _, size in source.advised] == [len(CONTENTS[1]), len(CONTENTS[2])]
    frames.announce(0)
    assert source.advised[-1] == (64, len(CONTENTS[0]))


def test_the_size_limit_goes_by_the_record_count() -> None:
    asked: list[int] = []

    def inflate(data: Any, size_max: int) -> bytes:
        asked.append(size_max)
        return bytes(data)

    frames = reader(inflate=inflate)
    for i in range(3):
        frames.group(i)
        assert frames.content_max(i) == asked[-1]
    assert asked == [1000, 2000, 1000]


@pytest.mark.parametrize("number", [FIRST - 1, FIRST + 7, 0, -1, -(2**64), 2**64, 2**70])
def test_numbers_outside(number: int) -> None:
    for read in (reader().record, reader().view):
        with pytest.raises(IndexError, match=f"record {number} of a segment"):
            read(number)


@pytest.mark.parametrize("i", [-1, 3])
def test_frames_outside(i: int) -> None:
    frames = reader()
    for read in (frames.group, frames.data, frames.announce, frames.content_max):
        with pytest.raises(IndexError):
            read(i)


def test_another_identity_is_a_checksum_mismatch() -> None:
    frames = reader(identity=8)
    for read in (lambda: frames.record(FIRST), lambda: frames.data(0), lambda: frames.group(0)):
        with pytest.raises(CorruptError, match="frame 0: checksum mismatch") as caught:
            read()
        assert (caught.value.file, caught.value.offset) == ("file", 64)


def test_a_codec_s_error_gets_its_place() -> None:
    def inflate(data: Any, size_max: int) -> bytes:
        raise CorruptError("no good", expected=1, found=2)

    with pytest.raises(CorruptError) as caught:
        reader(inflate=inflate).record(FIRST + 3)
    assert str(caught.value) == (
        f"file at byte {64 + len(CONTENTS[0])}: frame 1: no good (expected 1, found 2)")


def test_other_errors_of_a_codec_are_not_the_file_s() -> None:
    def inflate(data: Any, size_max: int) -> bytes:
        raise MemoryError

    with pytest.raises(MemoryError):
        reader(inflate=inflate).record(FIRST)


def test_forgetting_empties_the_cache() -> None:
    cache = GroupCache(10_000)
    frames = reader(cache=cache)
    frames.record(FIRST)
    assert len(cache) == 1
    frames.forget()
    assert len(cache) == 0
    reader().forget()    # without a cache: nothing to do
