"""What a chain file is, by its first bytes."""

from __future__ import annotations

import pytest

from blockpack.chain.formats.detect import E2STORE, GZIP, RLP, detect
from blockpack.errors import CorruptError, UnsupportedVersionError


@pytest.mark.parametrize(("prefix", "kind"), [
    (bytes.fromhex("1f8b0800"), GZIP),
    (bytes.fromhex("6532000000000000"), E2STORE),
    (bytes.fromhex("f902d5f9"), RLP),
    (b"\xc0", RLP),
    (bytes.fromhex("ff06000073"), RLP),  # not the whole snappy identifier
])
def test_known_formats(prefix: bytes, kind: str) -> None:
    assert detect(prefix, "file") == kind


@pytest.mark.parametrize(("prefix", "named"), [
    (b"\xff\x06\x00\x00sNaPpY", "framed snappy"),
    (b"\x28\xb5\x2f\xfd\x04", "zstd"),
    (b"\xfd7zXZ\x00\x00", "xz"),
    (b"BZh91AY", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"dbin\x00", "dbin"),
])
def test_foreign_formats_are_named(prefix: bytes, named: str) -> None:
    with pytest.raises(UnsupportedVersionError, match=rf"some\.file: this is .*{named}"):
        detect(prefix, "some.file")


@pytest.mark.parametrize("prefix", [b"", b"# a note", b"\x00" * 10, b"\x80", b"0xf902d5"])
def test_anything_else_is_corrupt(prefix: bytes) -> None:
    with pytest.raises(CorruptError) as caught:
        detect(prefix, "some.file")
    assert (caught.value.file, caught.value.offset) == ("some.file", 0)
    assert ("empty" in str(caught.value)) == (not prefix)
