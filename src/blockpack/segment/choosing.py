"""Chooses how a segment groups its records, by packing a sample of them in every way worth trying.

The choice depends on the records, the codec, the tier and the group size alone: sizes enter it,
times do not, so that a segment has the same bytes wherever it is sealed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import NamedTuple

from blockpack.segment.codecs import Codec
from blockpack.segment.grouping import Grouping
from blockpack.segment.layout import INDEX_ENTRY_BYTES
from blockpack.segment.packing import Record, pack_frames

# The sample is the segment's first records: no more than it takes to pass one of these. Dense
# blocks: 256 of 90 KB, so that the largest dense group is seen whole. The best tiers pack 3 MB/s.
SAMPLE_BYTES = {"best": 6 << 20}
SAMPLE_BYTES_OTHERS = 24 << 20
SAMPLE_RECORDS = 4096
# It is cut to a multiple of the largest of these that it holds: the rest of a group packs worse.
WHOLE = (1024, 256, 64)

# Halving what a random read inflates may cost 11 % of size, where that is left below the bound that
# follows: with 0.05, 3.5 %, Sepolia's headers came to frames of 16, 7 % smaller than those of 8 and
# half as fast to read as plain groups of 64. Dense blocks are decided by the bound.
EXPONENT = 0.15
# But never more than this over plain groups; the last one where there are few groups, of which
# the first ones had no keys of earlier ones to lean on.
WORSE_MAX, WORSE_MAX_FEW, FEW_GROUPS = 1.01, 1.015, 4
# A read of one frame costs as much as the inflation of so many bytes, before it inflates any.
FRAME_COST_BYTES = 4096
# A key's record is copied out of a prefix in the cache, in this part of the time of inflation.
PREFIX_READ = 6
# The Keccak-256 of a header, 1.4 us.
LINK_COST_BYTES = 2048
# Reads are uniform over ten times the cache.
CACHE_SHARE = 0.1

# Keys of a group of large records, and the stride between them: what repeats in blocks does so
# from one to the next.
DENSE = ((8, 8), (9, 7), (13, 5), (16, 4), (21, 3), (16, 8), (16, 16))
DENSE_BYTES_MIN = 2048    # on average
# Group size, keys and records a frame for small ones: a frame needs several, and keys for what is
# the same in all of them.
SPARSE = tuple((size, keys, frame) for size in (256, 1024) for keys in (8, 32)
               for frame in (4, 8, 16))
SPARSE_BYTES_MAX = 16384


class Candidate(NamedTuple):
    """One way to group the sample."""

    grouping: Grouping
    stored_bytes: int     # frames and their index entries
    read_bytes: float     # inflated by a uniform random read, on average

    @property
    def cost(self) -> float:
        """What is made small."""
        return float(self.stored_bytes * self.read_bytes ** EXPONENT)


def is_enough(records: int, sample_bytes: int, tier: str) -> bool:
    """Whether so many records, of so many bytes, are a sample."""
    return records >= SAMPLE_RECORDS or sample_bytes >= SAMPLE_BYTES.get(tier, SAMPLE_BYTES_OTHERS)


def choose(sample: Sequence[Record], codec: Codec, tier: str, group_size: int, *,
           whole: bool, linked: bool = False, check: Callable[[], None] = lambda: None,
           executor: Executor | None = None) -> Grouping:
    """Return the best grouping of a segment's records: these are the first, or the whole of it.

    ``linked`` records hold the hash of the one before, which groupings may leave out. ``check()``
    is called now and then and may raise to give up. An ``executor`` packs candidates side by side.
    """
    few = whole and len(sample) < FEW_GROUPS * group_size
    if not whole:
        step = next((step for step in WHOLE if step <= len(sample)), 1)
        sample = sample[:len(sample) // step * step]
    tried = weigh(sample, codec, tier, group_size, linked=linked, check=check,
                  executor=executor)
    plain = tried[0]
    most = plain.stored_bytes * (WORSE_MAX_FEW if few else WORSE_MAX)
    return min((c for c in tried if c.stored_bytes <= most), key=lambda c: c.cost).grouping


def weigh(sample: Sequence[Record], codec: Codec, tier: str, group_size: int, *,
          linked: bool = False, check: Callable[[], None] = lambda: None,
          executor: Executor | None = None) -> list[Candidate]:
    """Every candidate, packed; the first one is plain groups of ``group_size``."""
    others = candidates(sample, codec, group_size)
    if linked:
        others = [replace(grouping, linked=True) for grouping in [Grouping(group_size), *others]]
    def packed(grouping: Grouping) -> Candidate:
        stored = _stored_bytes(sample, codec, tier, grouping, check)
        return Candidate(grouping, stored, read_bytes(sample, grouping))

    groupings = list(dict.fromkeys([Grouping(group_size), *others]))
    return list((executor.map if executor else map)(packed, groupings))


def candidates(sample: Sequence[Record], codec: Codec, group_size: int) -> list[Grouping]:
    """The groupings to try: none with larger frames than the group size, none beyond the sample."""
    plain = [Grouping(size) for size in (1, 4, 16) if size < group_size]
    if not codec.prefixes or group_size < 2:
        return plain
    mean = sum(map(_size, sample)) / len(sample)
    dense = [Grouping(keys * stride, keys, stride, 1) for keys, stride in DENSE
             if keys <= group_size and mean >= DENSE_BYTES_MIN]
    sparse = [Grouping(size, keys, 1, frame) for size, keys, frame in SPARSE
              if max(keys, frame) <= group_size and size <= len(sample)
              and mean <= SPARSE_BYTES_MAX]
    return plain + dense + sparse


def read_bytes(sample: Sequence[Record], grouping: Grouping) -> float:
    """What a random read inflates, on average, with the share of key groups that the cache has."""
    missed = hit = keys = cost = 0.0
    for start in range(0, len(sample), grouping.group_size):
        sizes = list(map(_size, sample[start:start + grouping.group_size]))
        frames = grouping.frames(len(sizes))
        key = sum(sizes[i] for i in frames[0])
        keys += key
        # A read stops at its record: half-way on average.
        count = len(frames[0])
        links = _link_cost(frames[0]) if grouping.linked else 0
        missed += count * FRAME_COST_BYTES + key * (count + 1) / 2 + links
        hit += count * (FRAME_COST_BYTES + key / PREFIX_READ) + links
        for frame in frames[1:]:
            cost = len(frame) * (FRAME_COST_BYTES + sum(sizes[i] for i in frame))
            cost += _link_cost(frame) if grouping.linked else 0
            hit += cost
            missed += cost + len(frame) * (FRAME_COST_BYTES + key)
    share = min(1.0, CACHE_SHARE * sum(map(_size, sample)) / max(keys, 1)) if grouping.keyed else 0
    return (share * hit + (1 - share) * missed) / len(sample)


def _link_cost(frame: Sequence[int]) -> float:
    """Of computing links up to each of a frame's records in turn."""
    return LINK_COST_BYTES * len(frame) * (len(frame) - 1) / 2


def _size(record: Record) -> int:
    return 0 if record is None else len(record)


def _stored_bytes(sample: Sequence[Record], codec: Codec, tier: str, grouping: Grouping,
                  check: Callable[[], None]) -> int:
    """Frames and index entries of the whole sample."""
    total = 0
    for start in range(0, len(sample), grouping.group_size):
        check()
        records = sample[start:start + grouping.group_size]
        frames = grouping.frames(len(records))
        total += sum(len(data) + INDEX_ENTRY_BYTES for data, _ in pack_frames(
            codec, tier, records, frames, linked=grouping.linked))
    return total
