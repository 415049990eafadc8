"""The map from kernel codes to exceptions covers ext/status.h, and each failure is told apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blockpack._native import status
from blockpack.errors import CorruptError, LimitError

HEADER = Path(__file__).parents[2] / "ext" / "status.h"
KINDS: dict[str, type[Exception]] = {
    "TOO_LARGE": LimitError,
    "NO_SPACE": ValueError,
    "OUT_OF_RANGE": IndexError,
}


def test_every_code_of_the_header_is_mapped() -> None:
    declared = dict(re.findall(r"BP_(\w+) = (-\d+)", HEADER.read_text()))
    assert {name: int(code) for name, code in declared.items()} == status.NAMES


def test_success_passes_through() -> None:
    assert status.check_code(0, "block") == 0
    assert status.check_code(2**40, "block") == 2**40


@pytest.mark.parametrize("name", sorted(status.NAMES))
def test_failure_has_its_kind_and_names_the_input(name: str) -> None:
    with pytest.raises(KINDS.get(name, CorruptError)) as caught:
        status.check_code(status.NAMES[name], "some frame", 17)
    assert str(caught.value).startswith("some frame ")
    assert str(caught.value).endswith("at byte 17")
    if isinstance(caught.value, CorruptError):
        assert caught.value.offset == 17


def test_texts_are_distinct() -> None:
    texts = set()
    for code in status.NAMES.values():
        with pytest.raises((CorruptError, ValueError, IndexError)) as caught:
            status.check_code(code, "x")
        assert "byte" not in str(caught.value).replace("bytes", "")
        texts.add(str(caught.value))
    assert len(texts) == len(status.NAMES)


def test_unknown_code_is_our_own_fault() -> None:
    with pytest.raises(SystemError, match="unknown code -99"):
        status.check_code(-99, "block")
