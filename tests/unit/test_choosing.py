"""The sealer's choice: what is tried, what wins, and that the cap holds."""

from __future__ import annotations

import random

import chainmaker
import pytest

from blockpack.segment import choosing
from blockpack.segment.choosing import Candidate, choose, read_bytes, weigh
from blockpack.segment.codecs import get_codec
from blockpack.segment.grouping import Grouping

ZSTD = get_codec("zstd")


def blocks(count: int, size: int = 6000, shared: float = 0.5, seed: int = 1) -> list[bytes]:
    """Records of noise, of which a part is the same in many of them."""
    source = random.Random(seed)
    pool = [source.randbytes(200) for _ in range(40)]
    made = []
    for _ in range(count):
        parts = [pool[source.randrange(40)] if source.random() < shared else source.randbytes(200)
                 for _ in range(size // 200)]
        made.append(b"".join(parts))
    return made


def test_what_repeats_between_records_is_found_by_keys() -> None:
    sample = blocks(256)
    chosen = choose(sample, ZSTD, "default", 64, whole=False)
    assert chosen.keyed
    assert chosen.frame_records == 1
    tried = {candidate.grouping: candidate for candidate in weigh(sample, ZSTD, "default", 64)}
    plain = tried[Grouping(64)]
    assert tried[chosen].stored_bytes <= choosing.WORSE_MAX * plain.stored_bytes
    assert tried[chosen].read_bytes < 0.4 * plain.read_bytes
    assert tried[Grouping(1)].stored_bytes > 1.2 * plain.stored_bytes


def test_noise_is_read_as_cheaply_as_record_by_record() -> None:
    source = random.Random(2)
    sample = [source.randbytes(5000) for _ in range(64)]
    chosen = choose(sample, ZSTD, "default", 64, whole=True)
    assert read_bytes(sample, chosen) <= read_bytes(sample, Grouping(1))


def test_small_records_share_frames() -> None:
    sample = [b"common start of every record %d" % (i * i) for i in range(1024)]
    chosen = choose(sample, ZSTD, "default", 64, whole=False)
    assert (chosen.frame_records if chosen.keyed else chosen.group_size) > 1


@pytest.mark.parametrize("codec", ["zstd", "s2", "snappy"])
@pytest.mark.parametrize("group_size", [1, 2, 16, 64])
def test_no_frame_is_larger_than_the_group_size(codec: str, group_size: int) -> None:
    for sample in (blocks(70), [b"x" * 100] * 300):
        for grouping in choosing.candidates(sample, get_codec(codec), group_size):
            assert max(grouping.keys, grouping.frame_records) <= group_size
            assert grouping.keyed or grouping.group_size < group_size
            assert get_codec(codec).prefixes or not grouping.keyed


def test_a_few_groups_may_cost_a_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, keyed = Grouping(64), Grouping(64, 8, 8, 1)
    monkeypatch.setattr(choosing, "weigh", lambda *_, **__: [Candidate(plain, 100_000, 1000.0),
                                                       Candidate(keyed, 101_300, 100.0)])
    few, many = [b""] * 255, [b""] * 256
    assert choose(few, ZSTD, "default", 64, whole=True) == keyed
    assert choose(many, ZSTD, "default", 64, whole=True) == plain
    assert choose(few, ZSTD, "default", 64, whole=False) == plain


def test_a_saving_in_reading_is_weighed_against_size() -> None:
    base = Candidate(Grouping(64), 100_000, 1000.0)
    assert Candidate(Grouping(1), 110_900, 500.0).cost < base.cost
    assert Candidate(Grouping(1), 111_100, 500.0).cost > base.cost


@pytest.mark.parametrize("sample", [[b""], [None] * 10, [b"a", None, b"b" * 9000], [b"1"] * 4096])
def test_odd_samples(sample: list[bytes | None]) -> None:
    for whole in (True, False):
        assert choose(sample, ZSTD, "fastest", 64, whole=whole).group_size >= 1


def test_it_can_be_called_off() -> None:
    class StopError(Exception):
        pass

    def check() -> None:
        raise StopError

    with pytest.raises(StopError):
        choose(blocks(4), ZSTD, "default", 64, whole=True, check=check)


def test_a_sample_ends_at_bytes_or_records() -> None:
    assert choosing.is_enough(4096, 0, "default")
    assert not choosing.is_enough(4095, (24 << 20) - 1, "default")
    assert choosing.is_enough(1, 24 << 20, "default")
    assert choosing.is_enough(1, 6 << 20, "best")


def test_links_are_left_out_where_records_have_them() -> None:
    headers = [chainmaker.header_of(block) for block in chainmaker.chain(64)]
    assert choose(headers, ZSTD, "default", 64, whole=True, linked=True).linked
    assert not choose(headers, ZSTD, "default", 64, whole=True).linked
    plain, *others = weigh(headers, ZSTD, "default", 64, linked=True)
    assert plain.grouping == Grouping(64)
    assert all(candidate.grouping.linked for candidate in others)
    whole = next(c for c in others if c.grouping == Grouping(64, linked=True))
    assert plain.stored_bytes - whole.stored_bytes > 63 * 30
