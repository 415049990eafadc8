"""The RLP vectors and the real chains that BLOCKPACK_TESTDATA holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reference.rlp import integer

# File -> chain ids of its blocks; -1 where no transaction carries one.
CHAINS = {
    "besu-50.blocks": {-1},
    "besu-ibft.blocks": {-1},
    "besu-mainnet-1000.blocks": {-1},
    "besu-snap-testBlockchain.blocks": {-1, 3503995874084926},
    "ethrex-chain.rlp": {3503995874084926},
    "execution-apis-chain.rlp": {-1, 3503995874084926},
    "linea-mainnet-28279135-28279249.rlp": {59144},
    "mainnet-18090205-18090218.rlp": {1},
    "mainnet-3510000-3510010.rlp": {-1, 1},
    "optimism-109279674-109279689.rlp": {10},
}


def unhex(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def vectors(testdata: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((testdata / "rlptests" / "RLPTests" / name).read_text())
    assert found
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def tree_of(value: Any) -> Any:
    """The vectors write integers as numbers, or as ``#`` and decimal digits."""
    if isinstance(value, list):
        return [tree_of(item) for item in value]
    if isinstance(value, int):
        return integer(value)
    return integer(int(value[1:])) if value.startswith("#") else value.encode()
