"""The native way from a number to its group: what it asks of its parts, and its refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from framekit import CONTENTS, Memory, reader

from blockpack.errors import CorruptError


@pytest.mark.parametrize("mapped", [True, False])
def test_stored_bytes_and_groups(mapped: bool) -> None:
    frames = reader(mapped=mapped)
    assert [bytes(frames.data(i)) for i in range(3)] == CONTENTS
    assert [len(frames.group(i)) for i in range(3)] == [3, 1, 3]


def test_only_frames_above_the_limit_are_announced() -> None:
    frames = reader()
    for i in range(3):
        frames.data(i)
    source = frames.source
    assert isinstance(source, Memory)
    assert [size for _, size in source.advised] == [len(CONTENTS[1]), len(CONTENTS[2])]
    frames.announce(0)
    assert source.advised[-1] == (64, len(CONTENTS[0]))
    frames.group(1)    # its reader announces it, a frame ahead
    assert len(source.advised) == 3


def test_a_file_is_advised_by_its_descriptor(tmp_path: Path) -> None:
    frames = reader()
    source = frames.source
    assert isinstance(source, Memory)
    with open(tmp_path / "file", "wb+") as file:
        source.advised_fd = file.fileno()
        again = reader(source=source)
        again.announce(1)
    again.announce(1)    # a closed descriptor: advice that nobody takes
    assert source.advised == []


def test_the_size_limit_goes_by_the_record_count() -> None:
    asked: list[int] = []

    def inflate(data: Any, size_max: int) -> bytes:
        asked.append(size_max)
        return bytes(data)

    frames = reader(inflate=inflate)
    for i in range(3):
        frames.group(i)
        assert frames.content_max(i) == asked[-1]
    assert asked == [1000, 2000, 1000]


@pytest.mark.parametrize("i", [-1, 3])
def test_frames_outside(i: int) -> None:
    frames = reader()
    for read in (frames.group, frames.data, frames.announce, frames.content_max):
        with pytest.raises(IndexError):
            read(i)


def test_another_identity_is_a_checksum_mismatch() -> None:
    frames = reader(identity=8)
    for read in (lambda: frames.verify(0, CONTENTS[0]), lambda: frames.data(0),
                 lambda: frames.group(0)):
        with pytest.raises(CorruptError, match="frame 0: checksum mismatch") as caught:
            read()
        assert (caught.value.file, caught.value.offset) == ("file", 64)


def test_a_codec_s_error_gets_its_place() -> None:
    def inflate(data: Any, size_max: int) -> bytes:
        raise CorruptError("no good", expected=1, found=2)

    with pytest.raises(CorruptError) as caught:
        reader(inflate=inflate).group(1)
    assert str(caught.value) == (
        f"file at byte {64 + len(CONTENTS[0])}: frame 1: no good (expected 1, found 2)")


def test_other_errors_of_a_codec_are_not_the_file_s() -> None:
    def inflate(data: Any, size_max: int) -> bytes:
        raise MemoryError

    with pytest.raises(MemoryError):
        reader(inflate=inflate).group(0)
