"""Capsules as a consumer in C sees them: what the structs hold, and when what they pin is freed."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import signal
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import arrowkit as kit
import numpy as np
import pytest

from blockpack._native.arrow import FORMATS, array_capsules, schema_capsule, stream_capsule
from blockpack.chain.columns.column import DTYPES, Column, Field


def pinned(rows: int = 10) -> tuple[Column, weakref.ref[Any]]:
    """A column whose values nothing else holds, and a weak reference to these."""
    values = np.arange(rows, dtype=np.uint64)
    return Column("n", "u64", values, None, np.arange(rows) != 3), weakref.ref(values)


def exported(column: Column) -> tuple[object, object]:
    return array_capsules([column.field], [column], len(column))


def test_a_kind_has_its_format() -> None:
    fields = [Field(kind, kind, 20 if kind == "fixed" else 0, kind != "u8",
                    (Field("item", "u64"),) if kind in {"list", "struct"} else ())
              for kind in kit.KINDS]
    capsule = schema_capsule(fields)
    schema = kit.inside(capsule, kit.Schema)
    assert schema.format == b"+s"
    children = [schema.children[at].contents for at in range(schema.n_children)]
    assert [child.name.decode() for child in children] == list(kit.KINDS)
    assert [child.format for child in children] == [
        b"C", b"I", b"L", b"l", b"g", b"b", b"Z", b"U", b"w:20", b"w:32", b"+L", b"+s"]
    assert [child.flags for child in children] == [0] + [2] * 11
    assert children[-1].children[0].contents.name == b"item"
    assert set(FORMATS) == {*DTYPES, "list", "struct"}


def test_an_array_is_the_columns_own_memory() -> None:
    column, _ = pinned(10)
    _schema, capsule = exported(column)
    array = kit.inside(capsule, kit.Array)
    assert (array.length, array.null_count, array.n_buffers, array.n_children) == (10, 0, 1, 1)
    child = array.children[0].contents
    assert (child.length, child.null_count, child.offset, child.n_buffers) == (10, 1, 0, 2)
    assert column.values is not None
    assert child.buffers[1] == column.values.ctypes.data
    bits = ctypes.string_at(child.buffers[0], 2)
    assert bits == bytes([0b11110111, 0b11])


def test_without_a_null_there_is_no_bit_map() -> None:
    column = Column("n", "u64", np.arange(3, dtype=np.uint64), None, np.ones(3, bool))
    _schema, capsule = exported(column)
    child = kit.inside(capsule, kit.Array).children[0].contents
    assert child.null_count == 0
    assert child.buffers[0] is None


def test_an_array_nobody_takes_is_freed_with_its_capsule() -> None:
    column, alive = pinned()
    capsules: Any = exported(column)
    del column
    assert alive() is not None
    del capsules
    assert alive() is None


def test_a_moved_array_outlives_its_capsule_and_is_freed_when_released() -> None:
    column, alive = pinned()
    schema, capsule = exported(column)
    array = kit.moved(kit.inside(capsule, kit.Array))
    del column, schema, capsule
    assert alive() is not None
    kit.release(array)
    assert alive() is None
    assert not array.release


def test_a_moved_child_outlives_its_parent() -> None:
    column, alive = pinned()
    other, other_alive = pinned()
    pair = Column("p", "struct", children=(column, Column("m", "u64", other.values)))
    capsules: Any = exported(pair)
    array = kit.moved(kit.inside(capsules[1], kit.Array))
    child = kit.moved(array.children[0].contents.children[0].contents)
    del column, other, pair, capsules
    kit.release(array)
    assert other_alive() is None
    values = alive()
    assert values is not None
    assert child.buffers[1] == values.ctypes.data
    del values
    kit.release(child)
    assert alive() is None


def test_a_schema_and_a_child_of_it_can_be_moved() -> None:
    capsule: Any = schema_capsule([Field("first", "u64"), Field("second", "binary")])
    schema = kit.moved(kit.inside(capsule, kit.Schema))
    del capsule
    child = kit.moved(schema.children[1].contents)
    kit.release(schema)
    assert (child.name, child.format) == (b"second", b"Z")
    kit.release(child)
    assert not child.release


def test_a_failing_export_frees_what_it_had_made() -> None:
    column, alive = pinned(10)
    short = Column("m", "u64", np.arange(9, dtype=np.uint64))
    with pytest.raises(ValueError, match="column m has 9 rows; the batch has 10"):
        array_capsules([column.field, short.field], [column, short], 10)
    del column
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(("column", "message"), [
    (Column("n", "u64", np.zeros(4, np.int64)), "values of column n must be an array of uint64"),
    (Column("n", "u64", np.zeros(8, np.uint64)[::2]), "contiguous"),
    (Column("n", "u64", np.zeros((4, 2), np.uint64)), r"of shape \(4,\)"),
    (Column("n", "u64", np.zeros(4, ">u8")), "array of uint64, not >u8"),
    (Column("n", "u256", np.zeros((4, 31), np.uint8)), r"of shape \(4, 32\)"),
    (Column("n", "u64", np.zeros(4, np.uint64), None, np.ones(3, bool)), r"valid of column n .*4"),
    (Column("n", "u64", np.zeros(4, np.uint64), None, np.ones(4, np.uint8)), "array of bool"),
    (Column("n", "binary", np.zeros(4, np.uint8), np.array([0, 1, 2, 3, 5])), "from 0 to 5"),
    (Column("n", "binary", np.zeros(4, np.uint8), np.array([-1, 1, 2, 3, 4])), "from -1 to 4"),
    (Column("n", "binary", np.zeros(4, np.uint8), np.array([0, 3, 2, 3, 4])), "must ascend"),
    (Column("n", "binary", np.zeros(4, np.uint8), np.zeros(5, np.int32)), "array of int64"),
    (Column("n", "list", None, np.array([0, 1, 2, 3, 5]), None,
            (Column("item", "u64", np.zeros(4, np.uint64)),)), "from 0 to 5"),
    (Column("m", "u64", np.zeros(4, np.uint64)), "column n of kind u64 expected, not m"),
])
def test_a_column_that_is_not_what_it_says_is_refused(column: Column, message: str) -> None:
    field = column.field if column.name == "n" else Field("n", "u64")
    with pytest.raises(ValueError, match=message):
        array_capsules([field], [column], 4)


def test_an_unknown_kind_and_a_broken_promise_are_refused() -> None:
    with pytest.raises(ValueError, match=r"kind 'u128'; there are u8, u32"):
        schema_capsule([Field("n", "u128")])
    with pytest.raises(ValueError, match=r"kind 'u128'"):
        stream_capsule([Field("n", "u128")], [])
    column, _ = pinned()
    with pytest.raises(ValueError, match="1 nulls and was said to have none"):
        array_capsules([Field("n", "u64", nullable=False)], [column], 10)
    with pytest.raises(ValueError, match="2 columns expected, not 1"):
        array_capsules([column.field, column.field], [column], 10)


def test_a_request_for_the_same_columns_is_answered_with_our_own_types() -> None:
    column, _ = pinned()
    request = schema_capsule([Field("n", "i64")])
    schema, _array = array_capsules([column.field], [column], 10, request)
    assert kit.inside(schema, kit.Schema).children[0].contents.format == b"L"
    stream = stream_capsule([column.field], [], request)
    assert kit.inside(stream, kit.Stream).release


def test_a_request_for_other_columns_is_refused() -> None:
    column, alive = pinned()
    for wanted in ([], [Field("m", "u64")], [Field("n", "u64"), Field("m", "u64")]):
        with pytest.raises(ValueError, match="is requested; the columns are n"):
            array_capsules([column.field], [column], 10, schema_capsule(wanted))
        with pytest.raises(ValueError, match="is requested; the columns are n"):
            stream_capsule([column.field], [((column,), 10)], schema_capsule(wanted))
    consumed = schema_capsule([column.field])
    kit.release(kit.moved(kit.inside(consumed, kit.Schema)))
    with pytest.raises(ValueError, match="consumed already"):
        array_capsules([column.field], [column], 10, consumed)
    with pytest.raises(ValueError):
        array_capsules([column.field], [column], 10, exported(column)[1])
    del column
    assert alive() is None


def test_a_stream_ends_and_stays_ended() -> None:
    column, _ = pinned(4)
    capsule = stream_capsule([column.field], [((column,), 4), ((column[:1],), 1)])
    stream = kit.inside(capsule, kit.Stream)
    lengths = []
    for _ in range(2):
        code, array = kit.pull(stream)
        assert code == 0
        lengths.append(array.length)
        kit.release(array)
    assert lengths == [4, 1]
    for _ in range(3):
        code, array = kit.pull(stream)
        assert code == 0
        assert not array.release
    assert kit.last_error(stream) is None


@pytest.mark.parametrize(("error", "code", "text"), [
    (ValueError("block 7 is bad"), errno.EINVAL, "ValueError: block 7 is bad"),
    (KeyError("x"), errno.EIO, "KeyError: 'x'"),
    (MemoryError(), errno.ENOMEM, "MemoryError: "),
    (OSError(errno.ENOSPC, "full"), errno.ENOSPC, "OSError: [Errno 28] full"),
    (ValueError("a\0b\ud800"), errno.EINVAL, "ValueError: a b?"),
])
def test_an_error_is_told_once_and_again(error: Exception, code: int, text: str) -> None:
    column, alive = pinned(4)

    def batches(column: Column) -> Iterator[tuple[tuple[Column, ...], int]]:
        yield (column,), 4
        raise error

    running = batches(column)
    capsule = stream_capsule([column.field], running)
    stream = kit.inside(capsule, kit.Stream)
    first, array = kit.pull(stream)
    assert first == 0
    for _ in range(2):
        failed, nothing = kit.pull(stream)
        assert (failed, kit.last_error(stream)) == (code, text)
        assert not nothing.release
    schema = kit.Schema()
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
    kit.release(schema)
    assert array.length == 4
    kit.release(array)
    error.__traceback__ = None
    del column, running, batches
    gc.collect()
    assert alive() is None


def test_an_exception_that_cannot_be_printed_has_its_name() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    def batches() -> Iterator[tuple[tuple[Column, ...], int]]:
        raise OddError
        yield

    capsule = stream_capsule([Field("n", "u64")], batches())
    stream = kit.inside(capsule, kit.Stream)
    assert kit.pull(stream)[0] == errno.EIO
    assert kit.last_error(stream) == "OddError"


def test_an_interrupt_reaches_both_the_consumer_and_python() -> None:
    def batches() -> Iterator[tuple[tuple[Column, ...], int]]:
        raise KeyboardInterrupt
        yield

    capsule = stream_capsule([Field("n", "u64")], batches())
    stream = kit.inside(capsule, kit.Stream)
    got: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: got.append(number))
    try:
        code, _ = kit.pull(stream)
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == errno.EIO
    assert got == [signal.SIGINT]


def test_a_batch_that_does_not_fit_the_schema_is_an_error_of_the_stream() -> None:
    column, _ = pinned(4)
    capsule = stream_capsule([column.field], [((column,), 4), ((column,), 5)])
    stream = kit.inside(capsule, kit.Stream)
    code, array = kit.pull(stream)
    kit.release(array)
    assert code == 0
    assert kit.pull(stream)[0] == errno.EINVAL
    assert kit.last_error(stream) == "ValueError: column n has 4 rows; the batch has 5"


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_a_stream_left_early_frees_its_iterator(taken: int) -> None:
    closed = []

    def batches() -> Iterator[tuple[tuple[Column, ...], int]]:
        try:
            while True:
                yield (pinned(4)[0],), 4
        finally:
            closed.append(True)

    capsule: Any = stream_capsule([Field("n", "u64")], batches())
    stream = kit.moved(kit.inside(capsule, kit.Stream))
    del capsule
    for _ in range(taken):
        kit.release(kit.pull(stream)[1])
    kit.release(stream)
    assert len(closed) == bool(taken)   # a generator that never began has nothing to close
    assert not stream.release


def test_a_batch_outlives_its_stream() -> None:
    column, alive = pinned(4)
    capsule: Any = stream_capsule([column.field], [((column,), 4)])
    _, array = kit.pull(kit.inside(capsule, kit.Stream))
    del capsule, column
    assert alive() is not None
    kit.release(array)
    assert alive() is None


def test_no_more_than_two_batches_are_alive_in_a_stream() -> None:
    alive: list[Any] = []
    capsule = kit.counted(50, alive).__arrow_c_stream__()
    stream = kit.inside(capsule, kit.Stream)
    most = 0
    while True:
        code, array = kit.pull(stream)
        assert code == 0
        if not array.release:
            break
        most = max(most, sum(ref() is not None for ref in alive))
        kit.release(array)
        assert sum(ref() is not None for ref in alive) <= 1
    assert len(alive) == 50
    assert most == 1
    assert not any(ref() is not None for ref in alive)


def test_threads_share_a_stream_and_release_what_others_took() -> None:
    alive: list[Any] = []
    capsule = kit.counted(400, alive, rows=50).__arrow_c_stream__()
    stream = kit.inside(capsule, kit.Stream)
    seen: list[int] = []

    def work(_index: int) -> None:
        while True:
            code, array = kit.pull(stream)
            assert code == 0
            if not array.release:
                return
            first = ctypes.cast(array.children[0].contents.buffers[1],
                                ctypes.POINTER(ctypes.c_uint64))[0]
            seen.append(first)
            kit.release(array)

    kit.in_threads(8, work)
    assert sorted(seen) == list(range(400))
    assert not any(ref() is not None for ref in alive)


def test_threads_export_and_release_one_column() -> None:
    values = np.arange(1000, dtype=np.uint64)
    column = Column("n", "u64", values, None, np.arange(1000) != 3)
    held = sys.getrefcount(values)

    def work(index: int) -> None:
        for turn in range(100):
            schema, capsule = exported(column)
            if (index + turn) % 2:
                kit.release(kit.moved(kit.inside(capsule, kit.Array)))
                kit.release(kit.moved(kit.inside(schema, kit.Schema)))

    kit.in_threads(8, work)
    assert sys.getrefcount(values) == held


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""),
                    reason="AddressSanitizer keeps freed memory for a while")
def test_exports_leave_no_memory_behind() -> None:
    """Exports of twelve columns, taken and left: after 4,000 as much memory as after 1,000."""
    code = """
import resource, arrowkit as kit
columns, _ = kit.table(200, True)
for turn in range(4000):
    columns.__arrow_c_stream__()
    schema, array = columns.__arrow_c_array__()
    kit.release(kit.moved(kit.inside(array, kit.Array)))
    if turn == 1000:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = kit.run_python(code)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < (1 << 20 if sys.platform == "darwin" else 1024)   # bytes, KiB


def test_what_is_released_after_python_has_ended_does_no_harm() -> None:
    """A consumer may hold an array in a static: its release comes when there is no Python."""
    code = """
import ctypes, arrowkit as kit
columns, _ = kit.table(5)
schema, capsule = columns.__arrow_c_array__()
array = kit.moved(kit.inside(capsule, kit.Array))
kept = ctypes.create_string_buffer(bytes(array))
ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
release = ctypes.cast(array.release, ctypes.c_void_p)
libc = ctypes.CDLL(None)
libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
libc.__cxa_atexit(release, ctypes.addressof(kept), None)
print("ready")
"""
    done = kit.run_python(code)
    assert (done.returncode, done.stdout) == (0, "ready\n")
