"""The segments whose bytes are frozen in this folder."""

from __future__ import annotations

from typing import Any

Case = tuple[list[bytes | None], dict[str, Any]]

# Name of the file without .txt -> records and knobs.
CASES: dict[str, Case] = {
    # Contents under 32 bytes are one literal in S2, whatever an encoder finds: these bytes do not
    # depend on how well ours compresses.
    "segment-v0-s2": (
        [b"alpha", None, b"", b"beta", b"gamma"],
        {"table": 1, "first": 16_000_000, "codec": "s2", "tier": "fastest", "group_size": 3,
         "chain_id": 1}),
    # Deltas of two bytes, an absent and an empty record, a repeat for the compressor to find.
    "segment-v0-zstd": (
        [b"header " * 40, None, b"", b"header " * 41, b"last"],
        {"table": 2, "first": 7, "codec": "zstd", "tier": "better", "group_size": 4,
         "chain_id": 11_155_111}),
}
