"""The tuning tables and the demo, at a small size: what they count must be what happened."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

import blockpack
from blockpack.measure import demo, machine, tuning
from blockpack.measure.source import Blocks, block_file, blocks_of
from blockpack.measure.synthetic import SyntheticChain

COUNT = 40


def few() -> Iterable[bytes]:
    return islice(SyntheticChain(mean_bytes=6_000), COUNT)


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "READ_SECONDS", 0.005)
    monkeypatch.setattr(tuning, "SCAN_SECONDS", 0.005)


@pytest.fixture
def chain_file(tmp_path: Path) -> Path:
    path = tmp_path / "chain.rlp"
    path.write_bytes(b"".join(few()))
    return path


@pytest.mark.parametrize("blocks", [few, "file", "store"])
def test_blocks_come_from_anything_and_again(blocks: Blocks | str, chain_file: Path,
                                             tmp_path: Path) -> None:
    want = list(few())
    if blocks == "store":
        tuning.build_direct(tmp_path / "s", few(), block_group_size=4)
        blocks = blocks_of(tmp_path / "s")
    elif blocks == "file":
        blocks = blocks_of(chain_file)
    assert callable(blocks)
    assert list(blocks()) == want
    assert list(blocks()) == want


def test_blocks_stop_at_the_count(chain_file: Path, tmp_path: Path) -> None:
    assert list(blocks_of(chain_file, 3)()) == list(few())[:3]
    blockpack.create(tmp_path / "empty").close()
    assert not list(blocks_of(tmp_path / "empty")())


def test_block_file_gives_all_bytes_in_any_pieces() -> None:
    whole = b"".join(few())
    with block_file(few()) as file:
        assert file.read(1) + file.read(100_000) + file.read() == whole


@pytest.mark.parametrize("compression", ["s2", "zstd"])
def test_group_table_counts_what_happened(compression: str, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    table = tuning.group_table(few, (4, 16), compression=compression, segment_blocks=20,
                               folder=tmp_path,
                               progress=lambda what, done, total: steps.append((done, total)))
    assert (table.compression, table.seal_tier, table.blocks) == (compression, "better", COUNT)
    assert table.raw_bytes == sum(map(len, few()))
    assert [row.group_size for row in table.rows] == [1, 4, 16]
    # Two segments of 20: groups of 4 and 16 are five and two each.
    assert [row.blocks_per_group for row in table.rows] == [1, 4, 10]
    for row in table.rows:
        assert row.cache_misses == 2 * row.reads > 0
        assert row.cache_hits == 0
        assert min(row.read_ms, row.scan_ms, row.build_seconds) > 0
        assert row.saved == 1 - row.sealed_bytes / table.rows[0].sealed_bytes
    assert steps == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert not list(tmp_path.iterdir())
    assert table.to_dict()["rows"][2]["group_size"] == 16


def test_sealed_bytes_are_those_of_the_files(tmp_path: Path) -> None:
    built = tuning.build_direct(tmp_path / "s", few(), block_group_size=1)
    table = tuning.table_of_stores({1: built})
    files = sum(p.stat().st_size for p in (built.path / "sealed").iterdir())
    assert table.rows[0].sealed_bytes == files


def test_level_table_shows_that_the_import_level_is_thrown_away() -> None:
    table = tuning.level_table(few, (1, 3, 7, "best"), compression="zstd", block_group_size=8)
    assert [row.tier for row in table.rows] == ["fastest", "default", "better", "best"]
    assert len({row.sealed_bytes for row in table.rows}) == 1
    sizes = [row.open_bytes for row in table.rows]
    assert sizes[0] > sizes[-1] > table.rows[0].sealed_bytes / 2
    assert all(row.import_ms > 0 for row in table.rows)
    assert (table.blocks, table.group_size) == (COUNT, 8)
    assert table.to_dict()["rows"][0]["level"] == 1


def test_no_blocks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no blocks"):
        tuning.group_table(lambda: (), folder=tmp_path)
    with pytest.raises(ValueError, match="no blocks"):
        tuning.level_table(lambda: (), (1,), folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_demo_runs_and_leaves_nothing(tmp_path: Path) -> None:
    said: list[tuple[str, int, int]] = []
    result = demo.run(COUNT, compressions=("zstd",), group_sizes=(8,), folder=tmp_path,
                      progress=lambda *step: said.append(step))
    assert "synthetic" in result.note
    assert result.blocks == COUNT
    assert result.raw_bytes == sum(map(len, islice(SyntheticChain(), COUNT)))
    assert [row.group_size for row in result.tables[0].rows] == [1, 8, 64]
    assert result.imports[0].sealed_bytes == result.tables[0].rows[2].sealed_bytes
    assert [done for _, done, _ in said] == list(range(said[0][2]))
    assert not list(tmp_path.iterdir())
    assert result.to_dict()["tables"][0]["rows"][0]["saved"] == 0


def test_both_ways_into_a_store_seal_the_same_size(tmp_path: Path) -> None:
    figures = demo._import_and_seal(few, tmp_path / "log", "s2")
    direct = tuning.build_direct(tmp_path / "direct", few(), block_group_size=64)
    with blockpack.open(direct.path) as store:
        assert store.info()["sealed_bytes"] == figures.sealed_bytes


def test_machine_line_names_cores_and_python() -> None:
    assert f"{machine.cores()} cores" in machine.describe()
    assert "Python 3." in machine.describe()
