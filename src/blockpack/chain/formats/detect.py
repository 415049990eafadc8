"""What a chain file is, by its first bytes. Names and suffixes are never asked."""

from __future__ import annotations

from blockpack.errors import CorruptError, UnsupportedVersionError

PREFIX_BYTES = 10
GZIP = "gzip"
E2STORE = "e2store"
RLP = "rlp"

# Formats that we can name and do not read.
_FOREIGN = (
    (b"\xff\x06\x00\x00sNaPpY", "a framed snappy stream"),
    (b"\x28\xb5\x2f\xfd", "a zstd stream"),
    (b"\xfd7zXZ\x00", "an xz stream"),
    (b"BZh", "a bzip2 stream"),
    (b"PK\x03\x04", "a zip archive"),
    (b"dbin", "a dbin file"),
)


def detect(prefix: bytes, name: str) -> str:
    """``GZIP``, ``E2STORE`` or ``RLP``, from the first ``PREFIX_BYTES`` bytes of a file.

    Raises UnsupportedVersionError for a known format that is not read here, and CorruptError
    (offset 0) for anything else.
    """
    for magic, what in _FOREIGN:
        if prefix.startswith(magic):
            raise UnsupportedVersionError(
                f"{name}: this is {what}; blocks are read as concatenated block RLP (plain or"
                " gzip) or as era1. Decompress or convert it first")
    if prefix.startswith(b"\x1f\x8b"):
        return GZIP
    if prefix.startswith(b"e2"):
        return E2STORE
    # Every block is an RLP list, and lists start at 0xc0.
    if prefix and prefix[0] >= 0xc0:
        return RLP
    raise CorruptError(
        "the file is empty" if not prefix else "this is no chain file", file=name, offset=0,
        expected="an RLP list (0xc0..0xff), gzip (1f8b) or e2store (6532)",
        found=prefix.hex() or "nothing")
