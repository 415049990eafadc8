"""Records without their links: the kernel against the reference, and every read of such lanes."""

from __future__ import annotations

from pathlib import Path

import chainmaker
import pytest
import segments
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import links as reference

from blockpack._native.group import Group, cut_links, linked_group, pack
from blockpack.errors import CorruptError, LimitError
from blockpack.segment.cache import GroupCache
from blockpack.segment.grouping import Grouping

HEADERS = [chainmaker.header_of(block) for block in chainmaker.chain(40, 100)]
SHORT = b"\xe1\xa0" + bytes(32)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[bytes | None], list[bool]]:
    """Headers that link, with some that are other bytes or absent; and which follow."""
    start = draw(st.integers(0, 30))
    records: list[bytes | None] = list(HEADERS[start:start + draw(st.integers(1, 10))])
    for i in draw(st.lists(st.integers(0, len(records) - 1), max_size=2)):
        records[i] = draw(st.one_of(st.none(), st.binary(max_size=50), st.just(SHORT)))
    follows = [False] + [draw(st.booleans()) for _ in records[1:]]
    return records, draw(st.sampled_from([follows, [i > 0 for i in range(len(records))]]))


def everything(group: Group) -> list[bytes | None]:
    return [group.record(i) for i in range(len(group))]


@given(runs(), st.data())
def test_cut_and_computed_again(run: tuple[list[bytes | None], list[bool]],
                                data: st.DataObject) -> None:
    records, follows = run
    stored = cut_links(pack(records), follows)
    assert stored == reference.cut(records, follows)
    assert everything(linked_group(stored, follows)) == records
    group = linked_group(stored, follows)
    assert group.decoded_size == len(stored)
    for i in data.draw(st.lists(st.integers(0, len(records) - 1), max_size=8)):
        assert group.record(i) == records[i]
    views = linked_group(stored, follows).views(0, len(records), False)
    for view, record in zip(views, records, strict=True):
        place = None if record is None else reference.place_of(record)
        if view is not None and record is not None and place is not None:
            assert view[:place] == record[:place]
            assert view[place + 32:] == record[place + 32:]


@given(runs(), st.integers(0, 3000), st.integers(1, 255), st.integers(0, 40))
def test_mutated_contents_are_refused_or_read(run: tuple[list[bytes | None], list[bool]], at: int,
                                              change: int, short: int) -> None:
    records, follows = run
    stored = bytearray(cut_links(pack(records), follows))
    stored[at % len(stored)] ^= change
    for damaged in (stored, stored[:len(stored) - short], stored[:short]):
        try:
            group = linked_group(bytes(damaged), follows)
            assert len(everything(group)) == len(records)
        except (CorruptError, LimitError):
            pass


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.one_of(
    st.builds(Grouping, st.integers(1, 12), linked=st.just(True)),
    st.builds(Grouping, st.integers(1, 12), st.integers(1, 6), st.integers(1, 3),
              st.integers(1, 4), linked=st.just(True))),
    st.sampled_from([None, 0, 10**6]), st.data())
def test_every_read_of_a_linked_lane(tmp_path: Path, grouping: Grouping, budget: int | None,
                                     data: st.DataObject) -> None:
    path = tmp_path / "a.seg"
    records: list[bytes | None] = list(HEADERS)
    for i in data.draw(st.lists(st.integers(0, 39), max_size=3)):
        records[i] = None
    segments.build(path, records, grouping=grouping,
                   codec=data.draw(st.sampled_from(["zstd", "s2"])))
    reader = segments.open_reader(path, cache=GroupCache(budget))
    for i in data.draw(st.lists(st.integers(0, 39), max_size=20)):
        assert reader.record(segments.FIRST + i) == records[i]
    assert segments.contents(reader) == records
    start = data.draw(st.integers(0, 40))
    stop = data.draw(st.integers(start, 40))
    first = segments.FIRST
    assert segments.scan(reader, first + start, first + stop) == records[start:stop]
    assert reader.verify() == []
    assert reader.grouping == grouping


@pytest.mark.parametrize("codec", ["zstd", "s2"])
def test_links_take_no_room(tmp_path: Path, codec: str) -> None:
    sizes = [segments.build(tmp_path / "a.seg", HEADERS, codec=codec,
                            grouping=Grouping(40, linked=linked)).file_bytes
             for linked in (False, True)]
    assert sizes[0] - sizes[1] > 39 * 31


def test_the_stored_form() -> None:
    stored = cut_links(pack(HEADERS[:3]), [False, True, True])
    assert stored[0] == 2
    assert len(stored) == 1 + len(pack(HEADERS[:3])) - 64
    with pytest.raises(CorruptError, match="another number of links"):
        linked_group(stored, [False, True, False])
    with pytest.raises(CorruptError, match="2 links are cut of 2 records"):
        linked_group(stored, [False, True])
    for head in (b"", b"\x80", b"\x80\x00", b"\x80\x80\x80\x01"):
        with pytest.raises(CorruptError, match="no count of them"):
            linked_group(head, [False, True])
