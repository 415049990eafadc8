"""The group cache: budgets, order, the second touch, several readers and threads."""

from __future__ import annotations

import gc
import random
import threading
import weakref

import pytest

from blockpack._native.group import Group, pack
from blockpack.segment.cache import GroupCache


def group(size: int) -> Group:
    """A group of so many bytes of memory."""
    made = Group(pack([bytes(size - (6 if size < 133 else 7))]), 1)    # table: 4 in memory
    assert made.nbytes == size
    return made


def test_least_recently_used_goes_first() -> None:
    cache = GroupCache(300)
    for key in (1, 2, 3):
        cache.put(key, 0, group(100))
    assert cache.get(1) is not None
    cache.put(4, 0, group(100))
    assert [key for key in (1, 2, 3, 4) if cache.get(key) is not None] == [1, 3, 4]
    assert (len(cache), cache.nbytes, cache.limit_bytes) == (3, 300, 300)


def test_larger_than_the_budget_is_not_kept_and_pushes_nothing_out() -> None:
    cache = GroupCache(150)
    cache.put(1, 0, group(100))
    cache.put(2, 0, group(151))
    assert cache.get(1) is not None
    assert cache.get(2) is None


def test_no_budget_holds_the_largest_group_of_each_table() -> None:
    cache = GroupCache()
    cache.put(1, 1, group(100))
    cache.put(2, 1, group(60))
    assert [key for key in (1, 2) if cache.get(key) is not None] == [2]
    cache.put(3, 2, group(1000))
    assert cache.limit_bytes == 1100
    assert [key for key in (2, 3) if cache.get(key) is not None] == [2, 3]


def test_room_is_made_before_the_next_group_is_inflated() -> None:
    cache = GroupCache()
    cache.make_room(1)
    cache.put(1, 1, group(100))
    cache.put(2, 2, group(1000))
    cache.make_room(2)
    assert [key for key in (1, 2) if cache.get(key) is not None] == []    # 1 was the oldest
    cache.put(3, 1, group(90))
    cache.make_room(2)
    assert [key for key in (1, 3) if cache.get(key) is not None] == [3]    # there is room
    budget = GroupCache(100)
    budget.put(1, 1, group(100))
    budget.make_room(1)
    assert budget.get(1) is not None


def test_zero_keeps_nothing() -> None:
    cache = GroupCache(0)
    cache.put(1, 0, group(10))
    assert cache.get(1) is None
    assert cache.nbytes == 0


def test_a_budget_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 bytes"):
        GroupCache(-1)


def test_putting_a_group_again_changes_nothing() -> None:
    cache = GroupCache(1000)
    kept = group(100)
    cache.put(1, 0, kept)
    cache.put(1, 0, group(100))
    assert cache.get(1) is kept
    assert cache.nbytes == 100


def test_the_second_touch_is_told_from_the_first() -> None:
    cache = GroupCache()
    assert not cache.touched_before(7)
    assert cache.touched_before(7)
    for other in range(100, 102):
        assert not cache.touched_before(other)
    assert not cache.touched_before(7)    # forgotten after two others


def test_a_larger_cache_remembers_more_touches() -> None:
    cache = GroupCache(10_000)
    for key in range(10):
        cache.put(key, 0, group(100))
    assert not cache.touched_before(50)
    for other in range(100, 109):
        cache.touched_before(other)
    assert cache.touched_before(50)


def test_a_reader_drops_its_own_groups_alone() -> None:
    cache = GroupCache(1000)
    first, second = cache.new_base(), cache.new_base()
    for base in (first, second):
        cache.put(base, 0, group(100))
        cache.put(base + 2**32 - 1, 0, group(100))
        cache.touched_before(base + 5)
    cache.drop(first)
    assert len(cache) == 2
    assert cache.nbytes == 200
    assert cache.get(second) is not None
    assert not cache.touched_before(first + 5)
    assert cache.touched_before(second + 5)


class Content(bytearray):
    """A content that can be watched."""


def test_what_leaves_the_cache_is_freed() -> None:
    cache = GroupCache(200)
    content = Content(pack([b"x" * 100]))
    watch = weakref.ref(content)
    cache.put(1, 0, Group(content, 1))
    del content
    assert watch() is not None
    cache.put(2, 0, group(150))
    assert watch() is None
    kept = weakref.ref(content := Content(pack([b"x" * 100])))
    cache = GroupCache(200)
    cache.put(1, 0, Group(content, 1))
    del cache, content
    gc.collect()
    assert kept() is None


def test_threads_leave_it_consistent() -> None:
    cache = GroupCache(1000)
    groups = {key: group(50 + key) for key in range(60)}
    wrong: list[int] = []

    def work(seed: int) -> None:
        rnd = random.Random(seed)
        for _ in range(4000):
            key = rnd.randrange(60)
            found = cache.get(key)
            if found is not None and found is not groups[key]:
                wrong.append(key)
            cache.touched_before(key)
            cache.put(key, 0, groups[key])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    held = [key for key in groups if cache.get(key) is not None]
    assert cache.nbytes == sum(groups[key].nbytes for key in held) <= 1000
    assert len(cache) == len(held)
