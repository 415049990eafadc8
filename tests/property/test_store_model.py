"""RecordStore against a dict, through every order of calls that Hypothesis finds."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from storekit import Records, covered, files_of, ranged, sample

from blockpack.errors import NotYetError
from blockpack.segment.digest import Digest
from blockpack.store.knobs import Knobs
from blockpack.store.records import RecordStore
from blockpack.store.tables import IDS


class StoreMachine(RuleBasedStateMachine):
    """``model`` is what was appended, ``synced`` what another process must see."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="blockpack-model-"))
        self.path = self.folder / "store"
        self.model: dict[int, Records] = {}
        self.synced: dict[int, Records] = {}
        self.salt = 0

    @initialize(first=st.sampled_from([0, 5, 8, 1000, 2**40]), lag=st.integers(0, 9),
                codec=st.sampled_from(["s2", "zstd", "snappy"]), group=st.sampled_from([1, 3, 64]),
                size=st.sampled_from([600, 1 << 20]))
    def create(self, first: int, lag: int, codec: str, group: int, size: int) -> None:
        self.first = first
        knobs = Knobs(segment_blocks=8, seal_lag=lag, compression=codec, block_group_size=group,
                      segment_bytes=size)
        self.store = RecordStore.create(self.path, knobs)
        self.reader = RecordStore.open(self.path)

    @property
    def next(self) -> int:
        return max(self.model, default=self.first - 1) + 1

    @rule(count=st.integers(1, 20))
    def append(self, count: int) -> None:
        for number in range(self.next, self.next + count):
            self.model[number] = sample(number, self.salt, 80)
            self.store.append(number, self.model[number])

    @rule()
    def sync(self) -> None:
        self.store.sync()
        self.synced = dict(self.model)

    @rule()
    def seal(self) -> None:
        self.store.seal()
        self.synced = dict(self.model)

    @rule(back=st.integers(0, 30))
    def truncate(self, back: int) -> None:
        last = max(self.next - 1 - back, self.first - 1)
        self.store.truncate(last)
        if back and self.model:
            self.model = {n: r for n, r in self.model.items() if n <= last}
            self.synced = dict(self.model)
        self.salt += 1

    @rule(count=st.integers(1, 20))
    def direct(self, count: int) -> None:
        if self.store.at_border:
            with self.store.direct_writer(2) as direct:
                for number in range(self.next, self.next + count):
                    self.model[number] = sample(number, self.salt, 80)
                    direct.append(number, self.model[number])
            self.synced = dict(self.model)

    @rule(wait=st.booleans(), changes=st.sampled_from([
        {}, {"segment_blocks": 4}, {"segment_blocks": 16}, {"seal_lag": 0}, {"seal_lag": 20},
        {"compression": "zstd", "seal_compression_level": "fastest"}, {"compression": "s2"}]))
    def reopen(self, wait: bool, changes: dict[str, Any]) -> None:
        self.store.close(wait=wait)
        self.store = RecordStore.open(self.path, "a", **changes)
        self.synced = dict(self.model)

    @rule()
    def look_again(self) -> None:
        self.reader.refresh()
        self.check_reader(self.reader)

    @rule()
    def open_reader(self) -> None:
        self.reader.close()
        self.reader = RecordStore.open(self.path, cache_bytes=0, mmap=False)
        self.check_reader(self.reader)

    def check_reader(self, reader: RecordStore) -> None:
        """It holds what was synced, or more of what was appended."""
        head = reader.head
        low = max(self.synced, default=self.first - 1)
        assert low <= (self.first - 1 if head is None else head) < self.next
        for number in list(self.synced)[-12:]:
            assert {t: reader.record(t, number) for t in IDS} == {
                t: self.model[number].get(t) for t in IDS}

    @invariant()
    @precondition(lambda self: hasattr(self, "store"))
    def holds_the_model(self) -> None:
        numbers = sorted(self.model)
        assert self.store.head == (numbers[-1] if numbers else None)
        for number in numbers[:: max(1, len(numbers) // 7)]:
            for table in IDS:
                assert self.store.record(table, number) == self.model[number].get(table)
        with pytest.raises(NotYetError):
            self.store.record(1, self.next)

    @rule(data=st.data())
    def ranges(self, data: st.DataObject) -> None:
        if self.model:
            numbers = st.integers(min(self.model), self.next)
            start, stop = sorted((data.draw(numbers), data.draw(numbers)))
            for table in IDS:
                assert ranged(self.store, table, start, stop) == [
                    self.model[n].get(table) for n in range(start, stop)]

    @rule()
    def whole(self) -> None:
        assert self.store.verify() == []
        for table in IDS:
            digest = Digest()
            for number, records in self.model.items():
                if table in records:
                    digest.add(number, records[table])
            assert self.store.digest(table) == digest
            assert self.store.coverage(table) == covered(self.model, table)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            with RecordStore.open(self.path) as reader:
                self.synced = dict(self.model)
                self.check_reader(reader)
                named = {str(Path(p).relative_to(self.path))
                         for p in reader._state.manifest.paths(str(self.path))}
            data = {name for name in files_of(self.path) if "/" in name}
            assert {n for n in data if not n.endswith(".idx")} == {
                n for n in named if not n.endswith(".idx")}
            assert data <= named
        shutil.rmtree(self.folder)


TestStoreModel = StoreMachine.TestCase
TestStoreModel.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None,
    suppress_health_check=[HealthCheck.too_slow])
