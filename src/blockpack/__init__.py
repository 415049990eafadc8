"""Keeps an EVM chain's blocks small on disk and reads them back at decode speed."""

from typing import TYPE_CHECKING

from blockpack import rlp
from blockpack._native.block import Block
from blockpack._native.header import Header
from blockpack._native.logs import Log
from blockpack._native.receipt import Receipt, Receipts
from blockpack._native.transaction import Authorization, Transaction
from blockpack._native.transactions import Transactions
from blockpack._native.withdrawal import Withdrawal
from blockpack.chain.ranges import BlockRange
from blockpack.chain.store import BlockStore, create
from blockpack.chain.store import open_store as open
from blockpack.errors import (
    BlockpackError,
    ChainMismatchError,
    ClosedError,
    CorruptError,
    ForkError,
    KnobError,
    LimitError,
    LockedError,
    MissingError,
    NotYetError,
    PrunedError,
    SequenceError,
    UnsupportedVersionError,
)

if TYPE_CHECKING:
    from blockpack.chain.columns.batch import Batches, Columns
    from blockpack.chain.columns.tables import TABLES

__all__ = [
    "TABLES",
    "Authorization",
    "Batches",
    "Block",
    "BlockRange",
    "BlockStore",
    "BlockpackError",
    "ChainMismatchError",
    "ClosedError",
    "Columns",
    "CorruptError",
    "ForkError",
    "Header",
    "KnobError",
    "LimitError",
    "LockedError",
    "Log",
    "MissingError",
    "NotYetError",
    "PrunedError",
    "Receipt",
    "Receipts",
    "SequenceError",
    "Transaction",
    "Transactions",
    "UnsupportedVersionError",
    "Withdrawal",
    "create",
    "open",
    "rlp",
]

# What needs NumPy, which takes 7 MB of memory and 60 ms: a store is often read without it.
_LATE = {"TABLES": "tables", "Batches": "batch", "Columns": "batch"}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"blockpack.chain.columns.{_LATE[name]}"), name)
