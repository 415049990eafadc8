"""A .gz file of one or several members, decompressed as it is read (RFC 1952).

``geth export`` appends a new member each time it exports into an existing file, so members follow
each other; zero bytes after the last one are padding. What was decoded before a fault is
delivered before the fault is raised: the blocks in it are good.
"""

from __future__ import annotations

import zlib
from typing import Any

from blockpack.chain.formats.stream import Reader
from blockpack.errors import CorruptError

# Compressed bytes handed to zlib at a time. A copy of zlib's state (about 40 KB) is made for each,
# to be able to find the last good byte after a fault: 2 % of the time to inflate 128 KiB.
INPUT_BYTES = 128 << 10
# Deflate expands at most 1,032 times; what one call may return is bounded apart from that.
OUTPUT_BYTES_MAX = 4 << 20
_GZIP_WRAPPER = 31


class DamagedMemberError(CorruptError):
    """A member does not decode, or not to what its checksum says.

    Any byte of it may be wrong, not only those from ``offset`` on: a flipped bit can decode to
    something else for a long time. ``stream_offset`` is where its content starts in the
    decompressed stream.
    """

    stream_offset = 0


class GzipReader:
    """Reads the decompressed bytes of a gzip stream.

    Faults are CorruptErrors whose offset counts bytes of the compressed file: DamagedMemberError,
    or a plain one for a file that ends too early.
    """

    def __init__(self, reader: Reader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._inflater: Any = None
        self._input = b""
        self._input_offset = 0
        self._member_offset = 0
        self._member_stream_offset = 0
        self._stream_offset = 0
        self._fault: CorruptError | None = None

    @property
    def bytes_left(self) -> int | None:
        return None

    def read(self, _size: int, /) -> bytes:
        """The next decompressed bytes, at most ``OUTPUT_BYTES_MAX``; none at the end."""
        while self._fault is None:
            if not self._input:
                self._input = self._reader.read(INPUT_BYTES)
            if self._inflater is None and not self._start_member():
                return b""
            output = self._inflate()
            self._stream_offset += len(output)
            if output:
                return output
        raise self._fault

    def _start_member(self) -> bool:
        """Begin the next member; False at the end of the input."""
        while self._input and self._input_offset and not self._input.lstrip(b"\0"):
            self._advance(len(self._input))
            self._input = self._reader.read(INPUT_BYTES)
        padding = len(self._input) - len(self._input.lstrip(b"\0")) if self._input_offset else 0
        self._advance(padding)
        if not self._input:
            return False
        self._member_offset = self._input_offset
        self._member_stream_offset = self._stream_offset
        self._inflater = zlib.decompressobj(_GZIP_WRAPPER)
        return True

    def _inflate(self) -> bytes:
        """One step of the current member. A fault is kept for the read after this one."""
        before = self._inflater.copy()
        piece = self._input
        try:
            output: bytes = self._inflater.decompress(piece, OUTPUT_BYTES_MAX)
        except zlib.error as error:
            return self._salvage(before, piece, error)
        left = self._inflater.unused_data or self._inflater.unconsumed_tail
        self._advance(len(piece) - len(left))
        if self._inflater.eof:
            self._inflater = None
        elif not piece and not output:
            self._fault = CorruptError(
                "the gzip stream is truncated; get the file again", file=self._name,
                offset=self._input_offset, expected="the end of a member",
                found="the end of the file")
        return output

    def _salvage(self, inflater: Any, piece: bytes, error: zlib.error) -> bytes:
        """What ``piece`` decodes to before its first bad byte."""
        output = bytearray()
        while len(piece) > 0:
            half = piece[:(len(piece) + 1) // 2]
            trial = inflater.copy()
            try:
                output += trial.decompress(half)
            except zlib.error:
                if len(half) == 1:
                    break
                piece = half
                continue
            inflater, piece = trial, piece[len(half):]
            self._advance(len(half))
        self._fault = DamagedMemberError(
            f"bad gzip data ({error}); get the file again", file=self._name,
            offset=self._input_offset, expected="valid gzip",
            found=f"a fault in the member that starts at byte {self._member_offset}")
        self._fault.stream_offset = self._member_stream_offset
        return bytes(output)

    def _advance(self, size: int) -> None:
        self._input = self._input[size:]
        self._input_offset += size
