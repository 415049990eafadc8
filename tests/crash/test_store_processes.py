"""Several processes on one store: forks, locks, and readers that never see a wrong block."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from storekit import SMALL, assert_holds, fill, sample

from blockpack.errors import ClosedError, LockedError
from blockpack.store.records import RecordStore

ROUNDS = int(os.environ.get("BLOCKPACK_ROUNDS", "15"))
FLOOR = 12  # the writer never cuts below this number

# Reads for as long as its stdin is open. Every block is one that the writer wrote; those up to
# the floor are always there; a refreshed head never shows a hole.
READER = """
import sys, random, select
sys.path.insert(0, sys.argv[1])
from storekit import sample
from blockpack.errors import NotYetError
from blockpack.store.records import RecordStore
path, rounds, floor, fresh = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "open"
rng = random.Random(1)
store = RecordStore.open(path)
reads = opens = 0

def written(number):
    salts = [0] if number <= floor else range(rounds + 1)
    return [sample(number, salt, 100).get(2) for salt in salts]

print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    if fresh or rng.random() < 0.2:
        store.close()
        store = RecordStore.open(path, mmap=rng.random() < 0.5)
        opens += 1
    elif rng.random() < 0.5:
        store.refresh()
    head = store.head
    assert head >= floor, head
    for number in [rng.randint(0, floor), rng.randint(0, head), rng.randint(0, head), head]:
        try:
            record = store.record(2, number)
        except NotYetError:
            assert number > floor
            continue
        assert record in written(number), number
        reads += 1
    try:
        got = [g.record(i) for _, g, lo, hi in store.groups(2, 0, head + 1) for i in range(lo, hi)]
        assert len(got) == head + 1
        assert all(record in written(n) for n, record in enumerate(got))
    except NotYetError:
        pass
print("read", reads, opens, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.mark.parametrize("how", ["open", "stay"])
def test_a_reader_never_sees_a_wrong_or_missing_block(path: Path, how: str) -> None:
    with RecordStore.create(path, SMALL) as store:
        for number in range(FLOOR + 1):
            store.append(number, sample(number, 0, 100))
        store.sync()
        command = [sys.executable, "-c", READER, str(Path(__file__).parent.parent), str(path),
                   str(ROUNDS), str(FLOOR), how]
        reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
        for salt in range(1, ROUNDS + 1):
            for number in range(FLOOR + 1, 60):
                store.append(number, sample(number, salt, 100))
                if number % 9 == 0:
                    store.sync()
            if salt % 2:
                store.seal()
            time.sleep(0.01)
            store.truncate(FLOOR if salt % 3 else 30)
            if salt % 3 == 0:
                store.truncate(FLOOR)
            assert reader.poll() is None, reader.communicate()[1]
        out, err = reader.communicate("stop\n", timeout=60)
    assert reader.returncode == 0, err
    word, reads, _ = out.split()
    assert word == "read"
    assert int(reads) > 20


def in_child(check: Callable[[], object]) -> None:
    """Run in a forked child; its failure is ours."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            check()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_writer_is_dead_in_the_child_and_undisturbed_in_the_parent(path: Path) -> None:
    store = RecordStore.create(path, SMALL)
    model = fill(store, 0, 21)

    def check() -> None:
        for call in (lambda: store.record(1, 0), lambda: store.append(21, sample(21)),
                     store.sync, lambda: store.head):
            with pytest.raises(ClosedError, match="forked child"):
                call()
        store.close()
        with pytest.raises(LockedError):
            RecordStore.open(path, "a")

    in_child(check)
    model |= fill(store, 21, 40)
    store.seal()
    assert_holds(store, model)
    store.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_keep_the_lock(path: Path) -> None:
    store = RecordStore.create(path, SMALL)
    go, done = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(go, 1)
        os._exit(0)
    store.close()
    with RecordStore.open(path, "a") as again:
        fill(again, 0, 3)
    os.write(done, b"x")
    os.waitpid(child, 0)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_readers_read_while_threads_do(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 0, 60)
        store.sync()
    reader = RecordStore.open(path)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            reader.record(2, 5)
            reader.refresh()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        in_child(lambda: assert_holds(reader, model))
    stop.set()
    for thread in threads:
        thread.join()
    assert_holds(reader, model)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_during_append_and_seal(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        appending = threading.Thread(target=fill, args=(store, 0, 400))
        appending.start()
        for _ in range(10):
            in_child(lambda: store.closed or os._exit(1))
        appending.join()
        store.seal()
        assert_holds(store, {n: sample(n) for n in range(400)})


def test_reading_writes_nothing(path: Path) -> None:
    with RecordStore.create(path, SMALL) as store:
        model = fill(store, 0, 30)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in path.rglob("*")}
    for file in path.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    path.chmod(0o555)
    try:
        with RecordStore.open(path) as reader:
            assert_holds(reader, model)
            assert reader.verify() == []
            reader.info()
    finally:
        for file in [path, *path.rglob("*")]:
            file.chmod(0o755)
    assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in path.rglob("*")} == before
