"""blockpack.cli.ranges."""

from __future__ import annotations

import click
import pytest

from blockpack.cli.ranges import resolve_number, resolve_range

FIRST, HEAD = 100, 20_000_000


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("7", 7), ("17M", 17_000_000), ("15.5M", 15_500_000), ("1_000", 1000), ("2k", 2000),
        ("-1", HEAD), ("-1000", HEAD - 999),
    ],
)
def test_numbers(text: str, want: int) -> None:
    assert resolve_number(text, HEAD) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("16M:17M", (16_000_000, 17_000_000)),
        ("15M:+1000", (15_000_000, 15_001_000)),
        ("-1000:", (HEAD - 999, HEAD + 1)),
        (":5k", (FIRST, 5000)),
        (":", (FIRST, HEAD + 1)),
        ("9:-1", (9, HEAD)),
        ("42", (42, 43)),
        ("5:5", (5, 5)),
    ],
)
def test_ranges(text: str, want: tuple[int, int]) -> None:
    assert resolve_range(text, FIRST, HEAD) == want


@pytest.mark.parametrize("text", ["", "abc", "1.5", "0x10", "1.2345k", "--1", "9:8", "1:2:3"])
def test_nonsense_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(click.BadParameter):
        resolve_range(text, FIRST, HEAD)


@pytest.mark.parametrize("text", ["-101", "-101:", "-200:50", "5:-200", "101:", "200:"])
def test_what_lies_outside_of_all_blocks_is_not_taken_for_another_number(text: str) -> None:
    with pytest.raises(click.BadParameter):
        resolve_range(text, 0, 99)
