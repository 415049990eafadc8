"""Names of the files in a store's folder.

Every name carries a generation and is never used for two contents, so that a reader without a
lock either finds the file that its manifest means or none at all.
"""

from __future__ import annotations

import os
from typing import Final

from blockpack.store import tables

MANIFEST: Final = "manifest.json"
MANIFEST_PREVIOUS: Final = "manifest.previous.json"
MANIFEST_TEMPORARY: Final = "manifest.json.tmp"
LOCK: Final = "lock"
OPEN: Final = "open"
SEALED: Final = "sealed"


def log(store: str, first: int, generation: int) -> str:
    """Path of an open log."""
    return os.path.join(store, OPEN, f"{first:09d}.g{generation:04d}.log")


def sidecar(log_path: str) -> str:
    """Path of a log's index sidecar."""
    return log_path.removesuffix(".log") + ".idx"


def segment(store: str, table: int, first: int, last: int, generation: int) -> str:
    """Path of a sealed segment's file for one table."""
    folder = os.path.join(store, SEALED)
    return f"{folder}/{tables.NAMES[table]}{segment_tail(first, last, generation)}"


def segment_tail(first: int, last: int, generation: int) -> str:
    """What the names of all tables' files of a segment end with, after the table's name."""
    return f"-{first:09d}-{last:09d}.g{generation:04d}.seg"


def segment_temporary(store: str, table: int, first: int, generation: int) -> str:
    """Path of a segment file while it is written: its last number is not known yet."""
    name = f"{tables.NAMES[table]}-{first:09d}.g{generation:04d}.seg.tmp"
    return os.path.join(store, SEALED, name)
