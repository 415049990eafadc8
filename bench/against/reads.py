"""Random reads: each a counted cache miss, on a group that was not read for half a round."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import blockpack
from against import frames
from against.frames import Frame, bare_inflate, bare_inflate_until
from against.pairs import Line, Picks, Read, Times, compared, read_in_turns
from against.peers import LmdbStore, available
from against.stores import Bench

RAW_SINGLE, VIEW_SINGLE, GROUPED = 1.30, 1.15, 1.25
MICROSECONDS = 1e6


def lines(bench: Bench) -> list[Line]:
    return [*single(bench), *grouped(bench, "zstd"), *grouped(bench, "s2")]


def single(bench: Bench) -> list[Line]:
    """Group 1, zstd, against the bare call on the body's frame and against LMDB."""
    path = bench.sealed("zstd", 1)
    bodies = frames.frame_of(frames.table_frames(path, "bodies"))
    bare = bare_inflate("zstd")
    with blockpack.open(path) as store, blockpack.open(path) as viewed:
        sides: dict[str, Read] = {"raw": store.raw, "view": viewed.view,
                                  "bare body frame": lambda n: bare(bodies[n].data)}
        peer = None
        if available("lmdb"):
            peer = LmdbStore(bench.new_path())
            peer.load(bench.blocks)
            sides["LMDB"] = peer.get
        picks = Picks([[number] for number in range(len(bench.blocks))], seed=7)
        times = read_in_turns(sides, picks, bench.sizes.rounds, chunk=16)
        for handle in (store, viewed):
            check_misses(handle.counters, 2 * bench.sizes.rounds * len(bench.blocks))
    found = []
    for side, target in (("raw", RAW_SINGLE), ("view", VIEW_SINGLE)):
        found.append(line(f"{side}(n), zstd, group 1", times, side, "bare body frame", target))
        if peer is not None:
            found.append(line(f"{side}(n), zstd, group 1", times, side, "LMDB", 1.0))
    return found


def line(name: str, times: Times, ours: str, peer: str, target: float | None,
         *, note: str = "") -> Line:
    return compared("reads", name, times, ours, peer, scale=MICROSECONDS, unit="us",
                    target=target, note=note)


def check_misses(counters: Any, reads: int) -> None:
    """Every read of a record missed the cache and inflated one frame."""
    have = counters.snapshot()
    if (have["cache_hits"], have["cache_misses"], have["frames_inflated"]) != (0, reads, reads):
        raise AssertionError(f"{reads} misses were meant to be measured, not {have}")


class Stretches:
    """What a random read has to inflate: both tables' frames, up to the record's end."""

    def __init__(self, path: Path, codec: str) -> None:
        self.inflate = bare_inflate(codec)
        self._until = bare_inflate_until(codec)
        self._parts: list[tuple[Mapping[int, Frame], Mapping[int, int]]] = []
        self.header_group_bytes = max(frame.decoded_size + 4 * frame.records
                                      for frame in frames.table_frames(path, "headers"))
        for table in ("headers", "bodies"):
            found = frames.table_frames(path, table)
            self._parts.append((frames.frame_of(found),
                                frames.record_ends(found, self.inflate)))

    @property
    def frames(self) -> Mapping[int, Frame]:
        """The bodies' frame of each number."""
        return self._parts[1][0]

    def bare(self, number: int) -> None:
        for of, ends in self._parts:
            self._until(of[number], ends[number])

    def whole(self, number: int) -> None:
        for of, _ in self._parts:
            self.inflate(of[number].data)


def grouped(bench: Bench, codec: str) -> list[Line]:
    """Early stop in a group, against the codec's own calls for the same stretch."""
    size = bench.sizes.group_blocks
    path = bench.sealed(codec, size)
    stretches = Stretches(path, codec)
    groups = sorted({(f.first, f.records) for f in stretches.frames.values()})
    picks = Picks([range(first, first + count) for first, count in groups], seed=8)
    # A round is short: as many reads in all as in groups of one would take minutes.
    rounds = 4 * bench.sizes.rounds
    # A cache that holds one group of headers: they are small, and several would stay in a larger
    # one and be hits.
    with blockpack.open(path, cache_bytes=stretches.header_group_bytes) as store:
        sides: dict[str, Read] = {"raw": store.raw, "bare stretch": stretches.bare,
                                  "whole group": stretches.whole}
        times = read_in_turns(sides, picks, rounds, chunk=1)
        check_misses(store.counters, 2 * rounds * len(groups))
    name = f"raw(n), {codec}, group {size}"
    return [line(name, times, "raw", "bare stretch", GROUPED,
                 note="both tables' frames, to the record's end"),
            line(name, times, "raw", "whole group", None, note="for information")]
