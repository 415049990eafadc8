"""The synthetic chain: frozen bytes, valid structure, and statistics beside the real runs'."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import pytest
from realruns import RUNS, may_bodies, september_blocks
from reference.rlp import decode, encode

from blockpack._native.keccak import keccak256
from blockpack._native.rlp import split_block
from blockpack.measure.statistics import Statistics, group_ratio, measure
from blockpack.measure.synthetic import SyntheticChain
from blockpack.measure.synthetic.chain import next_base_fee
from blockpack.measure.synthetic.entropy import SLOTS, Entropy, log_uniform, weighted
from blockpack.measure.synthetic.population import Pool
from blockpack.measure.synthetic.receipts import logs_bloom

# Frozen: figures in the README and everything tuned on this chain refer to these bytes.
GOLDEN = {1: "1571975425cd3c8e9067ce623133b40b", 16: "f7e71a9e2c566ce4cd9c505d88792d2d",
          200: "9aaf26898d58fcee22a10e96410737bb"}
GOLDEN_OTHER = "70554576f5f4207e0780564ecfd0b141"

SAMPLE = 64


@lru_cache
def sample() -> list[bytes]:
    return list(islice(SyntheticChain(), SAMPLE))


@lru_cache
def measured() -> Statistics:
    return measure(sample())


def test_bytes_are_frozen() -> None:
    digest, found = hashlib.blake2b(digest_size=16), {}
    for count, block in enumerate(islice(SyntheticChain(), max(GOLDEN)), 1):
        digest.update(block)
        if count in GOLDEN:
            found[count] = digest.hexdigest()
    assert found == GOLDEN


def test_bytes_are_frozen_for_other_arguments_and_receipts() -> None:
    digest = hashlib.blake2b(digest_size=16)
    chain = SyntheticChain(seed=7, first=18_000_000, mean_bytes=30_000)
    for block, receipts in islice(chain.with_receipts(), 8):
        digest.update(block)
        digest.update(receipts)
    assert digest.hexdigest() == GOLDEN_OTHER


def test_iterating_again_starts_over() -> None:
    chain = SyntheticChain(seed=3)
    assert list(islice(chain, 3)) == list(islice(chain, 3))
    assert next(iter(chain)) != next(iter(SyntheticChain(seed=4)))


def test_blocks_are_canonical_rlp_of_the_right_shape() -> None:
    fields = {1: 11, 2: 12, 3: 14}
    for block in sample()[:20]:
        tree = decode(block)
        assert encode(tree) == block
        header, transactions, uncles, withdrawals = tree
        assert isinstance(header, list)
        assert [len(f) for f in header[:7]] == [32, 32, 20, 32, 32, 32, 256]
        assert len(header) == 17
        assert uncles == []
        assert [len(w) for w in withdrawals] == [4] * 16
        for transaction in transactions:
            if isinstance(transaction, list):
                assert len(transaction) == 9
            else:
                assert len(decode(transaction[1:])) == fields[transaction[0]]


def test_headers_link_and_move_on() -> None:
    parent, timestamp, base_fee, gas_used = bytes(32), None, None, 0
    for number, block in enumerate(sample()):
        spans = split_block(block)
        assert (spans.number, spans.parent_hash, spans.chain_id) == (number, parent, 1337)
        assert timestamp is None or spans.timestamp == timestamp + 12
        raw = block[spans.header_start:spans.header_end]
        header = decode(raw)
        fee = int.from_bytes(header[15], "big")
        assert base_fee is None or fee == next_base_fee(base_fee, gas_used)
        parent, timestamp, base_fee = keccak256(raw), spans.timestamp, fee
        gas_used = int.from_bytes(header[10], "big")


@pytest.mark.parametrize(("gas_used", "fee"), [(15_000_000, 80), (30_000_000, 90), (0, 70)])
def test_base_fee_follows_the_rule(gas_used: int, fee: int) -> None:
    assert next_base_fee(80, gas_used) == fee


def test_first_number_and_chain_id_are_settable() -> None:
    block = next(iter(SyntheticChain(first=18_000_000, chain_id=5)))
    spans = split_block(block)
    assert (spans.number, spans.chain_id) == (18_000_000, 5)
    assert spans.parent_hash != bytes(32)


def test_mean_size_is_what_was_asked_for() -> None:
    """Batches of 100 KB make the mean of 64 blocks noisy; 1,500 blocks come within 2 %."""
    assert measured().block_bytes == pytest.approx(90_000, rel=0.12)
    small = list(islice(SyntheticChain(mean_bytes=30_000), 3 * SAMPLE))
    assert sum(map(len, small)) / len(small) == pytest.approx(30_000, rel=0.12)


def assert_between(found: float | Iterable[float], real: Iterator[float | Iterable[float]],
                   slack: float) -> None:
    """Each figure lies between the real runs' least and greatest, or ``slack`` outside."""
    columns = zip(*(run if isinstance(run, tuple) else (run,) for run in real), strict=True)
    values = found if isinstance(found, tuple) else (found,)
    for value, column in zip(values, columns, strict=True):
        assert min(column) - slack <= value <= max(column) + slack, (found, column)


@pytest.mark.parametrize(
    ("name", "slack"),
    [("value_zero", 0.03), ("calldata_zero_bytes", 0.03), ("recipients", 0.03),
     ("selectors", 0.03), ("address_words", 0.03), ("other_words", 0.03)],
)
def test_statistics_are_those_of_real_runs(name: str, slack: float) -> None:
    assert_between(getattr(measured(), name), (getattr(run, name) for run in RUNS), slack)


def test_transactions_are_those_of_real_runs() -> None:
    found = measured()
    assert_between(found.transactions, (run.transactions for run in RUNS), 15)
    assert found.types[0] == pytest.approx(0.16, abs=0.02)
    assert found.types[2] == pytest.approx(0.835, abs=0.02)
    assert 0 < found.types[1] < 0.01
    assert 0 < found.types[3] < 0.01


def test_calldata_sizes_are_those_of_real_runs() -> None:
    quartile, median, ninety, ninety_nine, greatest = measured().calldata_quantiles
    assert (quartile, median) == (0, 68)
    assert 600 <= ninety <= 900  # real: 644, 644, 900
    assert 2_300 <= ninety_nine <= 7_400  # real: 2756, 7340, 2312
    assert 110_000 <= greatest <= 120_000  # real: 120000, 115332, 119602


def test_blocks_compress_like_real_ones() -> None:
    """Real: alone .638, .555, .517 at level 19; .573 and .527 at level 3 for the last two."""
    assert measured().ratio_alone == pytest.approx(0.57, abs=0.03)


def gain(blocks: list[bytes], size: int, level: int = 3) -> float:
    """Saved by groups of ``size``, as a share of the size alone."""
    return 1 - group_ratio(blocks, size, level) / group_ratio(blocks, 1, level)


def test_groups_gain_like_real_ones(testdata: Path) -> None:
    """At 2, 4 and 8 blocks between the two real runs, or half a percentage point outside."""
    september, may = september_blocks(testdata), may_bodies(testdata)
    for size in (2, 4, 8):
        low, high = sorted((gain(september, size), gain(may, size)))
        assert low - 0.005 <= gain(sample(), size) <= high + 0.005


def test_gain_grows_by_the_doubling_and_then_stops() -> None:
    """1.6 points a doubling up to 16 blocks, as in the real runs (14 blocks 4.8, 25 blocks 7.9 %);
    less after: the published curve of another store has 1.4 times its gain at 16 at 64, and
    hardly more after. Level 9, whose tables are large enough for 64 blocks (it gets 9.2 %)."""
    assert gain(sample(), 4) == pytest.approx(0.0325, abs=0.005)
    assert gain(sample(), 16) == pytest.approx(0.064, abs=0.006)
    assert gain(sample(), 64, 9) / gain(sample(), 16, 9) == pytest.approx(1.42, abs=0.08)


def test_receipts_fit_the_blocks() -> None:
    for index, (block, receipts) in enumerate(islice(SyntheticChain().with_receipts(), 4)):
        assert block == sample()[index]
        transactions, found = decode(block)[1], decode(receipts)
        assert encode(found) == receipts
        assert len(found) == len(transactions)
        gas = 0
        for transaction, receipt in zip(transactions, found, strict=True):
            if isinstance(transaction, bytes):
                assert receipt[0] == transaction[0]
                receipt = decode(receipt[1:])  # noqa: PLW2901
            status, used, bloom, logs = receipt
            assert status in (b"", b"\1")
            assert int.from_bytes(used, "big") > gas
            gas = int.from_bytes(used, "big")
            assert bloom == logs_bloom([[address, *topics, data]
                                        for address, topics, data in logs])


def test_bloom_is_the_protocols() -> None:
    """Three bits for the address, from the first three pairs of its keccak's bytes."""
    digest = keccak256(b"\xaa" * 20)
    bits = {int.from_bytes(digest[i:i + 2], "big") % 2048 for i in (0, 2, 4)}
    value = int.from_bytes(logs_bloom([[b"\xaa" * 20, b"data"]]), "big")
    assert {bit for bit in range(2048) if value >> bit & 1} == bits


def test_entropy_does_not_depend_on_how_it_is_taken() -> None:
    whole, pieces = Entropy(b"key"), Entropy(b"key")
    sizes = (1, 65_535, 3, 200_000, 7)
    assert b"".join(pieces.take(size) for size in sizes) == whole.take(sum(sizes))
    first = hashlib.shake_128(b"key/numbers" + bytes(8)).digest(4)
    draw = Entropy(b"key").draw
    assert [draw(), draw()] == [int.from_bytes(first[i:i + 2], "little") for i in (0, 2)]


def test_tables_have_the_shares_asked_for() -> None:
    assert weighted([("a", 1), ("b", 3)], 8) == ["a"] * 2 + ["b"] * 6
    distances = log_uniform(4, 1024)
    assert (len(distances), distances[0], distances[SLOTS // 2]) == (SLOTS, 4, 64)
    assert distances == sorted(distances)
    assert distances[-1] <= 1024


def test_pool_hands_out_old_and_new_items() -> None:
    entropy, made = Entropy(b"pool"), iter(range(10**6))
    pool = Pool(entropy, lambda: next(made), popular=0.3, burst=0.2, recent=0.2, count=5,
                reach=500)
    picked = [pool.pick() for _ in range(10_000)]
    new = len(set(picked)) / len(picked)
    assert new == pytest.approx(0.3, abs=0.03)
    assert pool.peek(0x8000) in picked
