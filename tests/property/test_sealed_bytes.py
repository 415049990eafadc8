"""Sealed files depend on the records and the seal knobs alone: not on how they came in."""

from __future__ import annotations

import io
from pathlib import Path

import chainmaker
import pytest

import blockpack
from blockpack.chain.importer import import_blocks
from blockpack.segment import choosing
from blockpack.segment.codecs import get_codec
from blockpack.segment.grouping import Grouping

FIRST = 90
# The chain id shows in the second segment, so that segments before and after know other things.
BLOCKS = chainmaker.chain(40, FIRST, tx_bytes=400, txs=4)
BLOCKS += chainmaker.chain(110, FIRST + 40, tx_bytes=700, txs=3, chain_id=1,
                           parent=chainmaker.hash_of(BLOCKS[-1]))
ERA1 = b"".join(chainmaker.era1_parts(BLOCKS, FIRST))
PLAIN = b"".join(BLOCKS)


def sealed(path: Path) -> dict[str, bytes]:
    """The sealed files by table and numbers; generations depend on the store's life."""
    return {file.name.split(".")[0]: file.read_bytes()
            for file in sorted((path / "sealed").iterdir())}


def build(path: Path, contents: list[bytes], *, direct: bool = False, threads: int | None = None,
          **knobs: object) -> dict[str, bytes]:
    """A store of the contents, closed and opened again after each, and sealed."""
    options: dict[str, object] = {"segment_blocks": 32, "block_group_size": 8, "seal_lag": 0}
    blockpack.create(path, **(options | knobs)).close()  # type: ignore[arg-type]
    for content in contents:
        with blockpack.open(path, mode="a") as store:
            import_blocks(store, io.BytesIO(content), direct=direct, threads=threads)
    with blockpack.open(path, mode="a") as store:
        store.seal()
    return sealed(path)


@pytest.mark.parametrize("codec", ["s2", "zstd", "snappy"])
@pytest.mark.parametrize("content", [PLAIN, ERA1], ids=["rlp", "era1"])
def test_import_level_threads_and_path_do_not_show(tmp_path: Path, codec: str, content: bytes
                                                   ) -> None:
    expected = build(tmp_path / "log", [content], compression=codec)
    # Numbers 90..239 in segments that end at multiples of 32.
    assert len(expected) == (2 if content is PLAIN else 4) * 6
    levels = {"s2": [3, 6, 10], "zstd": [3, 6, 19], "snappy": []}[codec]
    for level in levels:
        assert build(tmp_path / f"level-{level}", [content], compression=codec,
                     compression_level=level) == expected
    for threads in (1, 2, 5):
        assert build(tmp_path / f"direct-{threads}", [content], compression=codec, direct=True,
                     threads=threads) == expected


@pytest.mark.parametrize("codec", ["s2", "zstd"])
def test_a_chosen_grouping_does_not_depend_on_the_path(tmp_path: Path, codec: str,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples end inside of segments here, at the same record whatever the import."""
    monkeypatch.setattr(choosing, "SAMPLE_RECORDS", 20)
    monkeypatch.setattr(choosing, "candidates", lambda _, codec, __: (
        [Grouping(12, 4, 3, 1)] if codec.prefixes else [Grouping(3)]))
    monkeypatch.setattr(choosing, "WORSE_MAX", 2)
    monkeypatch.setattr(choosing, "EXPONENT", 1)
    knobs = {"compression": codec, "seal_dictionary": "auto"}
    expected = build(tmp_path / "log", [PLAIN], **knobs)
    assert build(tmp_path / "level", [PLAIN], compression_level=10, **knobs) == expected
    for threads in (1, 3):
        assert build(tmp_path / f"direct-{threads}", [PLAIN], direct=True, threads=threads,
                     **knobs) == expected
    assert build(tmp_path / "none", [PLAIN], compression=codec) != expected
    with blockpack.open(tmp_path / "log") as store:
        assert list(store.raw_range(FIRST, FIRST + len(BLOCKS))) == BLOCKS
        groupings = {file["grouping"] for segment in store.info()["segments"]
                     for file in segment["files"]}
        keyed = any("keys" in grouping for grouping in groupings)
        assert keyed == get_codec(codec).prefixes


@pytest.mark.parametrize("cut", [1, 6, 7, 38, 100, 149])
def test_an_import_cut_short_does_not_show(tmp_path: Path, cut: int) -> None:
    expected = build(tmp_path / "once", [PLAIN])
    contents = [b"".join(BLOCKS[:cut]), PLAIN]
    assert build(tmp_path / "twice", contents) == expected
    if (FIRST + cut) % 32 == 0:  # elsewhere a direct import seals its last segment short
        assert build(tmp_path / "direct", contents, direct=True) == expected
    mixed = tmp_path / "mixed"
    build_log_then_direct(mixed, contents)
    assert sealed(mixed) == expected


def build_log_then_direct(path: Path, contents: list[bytes]) -> None:
    with blockpack.create(path, segment_blocks=32, block_group_size=8, seal_lag=0) as store:
        import_blocks(store, io.BytesIO(contents[0]))
        import_blocks(store, io.BytesIO(contents[1]), direct=True)
        store.seal()


def test_the_seal_knobs_do_show(tmp_path: Path) -> None:
    expected = build(tmp_path / "one", [PLAIN], compression="zstd")
    assert build(tmp_path / "two", [PLAIN], compression="zstd", seal_compression_level=1
                 ) != expected
    assert build(tmp_path / "three", [PLAIN], compression="zstd", block_group_size=9) != expected
