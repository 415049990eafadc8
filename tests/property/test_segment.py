"""A segment gives back the records it was given, by every path, whatever the knobs."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from segments import FIRST, build, contents, open_reader, scan

from blockpack._native.counters import Counters
from blockpack.segment.cache import GroupCache
from blockpack.segment.codecs import LEVELS
from blockpack.segment.digest import Digest
from blockpack.segment.writer import Record

PAIRS = st.sampled_from([(codec, tier) for codec, tiers in LEVELS.items() for tier in tiers
                         if tier != "best"])
# Absent, empty, one byte, around the borders of varints, and some that make a group
# large enough (over 256 KiB) to be inflated in part.
SIZES = st.sampled_from([0, 1, 2, 31, 32, 126, 127, 128, 5000, 16_382, 16_383, 131_072])
PLAIN = st.builds(lambda size, byte: bytes([byte]) * size, SIZES, st.integers(0, 255))
LISTS = st.lists(st.one_of(st.none(), st.binary(max_size=60), PLAIN), min_size=1, max_size=40)
# Codec and tier, group size, cache budget (-1: the largest groups), map or pread.
KNOBS = st.tuples(PAIRS, st.integers(1, 45), st.sampled_from([-1, 0, 5000, 10 << 20]),
                  st.booleans())


@given(LISTS, KNOBS, st.data())
def test_round_trip(records: list[Record], knobs: tuple[tuple[str, str], int, int, bool],
                    data: st.DataObject) -> None:
    pair, group_size, budget, mmap = knobs
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.seg"
        summary = build(path, records, codec=pair[0], tier=pair[1], group_size=group_size)
        counters = Counters()
        cache = GroupCache(None if budget < 0 else budget)
        reader = open_reader(path, mmap=mmap, cache=cache, counters=counters,
                             expect=(summary.file_bytes, summary.seal))
        assert contents(reader) == records
        for i in data.draw(st.lists(st.integers(0, len(records) - 1), max_size=20)):
            assert reader.record(FIRST + i) == records[i]
            assert reader.view(FIRST + i) == records[i]
        start = data.draw(st.integers(0, len(records)))
        stop = data.draw(st.integers(start, len(records)))
        counters.reset()
        assert scan(reader, FIRST + start, FIRST + stop) == records[start:stop]
        frames = (stop - 1) // group_size - start // group_size + 1 if stop > start else 0
        assert counters.frames_inflated == frames
        assert reader.verify() == []
        reader.close()


@given(LISTS, st.integers(1, 45), st.integers(1, 45))
def test_the_digest_depends_on_records_alone(records: list[Record], one: int, other: int) -> None:
    expected = Digest()
    expected.add_all(FIRST, records)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.seg"
        assert build(path, records, group_size=one).digest == expected
        assert build(path, records, group_size=other, codec="snappy").digest == expected


@given(LISTS, PAIRS, st.integers(1, 10))
def test_threads_do_not_show_in_the_bytes(records: list[Record], pair: tuple[str, str],
                                          group_size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        one, other = Path(folder) / "a.seg", Path(folder) / "b.seg"
        build(one, records, codec=pair[0], tier=pair[1], group_size=group_size)
        build(other, records, codec=pair[0], tier=pair[1], group_size=group_size, executor=pool)
        assert one.read_bytes() == other.read_bytes()
