"""The measures that a synthetic chain is fitted with: by hand, and on real runs as published."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from blocks import block, legacy, typed
from realruns import MAY_2024, SEPTEMBER_2023, Run, may_bodies, september_blocks

from blockpack._native.rlp import split_block
from blockpack.measure import statistics
from blockpack.measure.statistics import Statistics, measure


def test_recurrence_counts_what_was_seen_in_each_window() -> None:
    # Ten blocks of past, then one whose items were seen: in it, just before, long before, never.
    past = [[b"long"], *([[b"idle"]] * 8), [b"just"]]
    assert statistics.recurrence([*past, [b"new", b"new", b"just", b"long"]]) == (.25, .5, .75)


def test_recurrence_of_runs_without_items_is_zero() -> None:
    assert statistics.recurrence([[]] * 12) == (0.0, 0.0, 0.0)


def test_quantiles_are_members() -> None:
    assert statistics.quantiles(list(range(100, -1, -1))) == (25, 50, 90, 99, 100)


def test_words_are_those_of_whole_word_calldata() -> None:
    first, second = b"\2" * 32, b"\3" * 32
    assert list(statistics.abi_words(b"call" + first + second)) == [first, second]
    assert not list(statistics.abi_words(b"call" + first + b"odd"))
    assert not list(statistics.abi_words(b"cal"))


def test_kinds_of_words() -> None:
    address, nine, eight = (bytes(32 - n) + b"\2" * n for n in (20, 9, 8))
    assert [statistics.is_address_word(w) for w in (address, nine, eight)] == [True, False, False]
    assert [statistics.is_other_word(w) for w in (address, nine, eight)] == [False, True, False]
    assert statistics.is_other_word(b"\2" * 32)


def test_calls_of_a_block_skip_unknown_types() -> None:
    calls = list(statistics.block_calls(block([legacy(37, b"\1" * 70), typed(0x7E, 1)])))
    assert calls == [(0, b"\xaa" * 20, b"\5", b"\1" * 70)]


def test_group_ratio_finds_what_repeats_across_a_wide_window() -> None:
    # Copies of 300 KB that do not compress, 3 MB apart: past the window of the level itself.
    chain = [bytes(_noise(index, 300_000)) for index in range(10)]
    assert statistics.group_ratio(chain * 2, 1) == pytest.approx(1, abs=0.01)
    assert statistics.group_ratio(chain * 2, 20) == pytest.approx(0.5, abs=0.01)


def _noise(seed: int, size: int) -> bytes:
    return hashlib.shake_128(bytes([seed])).digest(size)


def test_short_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 10 blocks"):
        measure([block([legacy(37)])] * 10)


def assert_as_published(found: Statistics, run: Run) -> None:
    """Two digits were published, by a measure that is not ours: 0.025 covers both."""
    assert found.blocks == run.blocks
    assert found.transactions == pytest.approx(run.transactions, abs=0.5)
    assert found.value_zero == pytest.approx(run.value_zero, abs=0.006)
    assert found.calldata_zero_bytes == pytest.approx(run.calldata_zero_bytes, abs=0.006)
    for kind, share in run.types.items():
        assert found.types[kind] == pytest.approx(share, abs=0.006)
    for name in ("recipients", "selectors", "address_words", "other_words"):
        assert getattr(found, name) == pytest.approx(getattr(run, name), abs=0.025), name
    assert found.calldata_quantiles[:3] == run.calldata_quantiles[:3]
    assert found.calldata_quantiles[4] == run.calldata_quantiles[4]


def test_september_2023_as_published(testdata: Path) -> None:
    blocks = september_blocks(testdata)
    assert [split_block(b).number for b in blocks] == list(range(18_090_205, 18_090_219))
    found = measure(blocks, level=19)
    assert_as_published(found, SEPTEMBER_2023)
    assert (found.ratio_alone, found.ratio_grouped) == pytest.approx(
        SEPTEMBER_2023.ratios, abs=0.002)
    assert found.to_dict()["block_bytes"] == pytest.approx(2_315_714 / 14)


def test_may_2024_bodies_as_published(testdata: Path) -> None:
    found = measure(may_bodies(testdata), bodies=True, level=19)
    assert_as_published(found, MAY_2024)
    assert (found.ratio_alone, found.ratio_grouped) == pytest.approx(MAY_2024.ratios, abs=0.002)
