"""Concatenated block RLP, as ``geth export`` writes it: one list after the other."""

from __future__ import annotations

from collections.abc import Iterator

from blockpack._native.rlp import BLOCK_SIZE_MAX, block_size, split_block
from blockpack.chain.formats.block import SourceBlock
from blockpack.chain.formats.stream import CHUNK_BYTES, ByteStream
from blockpack.errors import CorruptError, LimitError


def read_blocks(stream: ByteStream) -> Iterator[SourceBlock]:
    """Every block up to the end of the stream.

    Raises CorruptError with the file and the byte offset of the fault, after the blocks before it
    were given.
    """
    while stream.fill(1):
        size = _next_size(stream)
        if size > CHUNK_BYTES:
            _check_header_start(stream, size)
        if not stream.fill(size):
            raise CorruptError("the input ends inside a block: it was cut, or the block lies about"
                               " its length", file=stream.name, offset=stream.offset,
                               expected=f"{size} bytes", found=f"{stream.left} bytes")
        chunk, start = stream.window()
        block = chunk[start:start + size]
        try:
            spans = split_block(block)
        except CorruptError as error:
            raise _located(stream, error) from None
        offset = stream.offset
        stream.skip(size)
        yield SourceBlock(block, spans, offset)


def _next_size(stream: ByteStream) -> int:
    """Size that the next block announces."""
    chunk, start = stream.window()
    size = _announced(stream)
    if size < 0 and stream.fill(len(chunk) - start - size):
        size = _announced(stream)
    if size < 0:
        raise CorruptError("the input ends inside the length of a block", file=stream.name,
                           offset=stream.offset, expected=f"{-size} bytes more", found="the end")
    return size


def _check_header_start(stream: ByteStream, size: int) -> None:
    """Refuse a large block that no header starts, before a pipe is read for up to 1 GiB of it."""
    chunk, start = stream.window()
    prefix = chunk[start] - 0xF6    # one byte, and as many of length as it says
    if stream.fill(prefix + 9):
        _announced(stream, prefix, size - prefix)


def _announced(stream: ByteStream, after: int = 0, limit: int = BLOCK_SIZE_MAX) -> int:
    """Size of the list that starts ``after`` bytes further on; negative where it is cut."""
    chunk, start = stream.window()
    start += after
    try:
        return block_size(chunk, start, limit)
    except (CorruptError, LimitError) as error:
        raise CorruptError(f"no block starts here: {error.args[0]}", file=stream.name,
                           offset=stream.offset + after, expected="the list of a block",
                           found=bytes(chunk[start:start + 9]).hex()) from None


def _located(stream: ByteStream, error: CorruptError) -> CorruptError:
    """The same fault with its file and its position in the file."""
    return CorruptError(str(error.args[0]), file=stream.name,
                        offset=stream.offset + (error.offset or 0),
                        expected=error.expected, found=error.found)
