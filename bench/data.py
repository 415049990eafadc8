"""What every bench reads: blocks, and stores built from them once per process.

``BLOCKPACK_BENCH=tiny`` shrinks everything so that the test suite can run each bench once.
"""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import islice
from pathlib import Path

import blockpack
from blockpack.measure.synthetic import SyntheticChain

TINY = os.environ.get("BLOCKPACK_BENCH") == "tiny"
# 1,024 blocks of 90 KB are 92 MB: 16 groups of 64 in four segments, over ten times the one group
# that the default cache holds.
BLOCKS = 48 if TINY else 1024
SEGMENT_BLOCKS = 16 if TINY else 256
GROUP_BLOCKS = 8 if TINY else 64


@lru_cache(maxsize=1)
def synthetic_blocks(count: int = BLOCKS) -> list[bytes]:
    return list(islice(iter(SyntheticChain(seed=1)), count))


def build_store(path: Path, blocks: list[bytes], *, seal: bool = True, **knobs: object) -> None:
    """A store of those blocks, sealed to the last one unless told otherwise."""
    options: dict[str, object] = {"segment_blocks": SEGMENT_BLOCKS, "seal_lag": 0, **knobs}
    with blockpack.create(path, **options) as store:  # type: ignore[arg-type]
        for block in blocks:
            store.append(block)
        if seal:
            store.seal()
