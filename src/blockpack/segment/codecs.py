"""The codecs of frames: levels and tiers, compression, inflation in full or up to a record.

Every codec gives the same bytes for the same content and tier, whatever thread compresses and
whatever was compressed before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, NoReturn, Protocol

import cramjam
import zstandard

from blockpack._native import s2
from blockpack.errors import CorruptError, KnobError

Buffer = bytes | bytearray | memoryview

# Tier ids on disk; 0 is never used.
TIER_IDS: Final = {"fastest": 1, "default": 2, "better": 3, "best": 4}

# The first level of each tier that a codec has; levels above belong to it up to the next one.
LEVELS: Final = {
    "s2": {"fastest": 1, "better": 6, "best": 10},
    "zstd": {"fastest": 1, "default": 3, "better": 6, "best": 10},
    "snappy": {"fastest": 1},
}

# Where a record lies in the content, given its first `probe_size` bytes; None: nowhere.
Locate = Callable[[bytes], tuple[int, int] | None]


class Codec(Protocol):
    """What the engine needs of a codec. One instance serves all threads."""

    name: ClassVar[str]
    id: ClassVar[int]

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the frame of ``content``."""

    def decompress(self, frame: Buffer, decoded_size: int) -> bytes:
        """Return the content; CorruptError unless the frame is valid, whole and of that size."""

    def extract(self, frame: Buffer, decoded_size: int, probe_size: int,
                locate: Locate) -> bytes | None:
        """Return one part of the content, inflating no more of the frame than that takes.

        The part is what ``locate`` says after a look at the first ``probe_size`` bytes. What
        follows it is not validated, beyond the frame's declared size.
        """


class S2Codec:
    """S2 blocks, by our own kernel."""

    name: ClassVar[str] = "s2"
    id: ClassVar[int] = 1

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the S2 block."""
        return s2.compress(content, tier)

    def decompress(self, frame: Buffer, decoded_size: int) -> bytes:
        """Return the content."""
        self._check_size(frame, decoded_size)
        return s2.decompress(frame, decoded_size)

    def extract(self, frame: Buffer, decoded_size: int, probe_size: int,
                locate: Locate) -> bytes | None:
        """Return one part of the content.

        The block is decoded twice up to the probe's end: a few hundred bytes, under 1 us.
        """
        self._check_size(frame, decoded_size)
        size = min(probe_size, decoded_size)
        span = locate(s2.decompress_until(frame, size, decoded_size))
        if span is None:
            return None
        start, end = span
        content = s2.decompress_until(frame, end, decoded_size)
        return content if start == 0 else content[start:]

    def _check_size(self, frame: Buffer, decoded_size: int) -> None:
        found = s2.decompressed_size(frame)
        if found != decoded_size:
            wrong_size(self.name, decoded_size, found)


class SnappyCodec(S2Codec):
    """Snappy raw blocks: encoded by cramjam, decoded by the S2 kernel, of which they are a part."""

    name: ClassVar[str] = "snappy"
    id: ClassVar[int] = 3

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the Snappy block; there is one tier."""
        return bytes(cramjam.snappy.compress_raw(content))


class ZstdCodec:
    """zstd frames with their content size, no checksum of their own and no dictionary."""

    name: ClassVar[str] = "zstd"
    id: ClassVar[int] = 2

    # The native level of each tier.
    NATIVE_LEVELS: ClassVar[dict[str, int]] = {"fastest": 1, "default": 3, "better": 8, "best": 19}
    WINDOW_LOG: ClassVar[int] = 25    # 32 MiB: the largest group
    # Below this, inflating to the end costs less than setting up a stream that could stop: zstd
    # decodes 128 KiB at a time anyway.
    EXTRACT_MIN: ClassVar[int] = 256 << 10
    SCRATCH_BYTES: ClassVar[int] = 128 << 10   # stays in the L2 cache
    # Each keeps a window of the group's size, so the pool is not for a crowd.
    STREAMS_KEPT: ClassVar[int] = 2

    def __init__(self) -> None:
        # list.pop and list.append are atomic: the pools need no lock.
        self._decompressors: list[zstandard.ZstdDecompressor] = []
        self._streams: list[tuple[zstandard.ZstdDecompressor, bytearray]] = []

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the zstd frame.

        The compressor is a new one each time: 6-10 us, against bytes that might depend on what
        an old one saw (zstd only promises that for some of its match finders).
        """
        parameters = zstandard.ZstdCompressionParameters.from_level(
            self.NATIVE_LEVELS[tier], source_size=len(content),
            window_log=self.WINDOW_LOG, write_content_size=True, write_checksum=False)
        return zstandard.ZstdCompressor(compression_params=parameters).compress(content)

    def decompress(self, frame: Buffer, decoded_size: int) -> bytes:
        """Return the content."""
        self._check_size(frame, decoded_size)
        try:
            decompressor = self._decompressors.pop()
        except IndexError:
            decompressor = zstandard.ZstdDecompressor()
        try:
            # By position: not one frame after the other, no bytes after it. Keywords cost 0.3 us.
            content = decompressor.decompress(frame, 0, False, False)
        except zstandard.ZstdError as error:
            raise CorruptError(f"zstd frame: {error}") from error
        self._decompressors.append(decompressor)
        if len(content) != decoded_size:
            wrong_size(self.name, decoded_size, len(content))
        return content

    def extract(self, frame: Buffer, decoded_size: int, probe_size: int,
                locate: Locate) -> bytes | None:
        """Return one part of the content."""
        if decoded_size < self.EXTRACT_MIN:
            content = self.decompress(frame, decoded_size)
            span = locate(content[:probe_size])
            return None if span is None else content[span[0]:span[1]]
        self._check_size(frame, decoded_size)
        try:
            decompressor, scratch = self._streams.pop()
        except IndexError:
            decompressor = zstandard.ZstdDecompressor(max_window_size=1 << self.WINDOW_LOG)
            scratch = bytearray(self.SCRATCH_BYTES)
        try:
            with decompressor.stream_reader(frame) as stream:
                part = self._extract(stream, scratch, probe_size, locate)
        except zstandard.ZstdError as error:
            raise CorruptError(f"zstd frame: {error}") from error
        if len(self._streams) < self.STREAMS_KEPT:
            self._streams.append((decompressor, scratch))
        return part

    def _extract(self, stream: zstandard.ZstdDecompressionReader, scratch: bytearray,
                 probe_size: int, locate: Locate) -> bytes | None:
        probe = stream.read(probe_size)
        span = locate(probe)
        if span is None:
            return None
        start, end = span
        head = probe[start:end]    # empty unless the part starts inside of the probe
        self._skip(stream, scratch, start - len(probe))
        rest = end - max(start, len(probe))
        if rest <= 0:
            return head
        tail = stream.read(rest)
        if len(tail) != rest:
            raise CorruptError("zstd frame ends before its declared size")
        return head + tail if head else tail

    def _skip(self, stream: zstandard.ZstdDecompressionReader, scratch: bytearray,
              size: int) -> None:
        target = memoryview(scratch)
        while size > 0:
            done = stream.readinto(target[:size])    # a slice past the end is cut
            if done == 0:
                raise CorruptError("zstd frame ends before its declared size")
            size -= done

    def _check_size(self, frame: Buffer, decoded_size: int) -> None:
        # Before anything is allocated by what the frame says of itself.
        try:
            found = zstandard.frame_content_size(frame)
        except zstandard.ZstdError as error:
            raise CorruptError(f"zstd frame: {error}") from error
        if found != decoded_size:
            wrong_size(self.name, decoded_size, found)


def wrong_size(name: str, expected: int, found: int) -> NoReturn:
    """Raise CorruptError: the index and the frame disagree."""
    raise CorruptError(f"{name} frame is not of the size that the index has", expected=expected,
                       found=found)


CODECS: Final[dict[str, Codec]] = {"s2": S2Codec(), "zstd": ZstdCodec(), "snappy": SnappyCodec()}
_BY_ID: Final = {codec.id: codec for codec in CODECS.values()}
_TIER_NAMES: Final = {number: name for name, number in TIER_IDS.items()}


def get_codec(name: str) -> Codec:
    """Return the codec of that name; KnobError names those there are."""
    try:
        return CODECS[name]
    except KeyError:
        raise KnobError(f"no codec {name!r}: choose from {', '.join(CODECS)}") from None


def codec_of_id(number: int) -> Codec | None:
    """Return the codec that has this id on disk, or None."""
    return _BY_ID.get(number)


def tier_of_id(number: int) -> str | None:
    """Return the tier that has this id on disk, or None."""
    return _TIER_NAMES.get(number)


def parse_level(codec: str, level: int | str) -> str:
    """Return the tier that a level (1 and up) or a tier's name selects in ``codec``.

    KnobError, naming the codec's tiers, for a tier that it lacks or a level that is none.
    """
    get_codec(codec)
    tiers = LEVELS[codec]
    if isinstance(level, str) and level in tiers:
        return level
    try:
        number = 0 if isinstance(level, bool) else int(level)
    except ValueError:
        number = 0
    if number < 1:
        raise KnobError(f"{codec} has no level {level!r}: give a number from 1 up, or a tier: "
                        + ", ".join(tiers))
    return [tier for tier, first in tiers.items() if first <= number][-1]
