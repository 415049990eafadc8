"""Concatenated block RLP: whole files, cut files and files that lie."""

from __future__ import annotations

import io
from pathlib import Path

import chainmaker
import pytest

from blockpack._native.rlp import BLOCK_SIZE_MAX
from blockpack.chain.formats.rlp_stream import read_blocks
from blockpack.chain.formats.stream import ByteStream, FileReader
from blockpack.errors import CorruptError

FILES = ["besu-50.blocks", "besu-ibft.blocks", "besu-mainnet-1000.blocks",
         "besu-snap-testBlockchain.blocks", "ethrex-chain.rlp", "execution-apis-chain.rlp",
         "linea-mainnet-28279135-28279249.rlp", "mainnet-18090205-18090218.rlp",
         "mainnet-3510000-3510010.rlp", "optimism-109279674-109279689.rlp"]


def read(data: bytes) -> tuple[list[bytes], CorruptError | None]:
    """The blocks that come out, and the error that ends them."""
    blocks = []
    try:
        for block in read_blocks(ByteStream(FileReader(io.BytesIO(data), "a.rlp"), "a.rlp")):
            assert block.offset == sum(map(len, blocks))
            blocks.append(bytes(block.rlp))
    except CorruptError as error:
        return blocks, error
    return blocks, None


@pytest.mark.parametrize("name", FILES)
def test_real_files_byte_for_byte(testdata: Path, name: str) -> None:
    data = (testdata / name).read_bytes()
    blocks, error = read(data)
    assert error is None
    assert b"".join(blocks) == data
    assert len(blocks) >= 11


def test_truncated_at_every_byte_of_the_last_block() -> None:
    blocks = chainmaker.chain(3)
    whole = b"".join(blocks)
    start = len(whole) - len(blocks[-1])
    for size in range(start, len(whole)):
        got, error = read(whole[:size])
        assert got == blocks[:2]
        if size > start:
            assert error is not None
            assert (error.file, error.offset) == ("a.rlp", start)
            assert "ends inside" in str(error)
    assert read(whole) == (blocks, None)


@pytest.mark.parametrize("garbage", [
    b"\x00", b"garbage", b"\x80", bytes(100), b"\xc0", b"\xc1\xc0", b"\xc3\xc0\xc0\xc0",
    bytes.fromhex("bf7fffffffffffffff"),
    bytes.fromhex("ff8000000000000000"),  # a list of 2^63 bytes
    bytes.fromhex("ffffffffffffffffff"),
    bytes.fromhex("ff00000000000000ff"),  # a length with leading zeros
    bytes.fromhex("f80a") + bytes(10),    # a long form for a short list
    bytes.fromhex("fb3fffffff") + bytes(100),  # nearly 1 GiB, of which 100 bytes are there
    bytes.fromhex("fb40000001") + bytes(100),
], ids=lambda data: data[:12].hex())
def test_garbage_after_good_blocks(garbage: bytes) -> None:
    blocks = chainmaker.chain(2)
    good = sum(map(len, blocks))
    got, error = read(b"".join(blocks) + garbage)
    assert got == blocks
    assert error is not None
    assert good <= (error.offset or 0) <= good + len(garbage)


def test_inner_lengths_that_lie() -> None:
    block = chainmaker.chain(1)[0]
    longer = bytearray(block)
    longer[4] += 1  # the header's own length
    got, error = read(block + bytes(longer))
    assert got == [block]
    assert error is not None
    assert (error.offset or 0) >= len(block)


def test_non_canonical_outer_list() -> None:
    block = chainmaker.chain(1, txs=0)[0]
    payload = block[3:]
    padded = b"\xfa" + len(payload).to_bytes(3, "big") + payload
    got, error = read(block + padded)
    assert got == [block]
    assert error is not None
    assert error.offset == len(block)


def test_the_limit_is_that_of_a_record() -> None:
    assert BLOCK_SIZE_MAX == 1 << 30


class EndlessPipe(io.RawIOBase):
    """Gives ``start`` and then zeros for ever."""

    def __init__(self, start: bytes) -> None:
        super().__init__()
        self.given = 0
        self._start = start

    def read(self, size: int = -1) -> bytes:
        data, self._start = self._start + bytes(size - len(self._start)), b""
        self.given += len(data)
        return data


@pytest.mark.parametrize("inside", [b"", b"\x83abc", bytes.fromhex("ff8000000000000000")])
def test_an_endless_block_without_a_header_is_not_read_for_its_length(inside: bytes) -> None:
    pipe = EndlessPipe(bytes.fromhex("fb3ffffff0") + inside)
    stream = ByteStream(FileReader(pipe, "pipe"), "pipe")  # type: ignore[arg-type]
    with pytest.raises(CorruptError, match="no block starts here") as caught:
        next(read_blocks(stream))
    assert (caught.value.file, caught.value.offset) == ("pipe", 5)
    assert pipe.given <= 1 << 21


def test_a_block_larger_than_a_chunk() -> None:
    blocks = chainmaker.chain(2, tx_bytes=3 << 20)
    assert read(b"".join(blocks)) == (blocks, None)
