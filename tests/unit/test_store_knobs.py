"""Knobs: defaults, what each may be, what is locked."""

from __future__ import annotations

import inspect

import pytest

import blockpack
from blockpack.errors import KnobError
from blockpack.store.knobs import Knobs
from blockpack.store.recovery import checked_knobs


def test_defaults_are_the_documented_ones() -> None:
    assert Knobs().to_dict() == {
        "compression": "s2", "compression_level": 1, "seal_compression_level": 6,
        "block_group_size": 64, "segment_blocks": 50_000, "segment_bytes": 8 << 30,
        "seal_lag": 64, "seal_dictionary": "none", "links": "hash"}
    assert Knobs.from_dict(Knobs().to_dict()) == Knobs()


@pytest.mark.parametrize(("name", "value"), [
    ("compression", "lz4"), ("block_group_size", 0), ("block_group_size", 65_537),
    ("block_group_size", True), ("segment_blocks", 0), ("segment_blocks", 1.5),
    ("segment_bytes", 0), ("seal_lag", -1), ("links", "maybe"), ("seal_dictionary", "some"),
])
def test_wrong_values_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(KnobError, match=f"{name} is {value!r}"):
        Knobs(**{name: value})  # type: ignore[arg-type]


def test_locked_knobs_name_both_values() -> None:
    with pytest.raises(KnobError, match="the store has 64, asked for 16"):
        Knobs().changed(block_group_size=16)
    assert Knobs().changed(block_group_size=64, segment_blocks=None) == Knobs()
    assert Knobs().changed(segment_blocks=9).segment_blocks == 9
    with pytest.raises(KnobError, match="unknown knob 'colour'"):
        Knobs().changed(colour=1)
    with pytest.raises(KnobError, match="unknown knobs: colour"):
        Knobs.from_dict({"colour": 1})


def test_a_level_must_be_one_of_the_codecs_tiers() -> None:
    with pytest.raises(KnobError, match="fastest, better, best"):
        checked_knobs(Knobs(seal_compression_level="default"))
    assert checked_knobs(Knobs(compression="zstd", seal_compression_level="default"))


def test_create_has_the_same_defaults() -> None:
    defaults = {name: parameter.default
                for name, parameter in inspect.signature(blockpack.create).parameters.items()}
    assert Knobs().to_dict().items() <= defaults.items()
