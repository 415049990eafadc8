"""What the memory section runs in a process of its own: nothing, read STORE, or import."""

from __future__ import annotations

import random
import sys
import time

import blockpack
from blockpack.chain.importer import import_blocks

READS = 400
SETTLE_SECONDS = 0.05    # long enough for a sample of an otherwise idle process


def read(path: str) -> None:
    """Random single reads, then everything as views, then as bytes."""
    with blockpack.open(path) as store:
        numbers = random.Random(3)
        for _ in range(READS):
            store.raw(numbers.randrange(len(store)))
        for view in store.raw_range(0, len(store), views=True):
            del view
        for block in store.raw_range(0, len(store)):
            del block


def import_and_seal(source: str, path: str, codec: str, how: str) -> None:
    with blockpack.create(path, compression=codec) as store:
        import_blocks(store, source, direct=how == "direct")
        store.seal()


def main() -> None:
    match sys.argv[1:]:
        case ["nothing"]:
            pass
        case ["read", path]:
            read(path)
        case ["import", source, path, codec, how]:
            import_and_seal(source, path, codec, how)
        case other:
            raise SystemExit(f"child.py does not know {other}")
    time.sleep(SETTLE_SECONDS)


if __name__ == "__main__":
    main()
