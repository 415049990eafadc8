"""The blockpack program, end to end on a small chain."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chainmaker import chain, era1_parts, hash_of
from click.testing import CliRunner, Result

import blockpack
from blockpack.cli import main

BLOCKS = chain(40, tx_bytes=400, chain_id=5)


def run(*words: str, ok: bool = True) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert (result.exit_code == 0) == ok, result.output
    return result


def figures(*words: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(run(*words, "--json").stdout)
    return loaded


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "chain.rlp"
    path.write_bytes(b"".join(BLOCKS))
    return str(path)


@pytest.fixture
def store(tmp_path: Path, source: str) -> str:
    path = str(tmp_path / "store")
    run("import", path, source, "--segment-blocks", "16", "--block-group-size", "4")
    return path


def test_import_makes_the_store_with_the_knobs_given(store: str) -> None:
    with blockpack.open(store) as opened:
        assert [bytes(block) for block in opened] == BLOCKS
        assert opened.knobs.block_group_size == 4
        assert opened.knobs.segment_blocks == 16


def test_import_again_skips_everything(store: str, source: str) -> None:
    again = figures("import", store, source)
    assert (again["appended"], again["skipped"], again["head"]) == (0, 40, 39)


def test_import_goes_on_where_the_making_of_the_store_was_killed(tmp_path: Path, source: str
                                                                 ) -> None:
    path = tmp_path / "store"
    (path / "open").mkdir(parents=True)
    assert figures("import", str(path), source)["head"] == 39


@pytest.mark.parametrize("direct", [(), ("--direct",)], ids=["log", "direct"])
def test_import_from_standard_input(tmp_path: Path, direct: tuple[str, ...]) -> None:
    path = str(tmp_path / "piped")
    done = subprocess.run(
        [sys.executable, "-m", "blockpack", "import", path, "-", "--json", *direct],
        input=b"".join(BLOCKS), capture_output=True, check=True)
    assert json.loads(done.stdout)["appended"] == len(BLOCKS)


def test_import_of_another_fork_names_both_hashes_and_fails(store: str, tmp_path: Path) -> None:
    other = chain(40, seed=2, tx_bytes=400, chain_id=5)
    path = tmp_path / "other.rlp"
    path.write_bytes(b"".join(other))
    output = run("import", store, str(path), ok=False).output
    assert hash_of(BLOCKS[0]).hex() in output
    assert hash_of(other[0]).hex() in output


def test_create_info_and_locked_knob(tmp_path: Path) -> None:
    path = str(tmp_path / "empty")
    run("create", path, "--compression", "zstd", "--seal-compression-level", "best",
        "--chain-id", "7")
    shown = figures("info", path)
    assert shown["knobs"]["seal_compression_level"] == "best"
    assert shown["chain_id"] == 7
    assert "digest" in run("info", path, "--segments", "--digest").output
    assert run("create", path, ok=False).exit_code == 1


def test_unknown_tier_is_refused_naming_those_there_are(tmp_path: Path) -> None:
    output = run("create", str(tmp_path / "x"), "--compression", "s2",
                 "--seal-compression-level", "default", ok=False).output
    assert all(tier in output for tier in ("fastest", "better", "best"))


def test_info_sizes_are_those_of_the_files(store: str) -> None:
    total = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file())
    assert figures("info", store)["total_bytes"] == total


def test_seal_then_get_every_part(store: str) -> None:
    run("seal", store)
    with blockpack.open(store) as opened:
        assert opened.info()["open_bytes"] == 0
        header, body = opened.view(39)
    assert run("get", store, "-1").stdout_bytes == BLOCKS[39]
    assert run("get", store, "39", "--part", "header").stdout_bytes == bytes(header)
    assert run("get", store, "39", "--part", "body", "--hex").stdout == f"0x{body.hex()}\n"
    assert figures("get", store, "7")["hash"] == "0x" + hash_of(BLOCKS[7]).hex()
    assert "NotYetError" in run("get", store, "40", ok=False).output
    assert "MissingError" in run("get", store, "3", "--part", "receipts", ok=False).output
    for other in (("--part", "receipts"), ("--hex",)):
        assert "leave out" in run("get", store, "7", "--json", *other, ok=False).output


def test_get_by_hash(store: str) -> None:
    wanted = "0x" + hash_of(BLOCKS[7]).hex()
    assert run("get", store, "--hash", wanted).stdout_bytes == BLOCKS[7]
    assert figures("get", store, "--hash", wanted)["number"] == 7
    missing = run("get", store, "--hash", "0x" + "00" * 32, ok=False)
    assert "no block with the hash" in missing.output
    for wrong in (("7", "--hash", wanted), (), ("--hash", "7")):
        assert run("get", store, *wrong, ok=False).exit_code == 2


def test_repack_changes_the_locked_group_size_and_leaves_damage_alone(store: str) -> None:
    run("seal", store, "--seal-threads", "2")
    digest = figures("info", store, "--digest")["digest"]
    shown = figures("repack", store, "--block-group-size", "2", "--compression", "zstd")
    assert shown["segments_repacked"] > 0
    assert (shown["segments_kept"], shown["faults"]) == (0, [])
    assert figures("info", store, "--digest")["digest"] == digest
    assert figures("info", store)["knobs"]["block_group_size"] == 2
    assert figures("repack", store)["segments_repacked"] == 0
    victim = min((Path(store) / "sealed").glob("bodies-*"))
    damaged = bytearray(victim.read_bytes())
    damaged[100] ^= 1
    victim.write_bytes(damaged)
    result = run("repack", store, "--block-group-size", "4", ok=False)
    assert result.exit_code == 1
    assert victim.name in result.output
    assert victim.read_bytes() == damaged


def test_advise(tmp_path: Path, store: str) -> None:
    drawn = tmp_path / "advice.png"
    words = ("advise", store, "--codecs", "s2:better,zstd:3", "--groups", "1,64", "--plot",
             str(drawn))
    shown = run(*words).output
    assert shown.splitlines()[-1].startswith("recommended: --compression ")
    assert "not so sure: 40 blocks are fewer" in shown
    assert drawn.read_bytes().startswith(b"\x89PNG")
    found = figures(*words[:-2], "--max-random-read-us", "0.001")
    assert "none takes at most 0.001 us" in found["why"]
    assert len(found["rows"]) == 6
    for wrong in (("--codecs", "s2"), ("--codecs", "zip:9"), ("--groups", "1,x")):
        assert run("advise", store, *wrong, ok=False).exit_code == 2
    assert run("advise", str(tmp_path / "none"), ok=False).exit_code == 2


def test_scan_counts_blocks_and_bytes(store: str) -> None:
    whole, last = figures("scan", store), figures("scan", store, "-5:")
    assert (whole["blocks"], last["blocks"]) == (40, 5)
    assert 0 < last["bytes"] < whole["bytes"] <= sum(map(len, BLOCKS))


def test_verify_roots_names_the_block_that_lies(tmp_path: Path, store: str) -> None:
    assert figures("verify", store, "--level", "roots")["faults"] == []
    lying = str(tmp_path / "lying")
    with blockpack.create(lying) as made:
        made.append(BLOCKS[0])
        made.append(BLOCKS[1], receipts=b"\xc0")
    result = run("verify", lying, "--level", "roots", ok=False)
    assert "CorruptError: block 1: another number of receipts" in result.output
    assert run("verify", lying, "--level", "chain").output.endswith("0 faults at level chain\n")


def test_verify_finds_a_flipped_bit_and_exits_with_one(store: str) -> None:
    run("seal", store)
    assert figures("verify", store)["faults"] == []
    victim = max((Path(store) / "sealed").glob("bodies-*"), key=lambda p: p.stat().st_size)
    damaged = bytearray(victim.read_bytes())
    damaged[100] ^= 1
    victim.write_bytes(damaged)
    result = run("verify", store, "--level", "bytes", "--json", ok=False)
    faults = json.loads(result.stdout)["faults"]
    assert result.exit_code == 1
    assert [fault["error"] for fault in faults] == ["CorruptError"]
    assert faults[0]["file"].endswith(victim.name)


def test_truncate_asks_and_cuts(store: str) -> None:
    assert CliRunner().invoke(main, ["truncate", store, "9"], input="n\n").exit_code == 1
    run("truncate", store, "-11", "--yes")
    with blockpack.open(store) as opened:
        assert opened.head == 29
    assert "nothing to cut" in run("truncate", store, "29").output


def test_export_rlp_round_trip(store: str, tmp_path: Path) -> None:
    plain, packed = tmp_path / "out.rlp", tmp_path / "out.rlp.gz"
    assert figures("export", store, str(plain), "--range", "5:+10")["blocks"] == 10
    assert plain.read_bytes() == b"".join(BLOCKS[5:15])
    run("export", store, str(packed))
    again = str(tmp_path / "again")
    assert figures("import", again, str(packed))["appended"] == 40


def test_export_era1_round_trip_with_equal_digest(tmp_path: Path) -> None:
    source = tmp_path / "chain.era1"
    source.write_bytes(b"".join(era1_parts(BLOCKS, 0)))
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    run("import", one, str(source))
    files = figures("export", one, str(tmp_path / "out"), "--format", "era1",
                    "--network", "test")["files"]
    run("import", two, str(tmp_path / "out"), "--direct")
    assert Path(files[0]).name.startswith("test-00000-")
    assert figures("info", one, "--digest")["digest"] == figures("info", two, "--digest")["digest"]


def test_broken_input_keeps_what_came_before_and_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "cut.rlp"
    path.write_bytes(b"".join(BLOCKS[:10])[:-1])
    store = str(tmp_path / "store")
    output = run("import", store, str(path), ok=False).output
    assert f"cut.rlp at byte {sum(map(len, BLOCKS[:9]))}" in output
    with blockpack.open(store) as opened:
        assert opened.head == 8


def test_every_command_has_help() -> None:
    for name, command in main.commands.items():
        output = run(name, "--help").output
        assert command.help
        assert command.help.split()[0] in output


def test_nothing_is_printed_by_progress_without_a_terminal(store: str) -> None:
    assert run("verify", store).stderr == ""


def test_demo_says_that_it_is_synthetic_and_prints_every_group_size() -> None:
    output = run("demo", "--blocks", "24").output
    assert "synthetic" in output
    assert [size for size in ("1", "16", "64", "128") if f" {size} " in output] == [
        "1", "16", "64", "128"]


def test_bench_measures_groups_and_levels_of_own_blocks(source: str, store: str) -> None:
    shown = figures("bench", source, "--groups", "1,8", "--levels", "1,6")
    assert [row["group_size"] for row in shown["groups"]["rows"]] == [1, 8]
    assert len({row["sealed_bytes"] for row in shown["levels"]["rows"]}) == 1
    assert "sequential scan" in run("bench", store, "--groups", "1,4", "--blocks", "20").output
    assert run("bench", source, "--groups", "one", ok=False).exit_code == 2
    made = figures("bench", "synthetic", "--groups", "1", "--blocks", "3")
    assert made["groups"]["blocks"] == 3
    assert "neither" in run("bench", "nowhere", ok=False).output
