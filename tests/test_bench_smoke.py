"""Every benchmark runs, on a few blocks, and the tools around them tell good figures from bad."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"

pytestmark = pytest.mark.skipif(not BENCH.is_dir(), reason="no bench folder beside the tests")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, text=True, capture_output=True,
                          check=False, env={**os.environ, "BLOCKPACK_BENCH": "tiny"})


def loaded(name: str, path: Path) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_suites_run(tmp_path: Path) -> None:
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "bench", "--benchmark-disable",
               f"--basetemp={tmp_path / 'base'}")
    assert done.returncode == 0, done.stdout + done.stderr
    suites = {"append", "seal", "direct", "random", "range", "open", "decode", "columns"}
    listed = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "bench", "--collect-only").stdout
    assert not {suite for suite in suites if f"bench_{suite}" not in listed}


def test_every_section_of_the_ratios_measures(tmp_path: Path) -> None:
    done = run("bench/ratios.py", "--tiny", "--json", "--folder", str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)["lines"]
    # The section objects has peers alone, none of which need be here.
    assert {line["section"] for line in lines} - {"objects"} == {
        "reads", "ranges", "imports", "opening", "cold", "memory", "roots", "decode",
        "columns", "stores"}
    assert all(line["ours"] > 0 for line in lines if "beside" not in line["name"])
    assert all(line["ratio"] is None or line["ratio"] > 0 for line in lines)
    assert not list(tmp_path.iterdir())


def test_s2_is_measured_beside_go() -> None:
    done = run("bench/bench_s2.py", "--tiny", "--json")
    assert done.returncode == 0, done.stderr
    if "skipped: no Go" in done.stderr:
        pytest.skip(done.stderr.strip())
    lines = json.loads(done.stdout)["lines"]
    assert {line["name"] for line in lines} == {
        f"{what} {tier}, synthetic" for what in ("encode", "size", "decode")
        for tier in ("fastest", "better", "best")}
    assert all(line["ratio"] > 0 and line["target"] > 0 for line in lines)


def test_a_margin_eases_speeds_and_not_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from against.pairs import Line

    missed = loaded("bench_s2", BENCH / "bench_s2.py").missed
    slow = Line("s2", "speed", 0.0, "MB/s", ratio=0.95, target=1.0, at_least=True)
    large = Line("s2", "size", 0.0, "MB", ratio=1.001, target=1.0)
    assert missed([slow, large], 0.0) == ["speed", "size"]
    assert missed([slow, large], 10.0) == ["size"]


def test_targets_bound_ratios_and_figures_from_either_side(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from against.pairs import Line, median_ratio

    assert Line("s", "n", ours=9.0, unit="us", peer=10.0, ratio=0.9, target=1.0).met
    assert not Line("s", "n", ours=9.0, unit="us", peer=8.0, ratio=1.1, target=1.0).met
    assert Line("s", "n", ours=1.7, unit="x", ratio=1.7, target=1.6, at_least=True).met
    assert not Line("s", "n", ours=11.0, unit="ms", target=10.0).met
    assert Line("s", "n", ours=11.0, unit="ms").met is None
    assert median_ratio([2.0, 30.0, 4.0], [1.0, 10.0, 4.0]) == 2.0


def test_picks_do_not_come_again_before_half_of_the_others(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from against.pairs import Picks

    groups = [range(8 * at, 8 * at + 8) for at in range(32)]
    picks = Picks(groups, seed=1)
    read = [number for _ in range(20) for number in picks.order(picks.round())]
    last: dict[int, int] = {}
    for at, number in enumerate(read):
        assert at - last.get(number // 8, -99) > 16
        last[number // 8] = at
    assert len(last) == 32


def test_compare_fails_past_the_percentage(capsys: pytest.CaptureFixture[str]) -> None:
    compare = loaded("compare", BENCH / "compare")
    base = {"a": 1.0, "b": 1.0, "gone": 1.0}
    assert compare.report(base, {"a": 1.09, "b": 0.5, "new": 1.0}, 10.0) == 0
    assert compare.report(base, {"a": 1.11, "b": 1.0}, 10.0) == 1
    assert "SLOWER" in capsys.readouterr().out
    assert compare.smallest([{"a": 2.0}, {"a": 1.0, "b": 3.0}]) == {"a": 1.0, "b": 3.0}
