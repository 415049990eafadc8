"""Columns that several threads have computed, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from blockpack.chain.columns.batch import Columns
from blockpack.chain.columns.column import Array, Column, Field

# What is to be written where: source + base -> target.
Copy = tuple[Array, Array, int]


def joined(parts: Sequence[Columns], fields: Iterable[Field], blocks: range,
           pool: ThreadPoolExecutor) -> Columns:
    """The rows of all parts, at least one, one after the other.

    Each array is made once at its size, and each part copied to its place by a thread: on one
    thread the copies of dense blocks' calldata would cost a quarter of what the others save.
    """
    copies: list[list[Copy]] = [[] for _ in parts]
    made = [_join([part.column(field.name) for part in parts], copies) for field in fields]
    for _ in pool.map(_copy, copies):
        pass
    return Columns(made, sum(part.rows for part in parts), fields, blocks)


def _copy(copies: list[Copy]) -> None:
    for target, source, base in copies:
        if base:
            np.add(source, base, out=target)
        else:
            np.copyto(target, source)


def _join(columns: list[Column], copies: list[list[Copy]]) -> Column:
    """The column, not filled yet: ``copies`` has what each part has to write."""
    first = columns[0]
    values = offsets = valid = None
    if first.values is not None:
        values = _room([column.values for column in columns], copies)
    if first.offsets is not None:
        offsets = _room_for_offsets(columns, copies)
    if any(column.valid is not None for column in columns):
        valid = _room([_validity(column) for column in columns], copies)
    children = tuple(_join([column.children[i] for column in columns], copies)
                     for i in range(len(first.children)))
    return Column(first.name, first.kind, values, offsets, valid, children)


def _room(sources: Sequence[Array | None], copies: list[list[Copy]]) -> Array:
    arrays = [source for source in sources if source is not None]
    target = np.empty((sum(len(one) for one in arrays), *arrays[0].shape[1:]), arrays[0].dtype)
    at = 0
    for source, own in zip(arrays, copies, strict=True):
        own.append((target[at:at + len(source)], source, 0))
        at += len(source)
    return target


def _room_for_offsets(columns: list[Column], copies: list[list[Copy]]) -> Array:
    target = np.zeros(sum(len(column) for column in columns) + 1, np.int64)
    at, base = 1, 0
    for column, own in zip(columns, copies, strict=True):
        assert column.offsets is not None
        own.append((target[at:at + len(column)], column.offsets[1:], base))
        at += len(column)
        base += int(column.offsets[-1])
    return target


def _validity(column: Column) -> Array:
    return np.ones(len(column), np.bool_) if column.valid is None else column.valid
