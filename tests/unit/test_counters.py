"""Counters: each method counts what it says, and threads lose nothing."""

from __future__ import annotations

import threading

import pytest

from blockpack._native.counters import Counters


def test_each_method_counts_what_it_says() -> None:
    counters = Counters()
    assert set(counters.snapshot().values()) == {0}
    counters.inflated(10, 20, 30)
    counters.inflated(1, 2, 3, True)
    counters.hit()
    counters.hit()
    counters.missed()
    counters.decoded(7)
    counters.waited(9)
    assert counters.snapshot() == {
        "frames_inflated": 2, "frames_partial": 1, "bytes_in": 11, "bytes_out": 22,
        "inflate_ns": 33, "cache_hits": 2, "cache_misses": 1, "decode_ns": 7,
        "backlog_waits": 1, "backlog_wait_ns": 9}
    assert "frames_inflated=2" in repr(counters)
    for name, value in counters.snapshot().items():
        assert getattr(counters, name) == value
    counters.reset()
    assert set(counters.snapshot().values()) == {0}


def test_counts_are_read_only() -> None:
    with pytest.raises(AttributeError):
        Counters().cache_hits = 3    # type: ignore[misc]


def test_threads_lose_nothing() -> None:
    counters = Counters()

    def work() -> None:
        for _ in range(5000):
            counters.inflated(1, 2, 3)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.frames_inflated == 20_000
    assert counters.inflate_ns == 60_000
