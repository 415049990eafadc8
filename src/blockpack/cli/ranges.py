"""Block numbers and ranges as people type them: ``16M:17M``, ``15M:+1000``, ``-1000:``, ``7``."""

from __future__ import annotations

import re
from typing import Any, Final

import click

# Context settings of a command that takes numbers: click would take "-1" for an option.
NEGATIVE_NUMBERS: Final[dict[str, Any]] = {"ignore_unknown_options": True}

_SUFFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_NUMBER = re.compile(r"([+-]?)(\d[\d_]*)(?:\.(\d+))?([kKmMgG]?)")


def parse_number(text: str) -> tuple[str, int]:
    """Sign (``""``, ``"+"`` or ``"-"``) and size of one number: ``15.5M`` is 15,500,000."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(
            f"{text!r} is not a block number; write 17000000, 17M, 15.5M, or -1 for the head"
        )
    sign, whole, fraction, suffix = match.groups()
    scale = _SUFFIXES[suffix.lower()]
    size = int(whole.replace("_", "")) * scale
    if fraction:
        scaled = int(fraction) * scale
        if scaled % 10 ** len(fraction):
            raise click.BadParameter(f"{text!r} is not a whole block number")
        size += scaled // 10 ** len(fraction)
    return sign, size


def resolve_number(text: str, head: int) -> int:
    """One block number; a negative one counts from the head, -1 being the head itself."""
    sign, size = parse_number(text)
    if sign == "-" and size > head + 1:
        raise click.BadParameter(f"{text!r} is before block 0: the head is {head}")
    return head + 1 - size if sign == "-" else size


def resolve_range(text: str, first: int, head: int) -> tuple[int, int]:
    """A half-open range ``(start, stop)``; open ends are the store's own."""
    if ":" not in text:
        number = resolve_number(text, head)
        return number, number + 1
    left, _, right = text.partition(":")
    start = resolve_number(left, head) if left.strip() else first
    if not right.strip():
        stop = head + 1
    elif parse_number(right)[0] == "+":
        stop = start + parse_number(right)[1]
    else:
        stop = resolve_number(right, head)
    if stop < start:
        raise click.BadParameter(f"{text!r} ends at {stop}, before it starts at {start}")
    return start, stop
