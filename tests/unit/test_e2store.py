"""Type-length-value entries, read in order."""

from __future__ import annotations

import io

import pytest

from blockpack.chain.formats.e2store import ENTRY_BYTES_MAX, Entry, encode, read_entries
from blockpack.chain.formats.stream import ByteStream, FileReader
from blockpack.errors import CorruptError

VERSION = bytes.fromhex("6532000000000000")


def entries(data: bytes) -> list[Entry]:
    return list(read_entries(ByteStream(FileReader(io.BytesIO(data), "a.era1"), "a.era1")))


def test_entries_with_their_offsets() -> None:
    data = VERSION + bytes.fromhex("0300 02000000 0000 abcd 0600 00000000 0000")
    assert entries(data) == [(b"e2", b"", 0), (b"\3\0", b"\xab\xcd", 8), (b"\6\0", b"", 18)]
    assert entries(b"") == []


def test_round_trip() -> None:
    data = encode(b"e2") + encode(b"\0\0", b"x" * 100_000) + encode(b"e2") + encode(b"zz")
    assert [(kind, len(body)) for kind, body, _ in entries(data)] == [
        (b"e2", 0), (b"\0\0", 100_000), (b"e2", 0), (b"zz", 0)]


@pytest.mark.parametrize(("data", "offset", "match"), [
    ("65", 0, "ends inside an e2store entry header"),
    ("65320000000000", 0, "ends inside an e2store entry header"),
    ("6532000000000001", 0, "reserved"),
    ("0300000000000000", 0, "starts with a Version"),
    ("65320000000000000300020000000000ab", 8, "ends inside an e2store entry of type 0300"),
    ("653200000000000003000200000001ff", 8, "reserved"),
    ("65320000000000000300ffffffff0000", 8, "longer than any block"),
    ("653200000000000003000000001000", 8, "ends inside"),
])
def test_malformed(data: str, offset: int, match: str) -> None:
    with pytest.raises(CorruptError, match=match) as caught:
        entries(bytes.fromhex(data))
    assert (caught.value.file, caught.value.offset) == ("a.era1", offset)


def test_a_long_entry_is_refused_by_the_encoder() -> None:
    class Long(bytes):
        def __len__(self) -> int:
            return ENTRY_BYTES_MAX + 1

    with pytest.raises(ValueError, match="the limit is"):
        encode(b"\3\0", Long())
