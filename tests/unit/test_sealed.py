"""Single reads of sealed segments: which frames are kept, which reader is asked, and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from framekit import FIRST, reader

from blockpack._native.frames import FrameReader
from blockpack._native.sealed import SealedReader, SealedSegments
from blockpack.errors import ClosedError
from blockpack.segment.cache import GroupCache

RECORDS = [b"a", None, b"ccc", b"d" * 50]


class Reader(SealedReader):
    """Notes what it is asked to extract."""

    def __init__(self, frames: FrameReader) -> None:
        super().__init__("file", frames)
        self.extracted: list[int] = []

    def _extract(self, frames: FrameReader, number: int) -> bytes | None:
        assert frames is self.frames
        self.extracted.append(number)
        return b"extracted"


@pytest.mark.parametrize("mapped", [True, False])
def test_records_and_views(mapped: bool) -> None:
    sealed = Reader(reader(mapped=mapped))
    assert [sealed.record(FIRST + i) for i in range(4)] == RECORDS
    assert [sealed.view(FIRST + i) for i in range(4)] == RECORDS
    assert isinstance(sealed.record(FIRST), bytes)
    assert isinstance(sealed.view(FIRST), memoryview)


def test_a_large_frame_of_several_records_is_extracted_from_once() -> None:
    sealed = Reader(reader(cache=GroupCache(10_000)))
    assert sealed.record(FIRST + 6) == b"extracted"
    assert sealed.view(FIRST + 6) == b"g" * 300    # the second touch
    assert sealed.extracted == [FIRST + 6]


def test_without_a_cache_it_is_always_extracted_from() -> None:
    sealed = Reader(reader())
    assert [sealed.view(FIRST + 4), sealed.record(FIRST + 4)] == [b"extracted"] * 2
    assert sealed.extracted == [FIRST + 4] * 2


@pytest.mark.parametrize("number", [FIRST - 1, FIRST + 7, 0, -1, -(2**64), 2**64, 2**70])
def test_numbers_outside(number: int) -> None:
    sealed = Reader(reader())
    for read in (sealed.record, sealed.view):
        with pytest.raises(IndexError, match=f"record {number} of a segment"):
            read(number)


def test_a_closed_reader_has_forgotten_its_groups_and_refuses() -> None:
    cache = GroupCache(10_000)
    sealed = Reader(reader(cache=cache))
    view = sealed.view(FIRST)
    assert len(cache) == 1
    sealed.close()
    sealed.close()
    assert len(cache) == 0
    assert view == b"a"
    for read in (sealed.record, sealed.view):
        with pytest.raises(ClosedError, match="file: the segment was closed"):
            read(FIRST)
    with pytest.raises(ClosedError):
        _ = sealed.frames


class Fixed(SealedReader):
    """One record, that of any number."""

    def __init__(self, record: bytes | None) -> None:
        super().__init__("file", reader())
        self._record = record

    def record(self, number: int) -> bytes | None:
        return self._record

    def view(self, number: int) -> memoryview | None:
        return None if self._record is None else memoryview(self._record)


def segments(ready: dict[int, SealedReader], opened: list[tuple[int, int]]) -> SealedSegments:
    """Three segments from 10, 20 and 2^64 - 8; table 3 has no files, what is opened is noted."""
    def opening(at: int, table: int) -> SealedReader | None:
        opened.append((at, table))
        return None if table == 3 else Fixed(b"%d/%d" % (at, table))

    return SealedSegments([10, 20, FIRST], [256, 512, 768], ready, opening)


@pytest.mark.parametrize(("number", "at"), [
    (0, -1), (9, -1), (10, 0), (19, 0), (20, 1), (FIRST - 1, 1), (FIRST, 2), (2**64 - 1, 2)])
def test_a_number_s_segment(number: int, at: int) -> None:
    found = segments({}, [])
    assert (len(found), found.at(number)) == (3, at)
    if at < 0:
        for read in (found.record, found.view):
            with pytest.raises(IndexError):
                read(1, number)
        with pytest.raises(IndexError):
            found.views((1, 2), number)


def test_an_open_reader_is_asked_and_marked_as_used_and_others_are_opened() -> None:
    ready: dict[int, SealedReader] = {512 + 1: Fixed(b"ready")}
    opened: list[tuple[int, int]] = []
    found = segments(ready, opened)
    assert (found.record(1, 25), found.view(1, 25)) == (b"ready", b"ready")
    assert ready[513].used
    assert found.views((1, 2, 3), 25) == [b"ready", b"1/2", None]
    assert found.record(3, 25) is None
    assert found.view(3, 25) is None
    assert found.record(1, 10) == b"0/1"
    assert opened == [(1, 2), (1, 3), (1, 3), (1, 3), (0, 1)]


@pytest.mark.parametrize(("number", "error"), [
    (-1, OverflowError), (2**64, OverflowError), ("1", TypeError)])
def test_what_is_no_number(number: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        segments({}, []).views((1,), number)


def test_a_segment_without_a_key_is_refused() -> None:
    with pytest.raises(ValueError, match="2 segments with 1 keys"):
        SealedSegments([1, 2], [1], {}, lambda at, table: None)
