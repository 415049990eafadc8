"""Ranges read end to end against the bare inflation of their frames, on one thread and two."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import blockpack
from against import frames
from against.frames import Frame, bare_inflate
from against.pairs import Line, Times, compared, median_ratio, take_turns, timed
from against.stores import Bench

VIEWS, BYTES, TWO_THREADS = 1.10, 1.30, 1.6
MILLISECONDS = 1e3


def lines(bench: Bench) -> list[Line]:
    return [line for codec in ("zstd", "s2") for line in of_codec(bench, codec)]


def exhaust(items: Iterable[object]) -> None:
    """Take every item and keep none."""
    deque(items, maxlen=0)


def of_codec(bench: Bench, codec: str) -> list[Line]:
    path = bench.sealed(codec, bench.sizes.group_blocks)
    every = [*frames.table_frames(path, "headers"), *frames.table_frames(path, "bodies")]
    with blockpack.open(path) as store:
        sides = one_thread(store, every, codec)
        for side in ("views", "bytes"):
            check_once_a_frame(store, sides[side], len(every))
        times = take_turns({name: timed(work) for name, work in sides.items()},
                           bench.sizes.rounds)
        with ThreadPoolExecutor(2) as pool:
            pairs = two_threads(store, every, codec, pool)
            both = take_turns({name: timed(work) for name, work in pairs.items()},
                              bench.sizes.rounds)
    size = bench.sizes.group_blocks
    name = f"raw_range, {codec}, group {size}"
    return [
        compared("ranges", f"{name}, views", times, "views", "bare inflation", scale=MILLISECONDS,
                 unit="ms", target=VIEWS, note=f"{len(every)} frames, each inflated once"),
        compared("ranges", f"{name}, bytes", times, "bytes", "bare inflation", scale=MILLISECONDS,
                 unit="ms", target=BYTES, note=f"{len(every)} frames, each inflated once"),
        speed_up(f"{name}, views, 2 threads", both),
    ]


def one_thread(store: blockpack.BlockStore, every: Sequence[Frame],
               codec: str) -> dict[str, Callable[[], None]]:
    inflate = bare_inflate(codec)
    stop = len(store)
    return {"views": lambda: exhaust(store.raw_range(0, stop, views=True)),
            "bytes": lambda: exhaust(store.raw_range(0, stop)),
            "bare inflation": lambda: exhaust(inflate(frame.data) for frame in every)}


def check_once_a_frame(store: blockpack.BlockStore, work: Callable[[], None],
                       count: int) -> None:
    store.counters.reset()
    work()
    have = store.counters.snapshot()
    if (have["frames_inflated"], have["frames_partial"]) != (count, 0):
        raise AssertionError(f"{count} frames were to be inflated once each, not {have}")


def two_threads(store: blockpack.BlockStore, every: Sequence[Frame], codec: str,
                pool: ThreadPoolExecutor) -> dict[str, Callable[[], None]]:
    """Both halves one after the other, and at once: ours, and the bare calls."""
    stop = len(store)
    border = stop // 2
    bare = [bare_inflate(codec), bare_inflate(codec)]
    halves = [every[::2], every[1::2]]

    def ours(side: int) -> None:
        low, high = (0, border) if side == 0 else (border, stop)
        exhaust(store.raw_range(low, high, views=True))

    def peer(side: int) -> None:
        exhaust(bare[side](frame.data) for frame in halves[side])

    def in_turn(work: Callable[[int], None]) -> None:
        exhaust(map(work, (0, 1)))

    def at_once(work: Callable[[int], None]) -> None:
        exhaust(pool.map(work, (0, 1)))

    return {"one": lambda: in_turn(ours), "two": lambda: at_once(ours),
            "bare one": lambda: in_turn(peer), "bare two": lambda: at_once(peer)}


def speed_up(name: str, times: Times) -> Line:
    """A line whose ratio is the gain of the second thread; the peer's is the bare calls' gain."""
    ours = median_ratio(times["one"], times["two"])
    bare = median_ratio(times["bare one"], times["bare two"])
    return Line("ranges", name, ours, "x", bare, "bare inflation", ours, TWO_THREADS,
                at_least=True, note="the ratio is 1 thread against 2")
