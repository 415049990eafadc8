"""Bad chain files, end to end: a clear error, and the blocks before it kept and readable."""

from __future__ import annotations

import gzip
import json
import resource
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import chainmaker
import pytest
from chainmaker import entry

import blockpack
from blockpack import CorruptError
from blockpack._native.rlp import outer_prefix
from blockpack.chain.importer import import_blocks

BLOCKS = chainmaker.chain(20, 8192, tx_bytes=3000)
PLAIN = b"".join(BLOCKS)
GZIP = gzip.compress(PLAIN, mtime=0)
ERA1 = chainmaker.era1_parts(BLOCKS, 8192)

# These are far above what any of these needs, and far below what a length that is
# believed would take.
SECONDS_MAX = 20.0
MEMORY_MAX = 64 << 10  # of growth of the peak, in KiB


def padded(block: bytes) -> bytes:
    """The same block with one more, needless, byte of length in its outer list."""
    size = 1 + block[0] - 0xF7
    payload = block[size:]
    return bytes((block[0] + 1,)) + len(payload).to_bytes(size, "big") + payload


def lying(block: bytes, at: int, step: int) -> bytes:
    hurt = bytearray(block)
    hurt[at] = (hurt[at] + step) % 256
    return bytes(hurt)


def era1_with(index: bytes) -> bytes:
    return b"".join([*ERA1[:-1], index])


def flipped(data: bytes, at: int) -> bytes:
    hurt = bytearray(data)
    hurt[at] ^= 0x55
    return bytes(hurt)


MEMBERS = gzip.compress(b"".join(BLOCKS[:12])), gzip.compress(b"".join(BLOCKS[12:]))
TWO_TO_63 = bytes.fromhex("ff8000000000000000")

# Name -> content, and how many blocks at least are good before the fault.
CASES: dict[str, tuple[bytes, int]] = {
    "an empty file": (b"", 0),
    "an empty gzip member": (gzip.compress(b""), 0),
    "a truncated last block": (PLAIN[:-1], 19),
    "a truncated length": (PLAIN + BLOCKS[0][:2], 20),
    "garbage after good blocks": (PLAIN + b"garbage", 20),
    "zeros after good blocks": (PLAIN + bytes(4096), 20),
    "a length of 2^63": (PLAIN + TWO_TO_63 + bytes(100), 20),
    "a length of 2^64 - 1": (PLAIN + b"\xff" * 200, 20),
    "a length of 1 GiB": (PLAIN + bytes.fromhex("fb3ffffff0") + bytes(100), 20),
    "a length of 2^63 inside": (b"".join(BLOCKS[:3]) + b"\xc9" + TWO_TO_63, 3),
    "an outer list that is longer": (b"".join(BLOCKS[:3]) + lying(BLOCKS[3], 2, 1) + BLOCKS[4], 3),
    "an outer list that is shorter": (b"".join(BLOCKS[:3]) + lying(BLOCKS[3], 2, -1), 3),
    "a header that is longer": (b"".join(BLOCKS[:3]) + lying(BLOCKS[3], 5, 1) + BLOCKS[4], 3),
    "a non-canonical outer list": (b"".join(BLOCKS[:3]) + padded(BLOCKS[3]), 3),
    "only the header": (b"".join(BLOCKS[:3]) + chainmaker.header_of(BLOCKS[3]), 3),
    "a truncated gzip": (GZIP[:-8], 19),
    "a gzip cut in the middle": (GZIP[:len(GZIP) // 2], 5),
    "a gzip with another checksum": (flipped(GZIP, -6), 20),
    "a gzip with another length": (flipped(GZIP, -1), 20),
    "a gzip with a bad header": (flipped(GZIP, 2), 0),
    "a gzip with reserved flags": (flipped(GZIP, 3), 0),
    "a gzip with a bad byte": (flipped(GZIP, len(GZIP) // 2), 0),
    "a second member with a bad header": (MEMBERS[0] + flipped(MEMBERS[1], 0), 12),
    "garbage after a gzip": (GZIP + b"garbage", 20),
    "an era1 without an index": (b"".join(ERA1[:-1]), 20),
    "an era1 cut in the index": (b"".join(ERA1)[:-3], 20),
    "an era1 cut in a block": (b"".join(ERA1[:30]) + ERA1[30][:9], 7),
    "an era1 index with a count of 2^63": (
        era1_with(entry(b"f2", ERA1[-1][8:-8] + struct.pack("<Q", 1 << 63))), 20),
    "an era1 index with another count": (
        era1_with(entry(b"f2", ERA1[-1][8:-8] + struct.pack("<Q", 8192))), 20),
    "an era1 index with another start": (era1_with(flipped(ERA1[-1], 8)), 20),
    "an era1 index with other offsets": (era1_with(flipped(ERA1[-1], 100)), 20),
    "an era1 entry of 4 GiB": (b"".join(ERA1[:9]) + b"\3\0\xff\xff\xff\xff\0\0" + bytes(100), 2),
    "an era1 that lies about snappy": (
        b"".join(ERA1[:9]) + entry(b"\3\0", b"\xff\x06\0\0sNaPpY" + b"\0\xff\xff\xff" * 3), 2),
}


@pytest.mark.parametrize("direct", [False, True], ids=["log", "direct"])
@pytest.mark.parametrize("name", CASES)
def test_bad_file(tmp_path: Path, name: str, direct: bool) -> None:
    content, good_min = CASES[name]
    path = tmp_path / "chain.file"
    path.write_bytes(content)
    began, peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (blockpack.create(tmp_path / "store", segment_blocks=8, seal_lag=0) as store,
          pytest.raises(CorruptError) as caught):
        import_blocks(store, path, direct=direct)
    error = caught.value
    assert error.file == str(path)
    assert error.offset is not None
    assert str(path) in str(error)
    assert f"byte {error.offset}" in str(error)
    with blockpack.open(tmp_path / "store") as store:
        kept = [block.raw for block in store]
    assert good_min <= len(kept)
    assert kept == BLOCKS[:len(kept)]
    assert time.monotonic() - began < SECONDS_MAX
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < MEMORY_MAX


@pytest.mark.parametrize("size", [2 << 20, 64 << 20])
def test_a_length_is_not_believed_from_a_pipe_either(tmp_path: Path, size: int) -> None:
    """Without a file size to compare with, memory follows what really comes."""
    start = outer_prefix(size) + outer_prefix(600)  # of a block, and of its header
    with blockpack.create(tmp_path / "store") as store:
        with pytest.raises(CorruptError, match="ends inside a block") as caught:
            import_blocks(store, Stream(PLAIN + start + bytes(1000)))
        assert caught.value.offset == len(PLAIN)
        assert len(store) == 20


class Stream:
    """A binary stream that knows no size, as a pipe."""

    name = "pipe"

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int) -> bytes:
        data, self._data = self._data[:min(size, 4000)], self._data[4000:]
        return data


def test_forged_blocks(testdata: Path, tmp_path: Path) -> None:
    """Real forgeries: each is taken and given back as it is, or refused without a trace."""
    taken = refused = 0
    for index, block in enumerate(forged_blocks(testdata / "rlptests" / "forged_blocks.jsonl")):
        with blockpack.create(tmp_path / str(index), links="none") as store:
            try:
                store.append(block)
            except blockpack.BlockpackError:
                assert (len(store), store.first) == (0, None)
                refused += 1
                continue
            assert store.raw(-1) == block
            taken += 1
    assert taken > 0
    assert refused > taken


def forged_blocks(path: Path) -> Iterator[bytes]:
    for line in path.read_text().splitlines():
        with suppress(ValueError):  # some are no hex at all
            yield bytes.fromhex(json.loads(line)["rlp"].removeprefix("0x"))
