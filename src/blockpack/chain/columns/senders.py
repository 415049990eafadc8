"""Who signed each transaction: the one column that is not computed in our C."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from blockpack._native.transaction import Transaction
from blockpack.chain.columns.batch import Columns
from blockpack.chain.columns.column import Array, Column
from blockpack.chain.columns.plan import ROW_BLOCK, Plan
from blockpack.chain.columns.spec import ADDRESS_BYTES
from blockpack.errors import CorruptError

# Rows that a thread is given at a time: about 5 ms.
_ROWS: Final = 64


def check_recovery() -> None:
    """ImportError, saying what to install, without the package that recovers keys."""
    try:
        import coincurve  # noqa: F401
    except ImportError as error:
        raise ImportError("column from_address needs coincurve:"
                          " pip install blockpack[sender]") from error


def with_senders(plan: Plan, columns: Columns, pool: ThreadPoolExecutor | None) -> Columns:
    """The columns, with senders in place of the transactions that were to tell them."""
    names = plan.sender_names
    if not names:
        return columns
    numbers = columns[ROW_BLOCK]
    senders = _senders(columns.column(names[0]), numbers, pool)
    made = [Column(name, "fixed", senders.values, None, senders.valid) if name in names
            else columns.column(name) for name in columns if name != ROW_BLOCK]
    return Columns(made, columns.rows, columns.fields, columns.blocks)


def _senders(raws: Column, numbers: Array, pool: ThreadPoolExecutor | None) -> Column:
    rows = len(raws)
    values = np.zeros((rows, ADDRESS_BYTES), np.uint8)
    valid = np.ones(rows, np.bool_)

    def recover(start: int) -> None:
        for row in range(start, min(rows, start + _ROWS)):
            sender = _sender(raws, row, int(numbers[row]))
            if sender is None:
                valid[row] = False
            else:
                values[row] = np.frombuffer(sender, np.uint8)

    run: Callable[..., Iterable[Any]] = map if pool is None else pool.map
    for _ in run(recover, range(0, rows, _ROWS)):
        pass
    return Column("", "fixed", values, None, None if valid.all() else valid)


def _sender(raws: Column, row: int, number: int) -> bytes | None:
    """None where the type is not known, or the signature is of nobody."""
    assert raws.values is not None
    assert raws.offsets is not None
    transaction = Transaction(raws.values[raws.offsets[row]:raws.offsets[row + 1]].tobytes())
    if not transaction.known:
        return None
    try:
        return transaction.sender
    except ValueError:
        return None
    except CorruptError as error:
        raise CorruptError(f"block {number}: from_address: {error.args[0]}", offset=error.offset,
                           expected=error.expected, found=error.found) from None
