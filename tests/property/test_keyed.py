"""Keyed lanes: whatever the grouping, every read gives what was written, and damage shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import segments
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blockpack._native.counters import Counters
from blockpack.errors import CorruptError
from blockpack.segment.cache import GroupCache
from blockpack.segment.grouping import Grouping

GROUPINGS = st.builds(Grouping, st.integers(1, 12), st.integers(1, 6), st.integers(1, 5),
                      st.integers(1, 4))
RECORDS = st.lists(st.one_of(st.none(), st.binary(max_size=60), st.builds(
    lambda part, times: part * times, st.binary(min_size=1, max_size=8), st.integers(0, 60))),
    min_size=1, max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(GROUPINGS, RECORDS, st.sampled_from([None, 0, 300, 10**6]), st.data())
def test_every_read_gives_what_was_written(tmp_path: Path, grouping: Grouping,
                                           records: list[bytes | None], budget: int | None,
                                           data: st.DataObject) -> None:
    path = tmp_path / "a.seg"
    segments.build(path, records, grouping=grouping)
    counters = Counters()
    reader = segments.open_reader(path, cache=GroupCache(budget), counters=counters)
    for i in data.draw(st.lists(st.integers(0, len(records) - 1), max_size=30)):
        assert reader.record(segments.FIRST + i) == records[i]
    assert segments.contents(reader) == records
    start = data.draw(st.integers(0, len(records)))
    stop = data.draw(st.integers(start, len(records)))
    first = segments.FIRST
    assert segments.scan(reader, first + start, first + stop) == records[start:stop]
    assert reader.verify() == []
    assert reader.grouping == grouping
    index = reader.frames.index
    assert sorted(o for i in range(len(index)) for o in index.ordinals(i)) == \
        list(range(len(records)))
    for i in range(len(index)):
        for position, ordinal in enumerate(index.ordinals(i)):
            assert (index.find(ordinal), index.position(ordinal)) == (i, position)
    pieces = list(reader.pieces(first, first + len(records)))
    assert [piece[1] for piece in pieces[:-1]] == [piece[0] for piece in pieces[1:]]
    assert sum(piece[2] for piece in pieces) == reader.sections()["frames"]
    reader.close()


def test_a_scan_inflates_each_frame_once(tmp_path: Path) -> None:
    records = [bytes([i]) * 100 for i in range(40)]
    segments.build(tmp_path / "a.seg", records, grouping=Grouping(16, 4, 4, 2))
    counters = Counters()
    reader = segments.open_reader(tmp_path / "a.seg", counters=counters)
    assert segments.scan(reader, segments.FIRST, segments.FIRST + 40) == records
    assert counters.frames_inflated == len(reader.frames.index)


def test_a_cached_key_group_is_inflated_once(tmp_path: Path) -> None:
    records = [bytes([i]) * 100 for i in range(16)]
    segments.build(tmp_path / "a.seg", records, grouping=Grouping(16, 4, 4, 1))
    counters = Counters()
    reader = segments.open_reader(tmp_path / "a.seg", counters=counters, cache=GroupCache())
    for i in (1, 5, 9, 13, 2):
        assert reader.record(segments.FIRST + i) == records[i]
    assert counters.frames_inflated == 1 + 5


@pytest.mark.parametrize("codec", ["zstd"])
def test_a_damaged_key_group_is_named(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "a.seg"
    noise = [bytes((i * 37 + j * j) % 251 for j in range(200)) for i in range(8)]
    segments.build(path, noise, grouping=Grouping(8, 2, 4, 1), codec=codec)
    data = bytearray(path.read_bytes())
    data[64 + 30] ^= 1    # in the key group's frame
    path.write_bytes(data)
    reader = segments.open_reader(path)
    for i in range(8):
        with pytest.raises(CorruptError, match="frame 0: "):
            reader.record(segments.FIRST + i)
    faults = reader.verify()
    assert len(faults) == 7
    assert "frame 0: checksum" in str(faults[0])
    assert all("its key group, frame 0, which is damaged" in str(fault) for fault in faults[1:])
