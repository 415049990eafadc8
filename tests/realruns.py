"""Published figures of real dense runs of mainnet, to hold our measures and made-up blocks beside.

Shares are rounded to two digits, as they were published with the runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reference.rlp import items_in


@dataclass(frozen=True)
class Run:
    """``ratios`` are compressed / raw size by zstd 19: each block alone, and the run as one."""

    blocks: int
    transactions: int
    value_zero: float
    calldata_quantiles: tuple[int, int, int, int, int]
    calldata_zero_bytes: float
    recipients: tuple[float, float, float]
    selectors: tuple[float, float, float]
    address_words: tuple[float, float, float]
    other_words: tuple[float, float, float]
    types: dict[int, float]
    ratios: tuple[float, float]


JULY_2023 = Run(23, 192, .52, (0, 68, 644, 2756, 120_000), .34, (.43, .52, .65),
                (.68, .78, .88), (.39, .46, .58), (.10, .12, .16), {0: .10, 2: .89}, (.638, .606))
SEPTEMBER_2023 = Run(14, 153, .42, (0, 68, 644, 7340, 115_332), .46, (.30, .45, .62),
                     (.48, .66, .84), (.33, .38, .46), (.03, .04, .06), {0: .21, 2: .79},
                     (.555, .526))
MAY_2024 = Run(25, 144, .52, (0, 68, 900, 2312, 119_602), .52, (.33, .40, .56), (.60, .69, .85),
               (.35, .41, .50), (.18, .21, .29), {0: .15, 1: .01, 2: .84}, (.517, .470))
# The runs nearest to the late 2023 that the synthetic chain stands for.
RUNS = (JULY_2023, SEPTEMBER_2023, MAY_2024)


def september_blocks(folder: Path) -> list[bytes]:
    """The blocks 18090205-18090218."""
    return _items(folder / "mainnet-18090205-18090218.rlp")


def may_bodies(folder: Path) -> list[bytes]:
    """The bodies of the blocks 19808000-19808024, without withdrawals."""
    return _items(folder / "bodies" / "mainnet-19808000-19808024.bodies-nowithdrawals.rlp")


def _items(path: Path) -> list[bytes]:
    stream = path.read_bytes()
    return [stream[item.start:item.end] for item in items_in(stream, 0, len(stream))]
