"""Advice on knobs: what is marked, what is recommended and why, and a whole run on few blocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import chainmaker
import pytest

import blockpack
from blockpack.measure.advice import AdviceRow, Variant, advise, marked, recommended, variants_of
from blockpack.measure.source import sample_of

BLOCKS = chainmaker.chain(20)
ROW = AdviceRow(Variant("s2", 6, 64, "none"), "", 0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1)


def rows(*figures: tuple[int, float]) -> list[AdviceRow]:
    return marked(replace(ROW, sealed_bytes=size, read_us=read) for size, read in figures)


def test_the_frontier_has_what_nothing_beats_in_both() -> None:
    found = rows((100, 50.0), (90, 60.0), (110, 55.0), (90, 70.0), (120, 10.0))
    assert [(row.sealed_bytes, row.read_us) for row in found if row.frontier] == [
        (90, 60.0), (100, 50.0), (120, 10.0)]


def test_a_bound_is_kept_with_certainty() -> None:
    found = [replace(row, read_error_us=2.0) for row in rows((90, 60.0), (100, 50.0), (120, 10.0))]
    assert found[recommended(found, 53.0)[0]].sealed_bytes == 120
    assert found[recommended(found, 54.0)[0]].sealed_bytes == 100
    place, why = recommended(found, 5.0)
    assert found[place].sealed_bytes == 120
    assert "none takes at most 5 us" in why


def test_without_a_bound_size_and_time_are_balanced() -> None:
    assert recommended(rows((100, 64.0), (105, 8.0)), None)[0] == 1    # an eighth for 5 %
    assert recommended(rows((100, 64.0), (150, 32.0)), None)[0] == 0   # half for 50 %


def test_prefixes_are_tried_under_large_groups() -> None:
    tried = [(v.block_group_size, v.seal_dictionary) for v in variants_of([("s2", 6)], (1, 64))]
    assert tried == [(1, "none"), (64, "none"), (64, "auto")]


def test_a_run(tmp_path: Path) -> None:
    steps = []
    found = advise(lambda: BLOCKS, codec_tiers=[("s2", "better"), ("snappy", "fastest")],
                   group_sizes=(1, 64), folder=tmp_path, max_read_us=1e9,
                   progress=lambda what, done, total: steps.append((done, total)))
    assert (found.blocks, found.raw_bytes) == (20, sum(map(len, BLOCKS)))
    assert len(found.rows) == 6
    assert found.rows[found.best].sealed_bytes == min(row.sealed_bytes for row in found.rows)
    for row in found.rows:
        assert row.sealed_bytes > 0
        assert min(row.read_us, row.cached_us, row.scan_us, row.import_us, row.pack_us) > 0
        assert 0 < row.group_bytes <= found.raw_bytes + 100
    single = [row for row in found.rows if row.variant.block_group_size == 1]
    assert all(row.read_bytes < found.raw_bytes / 5 for row in single)
    assert [doubt for doubt in found.doubts if "20 blocks are fewer than 4 groups of 64" in doubt]
    assert steps == [(i, 7) for i in range(7)]
    assert list(tmp_path.iterdir()) == []


def test_too_few_blocks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        advise(lambda: BLOCKS[:1], codec_tiers=[("s2", 6)], group_sizes=(1,), folder=tmp_path)


def test_a_sample_is_the_end_of_a_store_and_the_start_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with blockpack.create(path) as store:
        assert sample_of(path, 5, 1 << 20) == []
        for block in BLOCKS:
            store.append(block)
    assert sample_of(path, 5, 1 << 20) == BLOCKS[-5:]
    file = tmp_path / "blocks.rlp"
    file.write_bytes(b"".join(BLOCKS))
    assert sample_of(file, 5, 1 << 20) == BLOCKS[:5]
    assert sample_of(file, 5, len(BLOCKS[0]) + len(BLOCKS[1])) == BLOCKS[:2]
    assert sample_of(file, 5, 1) == BLOCKS[:1]
