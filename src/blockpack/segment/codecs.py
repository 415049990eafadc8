"""The codecs of frames: levels and tiers, compression, inflation in full or up to a record.

Every codec gives the same bytes for the same content and tier, whatever thread compresses and
whatever was compressed before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, NoReturn, Protocol

import cramjam
import zstandard

from blockpack._native import s2
from blockpack._native.zstd import Keep, ZstdInflater, content_size
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

# Where a record lies in the content, given its first `probe_size` bytes and the size of the
# whole; None: nowhere.
Locate = Callable[[bytes, int], tuple[int, int] | None]


class InflaterAfter(Protocol):
    """Inflates frames that follow a prefix. For many threads at once."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it takes, the prefix included."""

    def inflate(self, frame: Buffer, size_max: int, /) -> bytes:
        """As ``Codec.inflate``."""

    def prefix(self) -> bytes:
        """The prefix."""


class Codec(Protocol):
    """What the engine needs of a codec. One instance serves all threads."""

    name: ClassVar[str]
    id: ClassVar[int]
    # A frame stored in fewer bytes is inflated whole at once: stopping early would not pay.
    extract_min: ClassVar[int]
    prefixes: ClassVar[bool]    # whether frames can have one

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the frame of ``content``."""

    def compress_record(self, content: Buffer, tier: str) -> bytes:
        """As ``compress``, for what is thrown away at the seal.

        Its bytes need not be the same every time, so a compressor may be used again.
        """
        return self.compress(content, tier)

    def inflate(self, frame: Buffer, size_max: int) -> bytes:
        """Return the content; CorruptError unless the frame is valid, whole and within the limit.

        The size that the frame declares is compared with ``size_max`` before it is allocated.
        """

    def extract(self, frame: Buffer, size_max: int, probe_size: int,
                locate: Locate) -> bytes | None:
        """Return one part of the content, inflating no more of the frame than that takes.

        The part is what ``locate`` says after a look at the first ``probe_size`` bytes. What
        follows it is not validated, beyond the frame's declared size.
        """

    def let_go(self) -> None:
        """Free the memory that is kept for the next ``extract``; called before long ranges."""
        return

    def compressor_after(self, prefix: Buffer, tier: str) -> Callable[[Buffer], bytes]:
        """Return what compresses contents that follow ``prefix``, one after the other.

        For one thread at a time, and always in the same order: bytes may depend on it.
        KnobError for a codec without prefixes.
        """
        raise KnobError(f"{self.name} compresses without prefixes")

    def inflater_after(self, prefix: bytes) -> InflaterAfter:
        """Return what inflates frames that follow ``prefix``; for many threads."""
        raise CorruptError(f"{self.name} frames have no prefixes")

    def decompress(self, frame: Buffer, decoded_size: int) -> bytes:
        """Return the content; CorruptError unless it is of exactly that size."""
        content = self.inflate(frame, decoded_size)
        if len(content) != decoded_size:
            wrong_size(self.name, decoded_size, len(content))
        return content


class S2After:
    """Inflates S2 blocks that follow a prefix."""

    def __init__(self, prefix: bytes) -> None:
        self.nbytes = len(prefix)
        self._prefix = prefix

    def inflate(self, frame: Buffer, size_max: int, /) -> bytes:
        """Return the content; CorruptError unless the block is valid and within the limit."""
        return s2.decompress(frame, declared_s2("s2", frame, size_max), self._prefix)

    def prefix(self) -> bytes:
        """The prefix itself."""
        return self._prefix


class S2Codec(Codec):
    """S2 blocks, by our own kernel."""

    name: ClassVar[str] = "s2"
    id: ClassVar[int] = 1
    prefixes: ClassVar[bool] = True
    extract_min: ClassVar[int] = 16 << 10    # 15 us of inflation, of which half could be saved

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the S2 block."""
        return s2.compress(content, tier)

    def inflate(self, frame: Buffer, size_max: int) -> bytes:
        """Return the content."""
        return s2.decompress(frame, declared_s2(self.name, frame, size_max))

    def extract(self, frame: Buffer, size_max: int, probe_size: int,
                locate: Locate) -> bytes | None:
        """Return one part of the content.

        The block is decoded twice up to the probe's end: a few hundred bytes, under 1 us.
        """
        size = declared_s2(self.name, frame, size_max)
        span = locate(s2.decompress_until(frame, min(probe_size, size), size), size)
        if span is None:
            return None
        start, end = span
        content = s2.decompress_until(frame, end, size)
        return content if start == 0 else content[start:]

    def inflater_after(self, prefix: bytes) -> InflaterAfter:
        """Return what inflates blocks that follow ``prefix``, which is read in place."""
        return S2After(prefix)

    def compressor_after(self, prefix: Buffer, tier: str) -> Callable[[Buffer], bytes]:
        """Return ``compress`` for contents that follow ``prefix``, which is noted once."""
        return s2.Prefix(prefix, tier).compress


class SnappyCodec(S2Codec):
    """Snappy raw blocks: encoded by cramjam, decoded by the S2 kernel, of which they are a part."""

    name: ClassVar[str] = "snappy"
    id: ClassVar[int] = 3
    prefixes: ClassVar[bool] = False

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the Snappy block; there is one tier."""
        return bytes(cramjam.snappy.compress_raw(content))

    def compressor_after(self, prefix: Buffer, tier: str) -> Callable[[Buffer], bytes]:
        """There is none: KnobError."""
        return Codec.compressor_after(self, prefix, tier)


class ZstdCodec(Codec):
    """zstd frames with their content size, no checksum of their own and no dictionary."""

    name: ClassVar[str] = "zstd"
    id: ClassVar[int] = 2
    prefixes: ClassVar[bool] = True
    extract_min: ClassVar[int] = 64 << 10    # about one zstd block, 128 KiB decoded

    # The native level of each tier, measured on the 14 dense blocks of September 2023 and 25
    # bodies of May 2024 as one group of 4.2 MB / on the 14 blocks one by one / on headers of
    # Sepolia in groups of 64, as compressed size and MB/s of one thread:
    #   1   .5438  370    .574  330    .2363  390
    #   3   .5160  165    .571  118    .2351  207    the last of the fast ones
    #   6   .5092   93    .566   64    .2343  137
    #   8   .5070   77    .565   61    .2341  128    as small as 9 and a fifth faster
    #   9   .5070   64    .564   58    .2339  109
    #   15  .5050   11    .558    5    .2283   20
    #   19  .4979    3    .555    2    .2283    6
    # Long-distance matching in this window made 6 to 9 larger by .0013 (and 1 to 3 smaller, at
    # half their speed), so it is off. All inflate at 1.2 to 2.2 GB/s.
    NATIVE_LEVELS: ClassVar[dict[str, int]] = {"fastest": 1, "default": 3, "better": 8, "best": 19}
    # After a prefix: levels 3 and 4 look back too little for one of some MB.
    PREFIXED_LEVELS: ClassVar[dict[str, int]] = {"fastest": 1, "default": 5, "better": 8,
                                                 "best": 19}
    WINDOW_LOG: ClassVar[int] = 25    # 32 MiB: the largest group
    # Level 19 would take 2^24 for groups of 16 MB and more: 100 MB a compressor. This is 68 MB,
    # and .4979 all the same.
    CHAIN_LOG_MAX: ClassVar[int] = 23
    SCRATCH_BYTES: ClassVar[int] = 128 << 10   # stays in the L2 cache
    # Each keeps a window of the group's size, so the pool is not for a crowd.
    STREAMS_KEPT: ClassVar[int] = 2
    PREFIXED_KEPT: ClassVar[int] = 8    # prefixes that keep idle decompressors: 1.3 MB

    # The kernel's own method, of one object for all: FrameReader calls it without Python between.
    inflate = staticmethod(ZstdInflater().inflate)

    def __init__(self) -> None:
        # list.pop and list.append are atomic: the pools need no lock.
        self._streams: list[tuple[zstandard.ZstdDecompressor, bytearray]] = []
        self._keep = Keep(self.PREFIXED_KEPT)
        self._compressors: dict[str, list[zstandard.ZstdCompressor]] = {
            tier: [] for tier in self.NATIVE_LEVELS}

    def compress(self, content: Buffer, tier: str) -> bytes:
        """Return the zstd frame.

        The compressor is a new one each time: 6-10 us, against bytes that might depend on what
        an old one saw (zstd only promises that for some of its match finders).
        """
        parameters = self._parameters(tier, len(content))
        return zstandard.ZstdCompressor(compression_params=parameters).compress(content)

    def compress_record(self, content: Buffer, tier: str) -> bytes:
        """Return the zstd frame, by a compressor that was used before.

        Fresh tables for each header and body of a dense block cost 90 us beside 270 of work.
        """
        kept = self._compressors[tier]
        try:
            compressor = kept.pop()
        except IndexError:
            compressor = zstandard.ZstdCompressor(self.NATIVE_LEVELS[tier])
        frame = compressor.compress(content)
        if len(kept) < self.STREAMS_KEPT:
            kept.append(compressor)
        return frame

    def compressor_after(self, prefix: Buffer, tier: str) -> Callable[[Buffer], bytes]:
        """Return ``compress`` for contents that follow ``prefix``, which is indexed once."""
        dictionary = zstandard.ZstdCompressionDict(
            prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        dictionary.precompute_compress(compression_params=self._parameters(
            tier, len(prefix), self.PREFIXED_LEVELS))
        return zstandard.ZstdCompressor(dict_data=dictionary).compress

    def inflater_after(self, prefix: bytes) -> InflaterAfter:
        """Return what inflates frames that follow ``prefix``, of which it has a copy."""
        return ZstdInflater(prefix, self._keep)

    def _parameters(self, tier: str, size: int, levels: Mapping[str, int] = NATIVE_LEVELS
                    ) -> zstandard.ZstdCompressionParameters:
        make = zstandard.ZstdCompressionParameters.from_level
        level, window_log = levels[tier], self.WINDOW_LOG
        parameters = make(level, source_size=size, window_log=window_log)
        if parameters.chain_log > self.CHAIN_LOG_MAX:
            parameters = make(level, source_size=size, window_log=window_log,
                              chain_log=self.CHAIN_LOG_MAX)
        return parameters

    def extract(self, frame: Buffer, size_max: int, probe_size: int,
                locate: Locate) -> bytes | None:
        """Return one part of the content."""
        size = content_size(frame, size_max)
        try:
            decompressor, scratch = self._streams.pop()
        except IndexError:
            decompressor = zstandard.ZstdDecompressor(max_window_size=1 << self.WINDOW_LOG)
            scratch = bytearray(self.SCRATCH_BYTES)
        try:
            with decompressor.stream_reader(frame) as stream:
                probe = stream.read(min(probe_size, size))
                part = self._rest(stream, scratch, probe, locate(probe, size))
        except zstandard.ZstdError as error:
            raise CorruptError(f"zstd frame: {error}") from error
        if len(self._streams) < self.STREAMS_KEPT:
            self._streams.append((decompressor, scratch))
        return part

    def let_go(self) -> None:
        """Free the streams: each has a window of the largest group that it read, 7 MB and more."""
        self._streams.clear()

    def _rest(self, stream: zstandard.ZstdDecompressionReader, scratch: bytearray, probe: bytes,
              span: tuple[int, int] | None) -> bytes | None:
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


def declared_s2(name: str, frame: Buffer, size_max: int) -> int:
    """Return the size that an S2 block declares; CorruptError when it is above the limit."""
    size = s2.decompressed_size(frame)
    if size > size_max:
        wrong_size(name, f"at most {size_max}", size)
    return size


def wrong_size(name: str, expected: int | str, found: int) -> NoReturn:
    """Raise CorruptError: the frame declares a size that it must not have; -1 for none."""
    raise CorruptError(f"{name} frame declares a wrong size", expected=expected, found=found)


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
