"""The frames of one group: the first is the prefix of the others."""

from __future__ import annotations

import pytest

from blockpack._native.group import Group
from blockpack.errors import KnobError
from blockpack.segment.codecs import get_codec
from blockpack.segment.grouping import Grouping
from blockpack.segment.packing import pack_frames

RECORDS = [b"record %d " % i * 30 for i in range(6)] + [None, b""]
ZSTD = get_codec("zstd")


def test_frames_decode_with_the_first_one_as_their_prefix() -> None:
    grouping = Grouping(8, 2, 4, 2)
    frames = grouping.frames(8)
    packed = list(pack_frames(ZSTD, "default", RECORDS, frames))
    (first, key), *others = packed
    after = ZSTD.inflater_after(key)
    assert after.prefix() == key
    assert after.nbytes > len(key)
    contents = [ZSTD.inflate(first, 10_000), *(after.inflate(frame, 10_000) for frame, _ in others)]
    assert contents == [content for _, content in packed]
    for content, positions in zip(contents, frames, strict=True):
        group = Group(content, len(positions))
        assert [group.record(i) for i in range(len(group))] == [RECORDS[p] for p in positions]
    assert len(others[0][0]) < 60    # 540 bytes that are nearly all in the prefix


def test_a_codec_without_prefixes_says_so() -> None:
    snappy = get_codec("snappy")
    with pytest.raises(KnobError, match="snappy compresses without prefixes"):
        list(pack_frames(snappy, "fastest", RECORDS, Grouping(8, 2, 4, 2).frames(8)))
    assert len(list(pack_frames(snappy, "fastest", RECORDS, Grouping(8).frames(8)))) == 1
