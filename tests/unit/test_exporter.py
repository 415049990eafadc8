"""Export: block RLP and era1, whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import chainmaker
import pytest

import blockpack
from blockpack import BlockStore, MissingError, NotYetError
from blockpack.chain.exporter import export_era1, export_rlp
from blockpack.chain.formats import era1
from blockpack.chain.importer import import_blocks

FIRST, COUNT = 20, 45
BLOCKS = chainmaker.chain(COUNT, FIRST, chain_id=1)
STOP = FIRST + COUNT


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BlockStore]:
    with blockpack.create(tmp_path / "store", block_group_size=4, segment_blocks=16,
                          seal_lag=0) as made:
        import_blocks(made, io.BytesIO(b"".join(chainmaker.era1_parts(BLOCKS, FIRST))))
        yield made


def test_block_rlp_to_a_file_a_buffer_and_standard_output(
        store: BlockStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = b"".join(BLOCKS)
    assert export_rlp(store, tmp_path / "all.rlp") == COUNT
    assert (tmp_path / "all.rlp").read_bytes() == plain
    buffer = io.BytesIO()
    assert export_rlp(store, buffer, 30, 33) == 3
    assert buffer.getvalue() == b"".join(BLOCKS[10:13])
    output = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", output)
    export_rlp(store, "-")
    assert output.buffer.getvalue() == plain  # type: ignore[attr-defined]


def test_gzip_by_name_or_by_wish(store: BlockStore, tmp_path: Path) -> None:
    plain = b"".join(BLOCKS)
    export_rlp(store, str(tmp_path / "all.rlp.gz"))
    assert gzip.decompress((tmp_path / "all.rlp.gz").read_bytes()) == plain
    export_rlp(store, tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == (tmp_path / "all.rlp.gz").read_bytes()
    export_rlp(store, tmp_path / "plain.gz", compress=False)
    assert (tmp_path / "plain.gz").read_bytes() == plain
    buffer = io.BytesIO()
    export_rlp(store, buffer, compress=True)
    assert gzip.decompress(buffer.getvalue()) == plain


def test_a_failed_export_leaves_nothing_and_keeps_what_was_there(
        store: BlockStore, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    target = folder / "file"
    target.write_bytes(b"before")

    def fail(*_: object) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        export_rlp(store, target, progress=fail)
    with pytest.raises(OSError, match="no space"):
        export_era1(store, folder, progress=fail)
    with pytest.raises(NotYetError):
        export_rlp(store, target, FIRST, STOP + 1)
    with pytest.raises(MissingError):
        export_rlp(store, target, FIRST - 1, STOP)
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert target.read_bytes() == b"before"


@pytest.mark.parametrize("epoch_blocks", [1, 16, 45, 8192])
def test_era1_and_back(store: BlockStore, tmp_path: Path, epoch_blocks: int) -> None:
    folder = tmp_path / "era1"
    paths = export_era1(store, folder, epoch_blocks=epoch_blocks)
    epochs = range(FIRST // epoch_blocks, (STOP - 1) // epoch_blocks + 1)
    assert [path.name[:14] for path in paths] == [f"mainnet-{epoch:05d}-" for epoch in epochs]
    assert sorted(paths) == sorted(folder.iterdir())
    with blockpack.create(tmp_path / "again") as again:
        result = import_blocks(again, folder, epoch_blocks=epoch_blocks)
        assert (result.appended, result.skipped) == (COUNT, 0)
        assert again.digest() == store.digest()


def test_era1_is_what_the_slow_writer_makes(store: BlockStore, tmp_path: Path) -> None:
    paths = export_era1(store, tmp_path / "era1", FIRST, STOP)
    assert [path.read_bytes() for path in paths] == [
        b"".join(chainmaker.era1_parts(BLOCKS, FIRST))]
    root = chainmaker.accumulator(map(chainmaker.hash_of, BLOCKS),
                                  chainmaker.difficulties(BLOCKS))
    assert paths[0].name == f"mainnet-00000-{root[:4].hex()}.era1"


def test_era1_of_a_part_names_and_progress(store: BlockStore, tmp_path: Path) -> None:
    calls: list[tuple[int, int, int | None]] = []
    paths = export_era1(store, tmp_path, 30, 50, network="net", epoch_blocks=16,
                        progress=lambda *call: calls.append(call))
    assert [path.name[:10] for path in paths] == ["net-00001-", "net-00002-", "net-00003-"]
    sizes = [path.stat().st_size for path in paths]
    assert [call[0] for call in calls] == [2, 18, 20]
    assert calls[-1][1] < sum(sizes)
    with pytest.raises(ValueError, match="epoch_blocks"):
        export_era1(store, tmp_path, epoch_blocks=era1.EPOCH_BLOCKS + 1)


def test_era1_needs_receipts_and_difficulty(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        for index, block in enumerate(BLOCKS):
            store.append(block, receipts=b"\xc0", receipts_form="slim" if index > 9 else
                         "consensus", difficulty=1 if index < 30 else None)
        with pytest.raises(MissingError, match=r"difficulty of every block.* none for block 50"):
            export_era1(store, tmp_path / "era1")
        with pytest.raises(MissingError, match="block 30 are in the slim form"):
            export_era1(store, tmp_path / "era1", FIRST, 50)
        assert list((tmp_path / "era1").iterdir()) == []
        assert len(export_era1(store, tmp_path / "era1", FIRST, 30)) == 1


def test_an_empty_store(tmp_path: Path) -> None:
    with blockpack.create(tmp_path / "store") as store:
        assert export_rlp(store, tmp_path / "none.rlp") == 0
        assert (tmp_path / "none.rlp").read_bytes() == b""
        assert export_era1(store, tmp_path / "era1") == []


@pytest.mark.parametrize("target", ["all.rlp", "all.rlp.gz", "era"])
def test_an_export_that_a_full_disk_ends_names_its_file_and_leaves_none(
        store: BlockStore, tmp_path: Path, target: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    store.seal()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # All of the file is in the buffer still when it is closed: that write is the one to fail.
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match=r"too large.*\.tmp"):
            (export_era1 if target == "era" else export_rlp)(store, folder / target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_a_range_from_past_the_head_exports_nothing(store: BlockStore, tmp_path: Path) -> None:
    assert export_rlp(store, tmp_path / "none.rlp", STOP + 7) == 0
    assert (tmp_path / "none.rlp").read_bytes() == b""


def test_a_pipe_and_a_link_are_written_through_and_not_replaced(
        store: BlockStore, tmp_path: Path) -> None:
    plain = b"".join(BLOCKS)
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "folder" / "file"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert export_rlp(store, pipe) == COUNT
    reader.join()
    assert read == [plain]
    assert pipe.is_fifo()
    target.parent.mkdir()
    link.symlink_to(target)
    assert export_rlp(store, link) == COUNT
    assert link.is_symlink()
    assert target.read_bytes() == plain
    with pytest.raises(IsADirectoryError):
        export_rlp(store, tmp_path)
