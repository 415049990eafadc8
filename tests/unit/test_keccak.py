"""Keccak-256: published digests, every way to pass bytes, many at once, from threads."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from compiler import ROOT, c_compiler
from reference import keccak as reference

from blockpack._native.keccak import keccak256, keccak256_many

# From the Keccak submission's ShortMsgKAT_256 (empty, cc), and known from Ethereum: the empty RLP
# list, the empty RLP string; abc.
PUBLISHED = {
    b"": "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    b"\xc0": "1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
    b"\x80": "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
    b"\xcc": "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a",
    b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
}
# Around the rate of 136 bytes and its double, where padding changes block.
SIZES = [0, 1, 7, 8, 134, 135, 136, 137, 271, 272, 273, 608, 20_000]


def message(size: int) -> bytes:
    return bytes((i * 7 + size) % 251 for i in range(size))


@pytest.mark.parametrize("data", PUBLISHED)
def test_published_digests(data: bytes) -> None:
    assert keccak256(data).hex() == PUBLISHED[data]
    assert reference.keccak256(data).hex() == PUBLISHED[data]


@pytest.mark.parametrize("size", SIZES)
def test_padding_borders_match_the_reference(size: int) -> None:
    assert keccak256(message(size)) == reference.keccak256(message(size))


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview,
                                  lambda data: memoryview(b"x" + data + b"y")[1:-1]])
def test_any_contiguous_buffer(wrap: type) -> None:
    assert keccak256(wrap(b"abc")).hex() == PUBLISHED[b"abc"]


def test_mapped_file() -> None:
    with tempfile.TemporaryFile() as file:
        file.write(message(608))
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert keccak256(mapped) == reference.keccak256(message(608))


def test_what_is_no_contiguous_buffer_is_refused() -> None:
    with pytest.raises(BufferError):
        keccak256(memoryview(b"abcdef")[::2])
    with pytest.raises(TypeError):
        keccak256("abc")  # type: ignore[arg-type]


def test_many_equals_one_by_one() -> None:
    messages = [message(size) for size in SIZES]
    assert keccak256_many(messages) == [keccak256(m) for m in messages]
    assert keccak256_many(iter(messages)) == keccak256_many(tuple(map(bytearray, messages)))
    assert keccak256_many([]) == []


def test_many_lets_go_of_every_buffer_when_one_is_refused() -> None:
    first = bytearray(b"abc")
    with pytest.raises(TypeError):
        keccak256_many([first, 5])  # type: ignore[list-item]
    first.append(1)  # a buffer that is still exported cannot grow
    keccak256_many([first])
    first.append(2)


def test_threads_do_not_disturb_each_other() -> None:
    batches = [[message(size + i) for size in SIZES] for i in range(16)]
    expected = [[keccak256(m) for m in batch] for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(keccak256_many, batches)) == expected


def test_portable_code_gives_the_same_digests(tmp_path: Path) -> None:
    """On a processor with BMI2 the extension never runs the other branch, so build that alone."""
    library = tmp_path / "portable.so"
    subprocess.run([c_compiler(), "-std=c11", "-O2", "-shared", "-fPIC", "-DBP_KECCAK_PORTABLE",
                    "-I", ROOT / "ext", ROOT / "ext/hash/keccak.c", "-o", library], check=True)
    portable = ctypes.CDLL(str(library)).bp_keccak256
    portable.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_char_p]
    portable.restype = None
    for size in SIZES:
        digest = ctypes.create_string_buffer(32)
        portable(message(size), size, digest)
        assert digest.raw == keccak256(message(size))
