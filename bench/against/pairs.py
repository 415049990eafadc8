"""Taking turns: rounds in which every side does the same work, and the ratio of their times."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter

Read = Callable[[int], object]
Times = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Line:
    """One figure beside its peer's: ``target`` bounds the ratio, or ``ours`` where no peer is.

    ``at_least`` turns the bound round. ``ratio`` is the median of the rounds' ratios, so it is not
    quite the quotient of the two medians shown.
    """

    section: str
    name: str
    ours: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        value = self.ours if self.ratio is None else self.ratio
        return value >= self.target if self.at_least else value <= self.target

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "met": self.met}


def compared(section: str, name: str, times: Times, ours: str, peer: str, *, scale: float,
             unit: str, target: float | None = None, note: str = "") -> Line:
    """A line of two sides' times, in ``unit`` once multiplied by ``scale``."""
    return Line(section, name, median(times[ours]) * scale, unit, median(times[peer]) * scale,
                peer, median_ratio(times[ours], times[peer]), target, note=note)


def compared_speed(section: str, name: str, times: Times, ours: str, peer: str, *,
                   megabytes: float, target: float | None = None, at_least: bool = False,
                   note: str = "") -> Line:
    """As ``compared``, in MB/s; an upper bound is on the ratio of times, a lower one on speeds."""
    ratio = median_ratio(times[ours], times[peer])
    return Line(section, name, megabytes / median(times[ours]), "MB/s",
                megabytes / median(times[peer]), peer, 1 / ratio if at_least else ratio, target,
                at_least, note)


def median_ratio(ours: Sequence[float], peer: Sequence[float]) -> float:
    """The median over the rounds: what else the machine does falls on both sides of a round."""
    return median(a / b for a, b in zip(ours, peer, strict=True))


@contextmanager
def quiet() -> Iterator[None]:
    """No collection of garbage by the way; left as it was."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def take_turns(sides: Mapping[str, Callable[[], float]], rounds: int) -> Times:
    """Each side once a round, in an order that moves on; a side returns its own seconds."""
    names = list(sides)
    times: Times = {name: [] for name in names}
    for number in range(rounds):
        for at in range(len(names)):
            name = names[(at + number) % len(names)]
            with quiet():
                times[name].append(sides[name]())
    return times


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """The same as a side of ``take_turns``."""
    def run() -> float:
        start = perf_counter()
        work()
        return perf_counter() - start
    return run


class Picks:
    """Numbers to read: each round one of every group, in random order.

    The two halves of the groups take turns, so that the same group does not come again before
    half of the others have: by then no cache of one group remembers it.
    """

    def __init__(self, groups: Sequence[Sequence[int]], seed: int) -> None:
        self._random = random.Random(seed)
        half = len(groups) // 2
        self._halves = groups[:half], groups[half:]

    def round(self) -> tuple[list[int], list[int]]:
        return tuple([self._random.choice(group) for group in half]  # type: ignore[return-value]
                     for half in self._halves)

    def order(self, picked: tuple[list[int], list[int]]) -> list[int]:
        """One side's order of a round's numbers."""
        return [number for half in picked
                for number in self._random.sample(half, len(half))]


def read_in_turns(sides: Mapping[str, Read], picks: Picks, rounds: int, chunk: int) -> Times:
    """Seconds a read of each side and round: the same numbers, each side in its own order.

    The sides change every ``chunk`` reads. With one order for all, the second side would find the
    first one's compressed bytes in the processor's caches.
    """
    names = list(sides)
    times: Times = {name: [] for name in names}
    for turn in range(rounds):
        picked = picks.round()
        orders = {name: picks.order(picked) for name in names}
        total = dict.fromkeys(names, 0.0)
        count = len(orders[names[0]])
        with quiet():
            for start in range(0, count, chunk):
                for at in range(len(names)):
                    name = names[(at + turn + start // chunk) % len(names)]
                    total[name] += time_reads(sides[name], orders[name][start:start + chunk])
        for name in names:
            times[name].append(total[name] / count)
    return times


def time_reads(read: Read, numbers: Sequence[int]) -> float:
    start = perf_counter()
    for number in numbers:
        read(number)
    return perf_counter() - start
