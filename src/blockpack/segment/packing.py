"""Packs one group: the contents of its frames, and the frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from blockpack._native.group import pack
from blockpack.segment.codecs import Codec

Record = bytes | bytearray | memoryview | None


def pack_frames(codec: Codec, tier: str, records: Sequence[Record],
                frames: Sequence[Sequence[int]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield (frame, content) of each frame, given the positions of its records in the group.

    All frames after the first are compressed with the content of the first as their prefix.
    """
    key = pack([records[i] for i in frames[0]])
    yield codec.compress(key, tier), key
    if len(frames) > 1:
        compress = codec.compressor_after(key, tier)
        for positions in frames[1:]:
            content = pack([records[i] for i in positions])
            yield compress(content), content
