"""Packs one group: the contents of its frames, and the frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from blockpack._native.group import cut_links, pack
from blockpack.segment.codecs import Codec

Record = bytes | bytearray | memoryview | None


def pack_frames(codec: Codec, tier: str, records: Sequence[Record],
                frames: Sequence[Sequence[int]], *, linked: bool = False
                ) -> Iterator[tuple[bytes, bytes]]:
    """Yield (frame, content) of each frame, given the positions of its records in the group.

    All frames after the first are compressed with the content of the first as their prefix.
    ``linked`` contents lack the hashes that can be computed of the record before.
    """
    key = _content(records, frames[0], linked)
    yield codec.compress(key, tier), key
    if len(frames) > 1:
        compress = codec.compressor_after(key, tier)
        for positions in frames[1:]:
            content = _content(records, positions, linked)
            yield compress(content), content


def _content(records: Sequence[Record], positions: Sequence[int], linked: bool) -> bytes:
    content = pack([records[i] for i in positions])
    if not linked:
        return content
    follows = [False, *(after == before + 1 for before, after in pairwise(positions))]
    return cut_links(content, follows)
