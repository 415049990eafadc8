"""The sealed segment in numbers: magics, struct formats, kinds, limits. FORMAT.md explains them.

A test holds the tables of FORMAT.md against this module, so that neither can drift.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import xxhash

from blockpack._native.group import GROUP_RECORDS_MAX, GROUP_VARINT_MAX, RECORD_BYTES_MAX
from blockpack._native.index import INDEX_ENTRY_BYTES, INDEX_FIRST_BYTES
from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.segment.digest import Digest

__all__ = ["INDEX_ENTRY_BYTES", "INDEX_FIRST_BYTES", "RECORD_BYTES_MAX"]

VERSION = 0

# As in PNG: a byte above 0x7f, and line ends that a text-mode copy would change.
HEADER_MAGIC = b"\x89BPS\r\n\x1a\n"
FOOTER_MAGIC = b"\x89BPE\r\n\x1a\n"

HEADER = struct.Struct("<8sHBBBBHIIQIIQQQ")
FOOTER = struct.Struct("<8sHHIQQQQQQ")
DIRECTORY_ENTRY = struct.Struct("<HHHHQQQ")
META = struct.Struct("<64sQQ16sQ")
LANE = struct.Struct("<BBBBIIIIIQ")
INDEX_ENTRY = struct.Struct("<QQ")
INDEX_FIRST = struct.Struct("<I")    # a first ordinal, or a first frame

# Section kinds. A kind is never given another meaning; 0 and 0xffff are in no directory.
KIND_FRAME = 0       # seeds the checksums of frames
KIND_FRAMES = 1      # frame index of one lane
KIND_META = 2        # counts, digest, lanes
KIND_FIRSTS = 3      # first ordinals of one lane's groups, where not all are full
KIND_FIRST_FRAMES = 4    # first frames of the same groups, in a keyed lane
KIND_HASHES = 5          # finds records by their Keccak-256; a reader may do without
KIND_DIRECTORY = 0xFFFF  # seeds the directory's own checksum

SECTION_REQUIRED = 1  # flag: a reader that does not know this kind must refuse the file

PREFIX_NONE = 0
PREFIX_KEYS = 1    # frames have the content of their group's first frame as a prefix

TRANSFORM_NONE = 0
TRANSFORM_LINKS = 1    # records lack the hash of the one before, where it can be computed

FEATURES_REQUIRED = 0  # the required feature bits that this version knows
SECTIONS_MAX = 4096
ALIGNMENT = 8

GROUP_BYTES_MAX = 32 << 20    # content of a frame of several records
# A group closes before its content, with the longest table it could have, exceeds the limit.
TABLE_BYTES_A_RECORD = GROUP_VARINT_MAX
GROUP_SIZE_MAX = GROUP_RECORDS_MAX
SINGLE_BYTES_MAX = GROUP_VARINT_MAX + 1 + RECORD_BYTES_MAX   # content of a frame of one record
SEGMENT_RECORDS_MAX = (1 << 32) - 1


# XXH3-64 of (data, seed = 0). Not a function of our own: it runs for every frame that is read.
checksum: Callable[..., int] = xxhash.xxh3_64_intdigest


def place_seed(identity: int, kind: int, lane: int = 0, ordinal: int = 0) -> int:
    """Checksum seed of a frame (kind 0) or section: differs by segment, kind, lane and ordinal."""
    return identity ^ (kind << 48 | lane << 32 | ordinal)


def prefixed_checksum(stored: int, content: int) -> int:
    """Checksum of a frame with a prefix, of which a wrong one can decode without a fault."""
    return content >> 32 << 32 | stored & 0xFFFFFFFF


def padding(size: int) -> int:
    """Zero bytes that follow ``size`` bytes up to the next aligned offset."""
    return -size % ALIGNMENT


@dataclass(frozen=True, slots=True)
class Header:
    """The 64 bytes that a segment starts with; its identity is their checksum."""

    table: int
    codec: int
    tier: int
    group_size: int
    first: int
    chain_id: int
    lanes: int = 1
    features_optional: int = 0

    def pack(self) -> bytes:
        """Return the 64 bytes."""
        body = HEADER.pack(HEADER_MAGIC, VERSION, self.table, self.codec, self.tier, self.lanes,
                           0, FEATURES_REQUIRED, self.features_optional, self.first,
                           self.group_size, 0, self.chain_id, 0, 0)[:-8]
        return body + checksum(body).to_bytes(8, "little")

    @staticmethod
    def unpack(data: bytes, file: str, offset: int = 0) -> Header:
        """Return the header in 64 bytes that lie at ``offset`` of ``file``.

        Magic, version and required features are looked at before the checksum, so that a file of
        a later version is named as one. Raises CorruptError, UnsupportedVersionError.
        """
        (magic, version, table, codec, tier, lanes, zero_a, required, optional, first, group_size,
         zero_b, chain_id, zero_c, found) = HEADER.unpack(data)
        check_magic(magic, HEADER_MAGIC, "segment header", file, offset)
        check_version(version, file)
        refuse_unknown_features(required, file)
        check_sum(checksum(data[:-8]), found, "segment header", file, offset)
        if zero_a or zero_b or zero_c or not 1 <= group_size <= GROUP_SIZE_MAX or not lanes:
            raise CorruptError("segment header breaks the format", file=file, offset=offset)
        return Header(table, codec, tier, group_size, first, chain_id, lanes, optional)


@dataclass(frozen=True, slots=True)
class Section:
    """One directory entry: where a section is, and whether a reader may skip its kind."""

    kind: int
    lane: int
    flags: int
    offset: int
    size: int
    checksum: int

    def pack(self) -> bytes:
        """Return the directory entry."""
        return DIRECTORY_ENTRY.pack(self.kind, self.lane, self.flags, 0, self.offset, self.size,
                                    self.checksum)


@dataclass(frozen=True, slots=True)
class Footer:
    """The last 64 bytes; ``seal`` is their checksum and stands for every byte of the file."""

    sections: int            # entries in the directory
    file_bytes: int
    tail_offset: int         # where the frames end and the padding before the sections starts
    directory_offset: int
    directory_checksum: int
    identity: int
    seal: int = 0

    def pack(self) -> bytes:
        """Return the 64 bytes; the seal is computed."""
        body = FOOTER.pack(FOOTER_MAGIC, VERSION, 0, self.sections, self.file_bytes,
                           self.tail_offset, self.directory_offset, self.directory_checksum,
                           self.identity, 0)[:-8]
        return body + checksum(body).to_bytes(8, "little")

    @staticmethod
    def unpack(data: bytes, file: str, offset: int) -> Footer:
        """Return the footer in 64 bytes that lie at ``offset`` of ``file``, checked by itself."""
        (magic, version, zero, sections, file_bytes, tail_offset, directory_offset,
         directory_checksum, identity, seal) = FOOTER.unpack(data)
        check_magic(magic, FOOTER_MAGIC, "segment footer", file, offset)
        check_version(version, file)
        check_sum(checksum(data[:-8]), seal, "segment footer", file, offset)
        if zero or not 0 < sections <= SECTIONS_MAX:
            raise CorruptError("segment footer breaks the format", file=file, offset=offset)
        return Footer(sections, file_bytes, tail_offset, directory_offset, directory_checksum,
                      identity, seal)


@dataclass(frozen=True, slots=True)
class Lane:
    """How one lane was packed."""

    codec: int
    tier: int
    group_size: int
    decoded_bytes: int    # decoded content of all its frames, tables included
    keys: int = 0         # records of a group that are its key group; 0: the lane is plain
    stride: int = 0
    frame_records: int = 0
    linked: bool = False

    def pack(self) -> bytes:
        """Return the lane's part of the meta section."""
        prefix = PREFIX_KEYS if self.keys else PREFIX_NONE
        transform = TRANSFORM_LINKS if self.linked else TRANSFORM_NONE
        return LANE.pack(self.codec, self.tier, prefix, transform, self.group_size, self.keys,
                         self.stride, self.frame_records, 0, self.decoded_bytes)

    @staticmethod
    def unpack(row: tuple[int, ...], file: str, offset: int) -> Lane:
        """Return the lane of an unpacked row of the meta section at ``offset``."""
        (codec, tier, prefix, transform, group_size, keys, stride, frame_records, zero,
         decoded_bytes) = row
        if prefix > PREFIX_KEYS or transform > TRANSFORM_LINKS:
            raise UnsupportedVersionError(
                f"{file} has a lane with prefix {prefix} and transform {transform}, which this "
                "reader does not know: use a later release")
        keying = (keys, stride, frame_records)
        lowest, highest = (1, GROUP_SIZE_MAX) if prefix else (0, 0)
        if (zero or not 1 <= group_size <= GROUP_SIZE_MAX
                or not all(lowest <= value <= highest for value in keying)):
            raise CorruptError("meta section breaks the format", file=file, offset=offset)
        return Lane(codec, tier, group_size, decoded_bytes, *keying,
                    linked=transform == TRANSFORM_LINKS)


@dataclass(frozen=True, slots=True)
class Meta:
    """The meta section: all that a reader wants to know before it reads a record."""

    header: bytes         # the segment's first 64 bytes once more: one request opens the file
    count: int
    present: int
    digest: Digest
    lanes: tuple[Lane, ...]

    def pack(self) -> bytes:
        """Return the section."""
        digest = bytes(self.digest)
        fixed = META.pack(self.header, self.count, self.present, digest[:16], self.digest.length)
        return fixed + b"".join(lane.pack() for lane in self.lanes)

    @staticmethod
    def unpack(data: bytes, lanes: int, file: str, offset: int) -> Meta:
        """Return the meta section of a file of so many lanes."""
        if len(data) != META.size + lanes * LANE.size:
            raise CorruptError("meta section has the wrong size", file=file, offset=offset,
                               expected=META.size + lanes * LANE.size, found=len(data))
        header, count, present, total, length = META.unpack_from(data)
        rows = [LANE.unpack_from(data, META.size + i * LANE.size) for i in range(lanes)]
        if not 0 < count <= SEGMENT_RECORDS_MAX or present > count:
            raise CorruptError("meta section breaks the format", file=file, offset=offset)
        digest = Digest(int.from_bytes(total, "little"), length)
        return Meta(header, count, present, digest,
                    tuple(Lane.unpack(row, file, offset) for row in rows))


def check_magic(found: bytes, expected: bytes, what: str, file: str, offset: int) -> None:
    """Raise CorruptError unless the magics are equal."""
    if found != expected:
        raise CorruptError(f"{what}: not a sealed segment, cut short or overwritten; restore the "
                           "file or repair the store", file=file, offset=offset,
                           expected=expected.hex(), found=found.hex())


def check_version(version: int, file: str) -> None:
    """Raise UnsupportedVersionError unless this reader knows the version."""
    if version != VERSION:
        raise UnsupportedVersionError(
            f"{file} was written by format version {version}; this reader knows version "
            f"{VERSION}: use a release that reads version {version}")


def refuse_unknown_features(required: int, file: str) -> None:
    """Raise UnsupportedVersionError, naming the bits, when one of them is unknown."""
    unknown = [bit for bit in range(32) if required & ~FEATURES_REQUIRED & (1 << bit)]
    if unknown:
        bits = ", ".join(str(bit) for bit in unknown)
        raise UnsupportedVersionError(f"{file} needs feature bits {bits}, which this reader "
                                      "lacks: use a later release")


def check_sum(computed: int, stored: int, what: str, file: str, offset: int) -> None:
    """Raise CorruptError unless the stored checksum is the computed one."""
    if computed != stored:
        raise CorruptError(f"{what}: checksum mismatch; restore the file or repair the store",
                           file=file, offset=offset, expected=f"{stored:016x}",
                           found=f"{computed:016x}")
