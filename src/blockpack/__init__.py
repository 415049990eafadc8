"""Keeps an EVM chain's blocks small on disk and reads them back at decode speed."""

from blockpack._native.logs import Log
from blockpack.chain.block import Block
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

__all__ = [
    "Block",
    "BlockRange",
    "BlockStore",
    "BlockpackError",
    "ChainMismatchError",
    "ClosedError",
    "CorruptError",
    "ForkError",
    "KnobError",
    "LimitError",
    "LockedError",
    "Log",
    "MissingError",
    "NotYetError",
    "PrunedError",
    "SequenceError",
    "UnsupportedVersionError",
    "create",
    "open",
]
