"""The digest: what it depends on, and what it does not."""

from __future__ import annotations

import random

import pytest
import xxhash

from blockpack.segment.digest import DIGEST_BYTES, Digest, record_digest

RECORDS = [b"a", None, b"", b"xyz" * 100]


def digest_of(first: int, records: list[bytes | None]) -> Digest:
    digest = Digest()
    digest.add_all(first, records)
    return digest


def test_it_is_the_sum_of_seeded_hashes() -> None:
    digest = digest_of(10, RECORDS)
    expected = (xxhash.xxh3_128_intdigest(b"a", 10) + xxhash.xxh3_128_intdigest(b"", 12)
                + xxhash.xxh3_128_intdigest(b"xyz" * 100, 13)) % 2**128
    assert (digest.sum, digest.length) == (expected, 301)
    assert bytes(digest) == expected.to_bytes(16, "little") + (301).to_bytes(8, "little")


def test_known_value() -> None:
    # Frozen: a change here is a change of the format.
    assert f"{record_digest(16_000_000, b'blockpack'):032x}" == KNOWN


KNOWN = "669e53c469697b59e6524830607e364e"


def test_order_and_cuts_do_not_matter() -> None:
    whole = digest_of(5, RECORDS)
    numbered = [(n, r) for n, r in enumerate(RECORDS, 5) if r is not None]
    random.Random(1).shuffle(numbered)
    shuffled = Digest()
    for number, record in numbered:
        shuffled.add(number, record)
    parts = digest_of(5, RECORDS[:2])
    parts.merge(digest_of(7, RECORDS[2:]))
    assert whole == shuffled == parts
    assert hash(whole) == hash(parts)


def test_records_can_be_taken_out() -> None:
    digest = digest_of(5, RECORDS)
    digest.remove(8, b"xyz" * 100)
    digest.remove(5, b"a")
    assert digest == digest_of(7, [b""])


@pytest.mark.parametrize(("first", "records"), [
    (6, RECORDS),
    (5, [b"a", b"", b"", b"xyz" * 100]),
    (5, [b"a", None, None, b"xyz" * 100]),
    (5, [None, b"a", b"", b"xyz" * 100]),
    (5, [b"b", None, b"", b"xyz" * 100]),
    (5, RECORDS[:3]),
])
def test_it_differs_when_anything_does(first: int, records: list[bytes | None]) -> None:
    assert digest_of(first, records) != digest_of(5, RECORDS)


def test_bytes_round_trip() -> None:
    digest = digest_of(2**64 - 4, RECORDS)
    assert Digest.from_bytes(bytes(digest)) == digest
    assert len(bytes(digest)) == DIGEST_BYTES
    for size in (0, 23, 25):
        with pytest.raises(ValueError, match="24 bytes"):
            Digest.from_bytes(bytes(size))
    assert digest != "digest"
    assert repr(digest).startswith("Digest(")
