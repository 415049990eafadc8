"""Files, pipes, standard input and directories, all found by their content."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import chainmaker
import pytest

from blockpack.chain.formats.source import Sources, open_sources
from blockpack.errors import CorruptError, UnsupportedVersionError

BLOCKS = chainmaker.chain(30)
PLAIN = b"".join(BLOCKS)


def read(sources: Sources) -> list[bytes]:
    blocks = []
    for source in sources:
        with source:
            blocks += [bytes(block.rlp) for block in source]
            assert source.bytes_read == (source.bytes_total or source.bytes_read)
    return blocks


@pytest.mark.parametrize("content", [
    PLAIN,
    gzip.compress(PLAIN),
    b"".join(gzip.compress(b"".join(BLOCKS[i:i + 10])) for i in (0, 10, 20)),
    gzip.compress(PLAIN[:1000]) + gzip.compress(PLAIN[1000:]),  # a member ends inside a block
    b"".join(chainmaker.era1_parts(BLOCKS, 0)),
    gzip.compress(b"".join(chainmaker.era1_parts(BLOCKS, 0))),
], ids=["rlp", "gzip", "members", "cut member", "era1", "gzip era1"])
def test_a_file_a_buffer_and_a_pipe(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(content)
    for where in (path, str(path)):
        sources = open_sources(where)
        assert sources.bytes_total == len(content)
        assert read(sources) == BLOCKS
    assert read(open_sources(io.BytesIO(content))) == BLOCKS
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    feeder = threading.Thread(target=fifo.write_bytes, args=(content,))
    feeder.start()
    sources = open_sources(fifo)
    assert sources.bytes_total is None
    assert read(sources) == BLOCKS
    feeder.join()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input = io.TextIOWrapper(io.BytesIO(PLAIN))
    monkeypatch.setattr(sys, "stdin", standard_input)
    assert read(open_sources("-")) == BLOCKS
    assert not standard_input.buffer.closed


def test_a_directory_is_read_in_number_order(tmp_path: Path) -> None:
    for name, content in {
        "z-first": PLAIN[:sum(map(len, BLOCKS[:10]))],
        "a-last.gz": gzip.compress(b"".join(BLOCKS[20:])),
        "middle.era1": b"".join(chainmaker.era1_parts(BLOCKS[10:20], 10)),
        "checksums.txt": b"0123456789abcdef middle.era1\n",
        ".hidden": b"no chain file",
    }.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    sources = open_sources(tmp_path)
    assert sources.skipped == [tmp_path / "checksums.txt"]
    assert read(sources) == BLOCKS
    sources.raise_broken()  # nothing is


@pytest.mark.parametrize("content", [b"", b"\xf9\x02", PLAIN[:100]], ids=range(3))
def test_a_directory_with_a_broken_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "1").write_bytes(content)
    (tmp_path / "2").write_bytes(PLAIN)
    sources = open_sources(tmp_path)
    with pytest.raises(CorruptError) as caught:
        sources.raise_broken()
    assert caught.value.file == str(tmp_path / "1")
    names = []
    with pytest.raises(CorruptError):  # noqa: PT012
        for source in sources:
            names.append(Path(source.name).name)
            with source:
                assert [bytes(block.rlp) for block in source] == BLOCKS
    assert names == ["2", "1"]


def test_a_directory_without_chain_files(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(b"# notes")
    with pytest.raises(CorruptError, match="no chain files"):
        open_sources(tmp_path)


def test_an_empty_file_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(CorruptError, match="empty") as caught:
        read(open_sources(tmp_path / "empty"))
    assert (caught.value.file, caught.value.offset) == (str(tmp_path / "empty"), 0)
    with pytest.raises(FileNotFoundError):
        read(open_sources(tmp_path / "none"))


def test_an_empty_gzip_file_and_gzip_in_gzip() -> None:
    with pytest.raises(CorruptError, match="empty"):
        read(open_sources(io.BytesIO(gzip.compress(b""))))
    with pytest.raises(UnsupportedVersionError, match="gzip inside of gzip"):
        read(open_sources(io.BytesIO(gzip.compress(gzip.compress(PLAIN)))))


def test_a_truncated_gzip_file_gives_its_whole_blocks(tmp_path: Path) -> None:
    content = gzip.compress(PLAIN)[:-9]
    got: list[bytes] = []
    with pytest.raises(CorruptError) as caught:  # noqa: PT012
        for source in open_sources(io.BytesIO(content)):
            for block in source:
                got.append(bytes(block.rlp))
    assert got == BLOCKS[:len(got)]
    assert len(got) >= len(BLOCKS) - 2
    assert caught.value.offset is not None


def test_sources_close_their_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(PLAIN)
    source = next(iter(open_sources(path)))
    with source:
        next(iter(source))
    with pytest.raises(ValueError, match="closed"):
        source._file.read(1)
