"""The tables of a store: which kinds of record one number can have.

The ids are part of the format (segment headers, open log, manifest); none is ever reused.
"""

from __future__ import annotations

from typing import Final

HEADERS: Final = 1
BODIES: Final = 2
RECEIPTS: Final = 3
DIFFICULTY: Final = 4

NAMES: Final = {HEADERS: "headers", BODIES: "bodies", RECEIPTS: "receipts",
                DIFFICULTY: "difficulty"}
IDS: Final = tuple(NAMES)
COUNT: Final = len(IDS)
