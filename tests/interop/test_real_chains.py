"""Real chain files, in and out byte for byte: from the open log, sealed, and imported directly."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import blockpack
from blockpack import BlockStore, ForkError
from blockpack.chain.exporter import export_era1, export_rlp
from blockpack.chain.importer import import_blocks
from blockpack.chain.verify import verify_chain

ERA1 = "sepolia-00098-40286059.era1"
IBFT = "besu-ibft.blocks"
# name -> first block, blocks, chain id
FILES = {
    "besu-50.blocks": (46_350, 50, None),
    "besu-mainnet-1000.blocks": (0, 1000, None),
    "besu-snap-testBlockchain.blocks": (0, 501, None),
    "ethrex-chain.rlp": (1, 20, None),
    "execution-apis-chain.rlp": (1, 54, None),
    "linea-mainnet-28279135-28279249.rlp": (28_279_135, 115, 59_144),
    "mainnet-18090205-18090218.rlp": (18_090_205, 14, 1),
    "mainnet-3510000-3510010.rlp": (3_510_000, 11, 1),
    "optimism-109279674-109279689.rlp": (109_279_674, 16, 10),
}


def check(store: BlockStore, data: bytes) -> None:
    """Everything that the store gives is what the file has."""
    first, head = store.first, store.head
    assert first is not None
    assert head is not None
    assert b"".join(store.raw_range(first, head + 1)) == data
    position = 0
    for number in range(first, head + 1):
        raw = store.raw(number)
        assert data.startswith(raw, position)
        position += len(raw)
    assert position == len(data)
    assert [block.number for block in store[first:head + 1:7]] == list(range(first, head + 1, 7))
    assert verify_chain(store) == []


@pytest.mark.parametrize("codec", ["s2", "zstd", "snappy"])
@pytest.mark.parametrize("way", ["log", "sealed", "direct"])
@pytest.mark.parametrize("name", FILES)
def test_byte_for_byte(testdata: Path, tmp_path: Path, name: str, way: str, codec: str) -> None:
    data = (testdata / name).read_bytes()
    first, count, chain_id = FILES[name]
    with blockpack.create(tmp_path / "store", compression=codec, segment_blocks=64, seal_lag=0,
                          block_group_size=16) as store:
        result = import_blocks(store, testdata / name, direct=way == "direct")
        if way == "sealed":
            store.seal()
        assert (result.appended, store.first, len(store)) == (count, first, count)
        assert chain_id in (None, store.chain_id)
        check(store, data)
    with blockpack.open(tmp_path / "store", mmap=False) as reader:
        check(reader, data)
        export_rlp(reader, tmp_path / "out.rlp.gz")
    assert gzip.decompress((tmp_path / "out.rlp.gz").read_bytes()) == data


def test_ibft_is_refused_by_default_and_taken_with_links_none(testdata: Path, tmp_path: Path
                                                             ) -> None:
    with blockpack.create(tmp_path / "hash") as store:
        with pytest.raises(ForkError, match="links none"):
            import_blocks(store, testdata / IBFT)
        assert len(store) < 101
    with blockpack.create(tmp_path / "none", links="none") as store:
        assert import_blocks(store, testdata / IBFT).appended == 101
        check(store, (testdata / IBFT).read_bytes())


def test_single_blocks(testdata: Path, tmp_path: Path) -> None:
    paths = sorted((testdata / "singles").glob("*.rlp"))
    assert len(paths) == 75
    for path in paths:
        data = path.read_bytes()
        with blockpack.create(tmp_path / path.stem) as store:
            store.append(data)
            assert store.raw(-1) == data
            assert store[-1].size == len(data)
            assert store[-1].hash.hex().startswith(path.stem.split("_")[1])


@pytest.fixture(scope="module")
def sepolia(testdata: Path, tmp_path_factory: pytest.TempPathFactory) -> BlockStore:
    path = tmp_path_factory.mktemp("sepolia") / "store"
    with blockpack.create(path, segment_blocks=2000) as store:
        assert import_blocks(store, testdata / ERA1).appended == 8192
    return blockpack.open(path)


def test_era1_out_and_in_again(sepolia: BlockStore, testdata: Path, tmp_path: Path) -> None:
    paths = export_era1(sepolia, tmp_path / "era1")
    # The name carries the accumulator: it is that of the published file.
    assert [path.name for path in paths] == [ERA1]
    for direct in (False, True):
        with blockpack.create(tmp_path / f"{direct}", compression="zstd",
                              segment_blocks=3000) as again:
            import_blocks(again, paths[0], direct=direct)
            assert again.digest() == sepolia.digest()
            result = import_blocks(again, testdata / ERA1)
            assert (result.appended, result.skipped) == (0, 8192)
            assert again.digest() == sepolia.digest()


def test_era1_tables(sepolia: BlockStore) -> None:
    whole = [(802_816, 811_007)]
    assert {table: sepolia.coverage(table) for table in
            ("headers", "bodies", "receipts", "difficulty")} == {
        "headers": whole, "bodies": whole, "receipts": whole, "difficulty": whole}
    assert sepolia.chain_id == 11_155_111
    assert sepolia.receipts(811_007).form == "consensus"
    steps = [sepolia.difficulty(number) - sepolia.difficulty(number - 1)
             for number in range(802_817, 802_830)]
    assert all(step > 0 for step in steps)
    assert verify_chain(sepolia) == []


def test_rlp_and_era1_of_the_same_chain_agree(sepolia: BlockStore, tmp_path: Path) -> None:
    export_rlp(sepolia, tmp_path / "chain.rlp", 802_816, 805_000)
    with blockpack.create(tmp_path / "store") as store:
        import_blocks(store, tmp_path / "chain.rlp")
        assert list(store.raw_range(802_816, 805_000)) == list(
            sepolia.raw_range(802_816, 805_000))
