"""The knobs of a store: their defaults, what each may be, and which can change later."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from blockpack.errors import KnobError
from blockpack.segment import codecs
from blockpack.segment.layout import GROUP_SIZE_MAX

CODECS: Final = tuple(codecs.CODECS)
LINKS: Final = ("hash", "none")
DICTIONARIES: Final = ("none", "auto")

SEGMENT_BLOCKS_MAX: Final = 1 << 24
SEGMENT_BYTES_MAX: Final = 1 << 40
SEAL_LAG_MAX: Final = 1 << 32
CHAIN_ID_MAX: Final = 2**63 - 1

LOCKED: Final = ("block_group_size", "links")
REPACKED: Final = ("block_group_size",)    # of these, what repacking a whole store can change


@dataclass(frozen=True, slots=True)
class Knobs:
    """All knobs of one store, validated.

    Sizes are in decoded bytes, the others in blocks; a level is a number or a tier's name.
    Raises KnobError naming the knob, what it was given and what it takes.
    """

    compression: str = "s2"
    compression_level: int | str = 1
    seal_compression_level: int | str = 6
    block_group_size: int = 64
    segment_blocks: int = 50_000
    segment_bytes: int = 8 << 30
    seal_lag: int = 64
    seal_dictionary: str = "none"
    links: str = "hash"

    def __post_init__(self) -> None:
        _one_of("compression", self.compression, CODECS)
        _one_of("seal_dictionary", self.seal_dictionary, DICTIONARIES)
        _one_of("links", self.links, LINKS)
        check_between("block_group_size", self.block_group_size, 1, GROUP_SIZE_MAX)
        check_between("segment_blocks", self.segment_blocks, 1, SEGMENT_BLOCKS_MAX)
        check_between("segment_bytes", self.segment_bytes, 1, SEGMENT_BYTES_MAX)
        check_between("seal_lag", self.seal_lag, 0, SEAL_LAG_MAX)

    def changed(self, unlocked: tuple[str, ...] = (), **changes: Any) -> Knobs:
        """These knobs with some changed; KnobError for a locked one set to another value.

        None changes nothing. ``unlocked`` names locked ones that may change all the same.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        for name, value in given.items():
            if name not in _NAMES:
                raise KnobError(f"unknown knob {name!r}: the knobs are {', '.join(_NAMES)}")
            if name in LOCKED and name not in unlocked and value != getattr(self, name):
                way = "; `blockpack repack` changes it" if name in REPACKED else ""
                raise KnobError(
                    f"{name} is locked at creation: the store has {getattr(self, name)!r}, "
                    f"asked for {value!r}{way}")
        return replace(self, **given)

    def to_dict(self) -> dict[str, Any]:
        """Every knob by name, as the manifest keeps them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Knobs:
        """The knobs of a manifest; KnobError for one that this version does not know."""
        unknown = sorted(set(values) - set(_NAMES))
        if unknown:
            raise KnobError(f"unknown knobs: {', '.join(unknown)}")
        return cls(**values)


_NAMES: Final = tuple(field.name for field in fields(Knobs))


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise KnobError(f"{name} is {value!r}, it takes {', '.join(allowed)}")


def check_between(name: str, value: Any, low: int, high: int) -> None:
    """KnobError unless the value is a whole number from low to high."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise KnobError(f"{name} is {value!r}, it takes a whole number from {low} to {high}")
