"""Rows over several tables: absent records, groups of different sizes, and what stays in memory."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import pytest

from blockpack._native.group import Group, pack
from blockpack._native.rows import Rows

A = [b"a%d" % i if i % 3 else None for i in range(10)]
B = [b"b%d" % i * i for i in range(10)]


def groups(records: list[bytes | None], sizes: list[int],
           low: int = 0) -> Iterator[tuple[int, Group, int, int]]:
    """Records from ``low`` on, in groups of these sizes."""
    first = 0
    for size in sizes:
        group = Group(pack(records[first:first + size]), size)
        if low < first + size:
            yield first, group, max(0, low - first), size
        del group
        first += size


@pytest.mark.parametrize("low", range(10))
def test_rows_of_tables_with_other_groups(low: int) -> None:
    rows = Rows([groups(A, [4, 4, 2], low), groups([*B], [1, 9], low)])
    assert list(rows) == list(zip(A, B, strict=True))[low:]


def test_the_first_table_to_end_ends_the_rows() -> None:
    assert len(list(Rows([groups(A, [4, 4]), groups(A, [10])]))) == 8
    assert len(list(Rows([groups(A, [10]), groups(A, [4, 4])]))) == 8


class Content(bytearray):
    """A group's content that can be watched."""


def test_a_group_is_let_go_of_before_the_next_one_is_made() -> None:
    alive: list[weakref.ref[Content]] = []

    def watched() -> Iterator[tuple[int, Group, int, int]]:
        for first in (0, 2, 4):
            assert not [content for content in alive if content() is not None]
            content = Content(pack([b"x", b"y"]))
            alive.append(weakref.ref(content))
            group = Group(content, 2)
            del content
            yield first, group, 0, 2
            del group

    count = 0
    for row in Rows([watched()]):
        count += 1
        del row
    assert (count, len(alive)) == (6, 3)


def test_an_error_of_a_group_comes_out() -> None:
    def broken() -> Iterator[tuple[int, Group, int, int]]:
        yield next(groups(A, [4]))
        raise FileNotFoundError("gone")

    rows = Rows([groups(A, [10]), broken()])
    assert [next(rows)[1] for _ in range(4)] == A[:4]
    with pytest.raises(FileNotFoundError, match="gone"):
        next(rows)
