"""Groupings: which records share a frame, and which may be asked for."""

from __future__ import annotations

import pytest

from blockpack.errors import KnobError
from blockpack.segment.grouping import Grouping
from blockpack.segment.layout import GROUP_SIZE_MAX


def positions(grouping: Grouping, count: int) -> list[list[int]]:
    return [list(frame) for frame in grouping.frames(count)]


def test_a_plain_group_is_one_frame() -> None:
    assert positions(Grouping(4), 4) == [[0, 1, 2, 3]]
    assert positions(Grouping(4), 1) == [[0]]
    assert not Grouping(4).keyed
    assert Grouping(4).keying is None


@pytest.mark.parametrize(("grouping", "count", "expected"), [
    (Grouping(8, 2, 4, 1), 8, [[0, 4], [1], [2], [3], [5], [6], [7]]),
    (Grouping(8, 2, 3, 4), 8, [[0, 3], [1, 2, 4, 5], [6, 7]]),
    (Grouping(8, 3, 1, 2), 8, [[0, 1, 2], [3, 4], [5, 6], [7]]),
    (Grouping(8, 2, 4, 1), 1, [[0]]),
    (Grouping(8, 2, 4, 1), 4, [[0], [1], [2], [3]]),
    (Grouping(4, 4, 4, 9), 4, [[0], [1, 2, 3]]),
])
def test_keys_come_first(grouping: Grouping, count: int, expected: list[list[int]]) -> None:
    assert positions(grouping, count) == expected
    assert grouping.keying == (grouping.keys, grouping.stride, grouping.frame_records)


@pytest.mark.parametrize("fields", [
    (0,), (GROUP_SIZE_MAX + 1,), (4, 1, 0, 1), (4, 1, 1, 0), (4, 1, GROUP_SIZE_MAX + 1, 1)])
def test_sizes_are_checked(fields: tuple[int, ...]) -> None:
    with pytest.raises(KnobError, match="a group holds 1 to 65536 records"):
        Grouping(*fields)


def test_it_says_what_it_is() -> None:
    assert str(Grouping(64)) == "groups of 64"
    assert str(Grouping(64, 16, 4, 1)) == "groups of 64, frames of 1 after 16 keys, every 4"
    assert str(Grouping(64, 4, 1, 8)) == "groups of 64, frames of 8 after 4 keys, the first"
