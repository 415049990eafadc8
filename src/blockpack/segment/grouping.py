"""How a lane's records form groups and frames: plain groups, or keyed ones that share a prefix."""

from __future__ import annotations

from dataclasses import dataclass

from blockpack.errors import KnobError
from blockpack.segment.layout import GROUP_SIZE_MAX


@dataclass(frozen=True, slots=True)
class Grouping:
    """A group of ``group_size`` records is one frame, or (``keys`` > 0) keys and what follows them.

    The records at positions 0, stride, 2 * stride .. of a keyed group, at most ``keys`` of them,
    are its first frame, the *key group*. The others follow in their order, ``frame_records`` to a
    frame, and each of these frames has the content of the key group as its prefix. ``linked``
    records lack the hash of the one before, where that is in their frame.
    """

    group_size: int
    keys: int = 0
    stride: int = 0
    frame_records: int = 0
    linked: bool = False

    def __post_init__(self) -> None:
        sizes = [self.group_size]
        if self.keyed:
            sizes += [self.keys, self.stride, self.frame_records]
        if not all(1 <= size <= GROUP_SIZE_MAX for size in sizes):
            raise KnobError(f"a group holds 1 to {GROUP_SIZE_MAX} records, not {self}")

    @property
    def keyed(self) -> bool:
        """Whether frames share a prefix."""
        return self.keys > 0

    @property
    def keying(self) -> tuple[int, int, int] | None:
        """What the frame index is told of it."""
        return (self.keys, self.stride, self.frame_records) if self.keyed else None

    def frames(self, count: int) -> list[range | list[int]]:
        """Positions of the records of each frame, in a group of ``count`` records."""
        if not self.keyed:
            return [range(count)]
        keys = range(0, min(count, self.keys * self.stride), self.stride)
        rest = [position for position in range(count) if position not in keys]
        step = self.frame_records
        return [keys, *(rest[i:i + step] for i in range(0, len(rest), step))]

    def __str__(self) -> str:
        links = ", without links" if self.linked else ""
        if not self.keyed:
            return f"groups of {self.group_size}{links}"
        every = f"every {self.stride}" if self.stride > 1 else "the first"
        return (f"groups of {self.group_size}, frames of {self.frame_records} after "
                f"{self.keys} keys, {every}{links}")
