"""kill -9 at any moment of appending and sealing: what was acknowledged is there, work resumes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from storekit import assert_holds, sample

from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore

KILLS = int(os.environ.get("BLOCKPACK_KILLS", "10"))
LAST = 1200

# Appends up to LAST, directly or through the log, and says what it has synced.
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from storekit import sample
from blockpack.store.records import RecordStore
path, stop, direct = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "direct"
store = RecordStore.open(path, "a")
number = 0 if store.head is None else store.head + 1
print("from", number, flush=True)
if direct:
    while number < stop and not store.at_border:
        store.append(number, sample(number, 0, 100))
        number += 1
    with store.direct_writer(2) as writer:
        for number in range(number, stop):
            writer.append(number, sample(number, 0, 100))
            if number % 7 == 0:
                print(-1 if store.head is None else store.head, flush=True)
else:
    for number in range(number, stop):
        store.append(number, sample(number, 0, 100))
        if number % 23 == 0:
            store.sync()
            print(number, flush=True)
store.close()
print("done", flush=True)
"""


def run_child(path: Path, mode: str, seconds: float | None) -> tuple[int, bool]:
    """Run until done or killed after ``seconds`` of work; (acknowledged number, whether done)."""
    command = [sys.executable, "-c", CHILD, str(Path(__file__).parent.parent), str(path),
               str(LAST), mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("from")
        if seconds is not None:
            time.sleep(seconds)
            child.send_signal(signal.SIGKILL)
        lines = [line.strip() for line in child.stdout if line.endswith("\n")]
    acknowledged = [int(line) for line in lines if line != "done"]
    return max(acknowledged, default=-1), "done" in lines


@pytest.mark.parametrize("mode", ["log", "direct"])
def test_killed_resumed_and_complete(tmp_path: Path, mode: str) -> None:
    rng = random.Random(mode)
    path = tmp_path / "store"
    RecordStore.create(path, Knobs(segment_blocks=100, block_group_size=16, seal_lag=10)).close()
    for _ in range(KILLS):
        acknowledged, done = run_child(path, mode, rng.random() * 0.3)
        with RecordStore.open(path) as reader:
            head = -1 if reader.head is None else reader.head
            assert head >= acknowledged
            assert_holds(reader, {n: sample(n, 0, 100) for n in range(head + 1)})
        if done:
            break
    run_child(path, mode, None)
    with RecordStore.open(path, "a") as store:
        store.seal()
        assert_holds(store, {n: sample(n, 0, 100) for n in range(LAST)})
        assert store.verify() == []
        named = store._state.manifest.paths(str(path))
        assert {str(p) for p in (path / "sealed").iterdir()} <= named
        assert not list((path / "open").iterdir())
