"""Columns of a sealed store: all fields of its transactions, four of them, and of its headers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import blockpack

_COLUMNS = {"all": ("transactions", None),
            "four": ("transactions", ["block_number", "to_address", "gas_limit", "nonce"]),
            "headers": ("blocks", ["block_number", "timestamp", "gas_used", "base_fee_per_gas"])}


@pytest.mark.parametrize("what", list(_COLUMNS))
def bench_columns(benchmark: Callable[..., object], store: blockpack.BlockStore,
                  what: str) -> None:
    table, names = _COLUMNS[what]
    assert benchmark(lambda: len(store[:].columns(table, names)))


def bench_columns_on_two_threads(benchmark: Callable[..., object],
                                 store: blockpack.BlockStore) -> None:
    assert benchmark(lambda: len(store[:].columns("transactions", threads=2)))
