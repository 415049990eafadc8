"""A sealed segment as text that a person can check: offsets, bytes, meanings; and back again.

Written against FORMAT.md, on its own: it shares no code with the writer and the reader.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

HEADER = [(8, "magic"), (2, "version"), (1, "table"), (1, "codec"), (1, "tier"), (1, "lanes"),
          (2, "reserved"), (4, "required features"), (4, "optional features"),
          (8, "first number"), (4, "group size"), (4, "reserved"), (8, "chain id"),
          (8, "reserved"), (8, "checksum: the segment's identity")]
ENTRY = [(8, "offset"), (8, "checksum")]
NAMES = {1: "frame index", 2: "meta", 3: "first ordinals", 4: "first frames",
         5: "hash index"}
HASHES = [(4, "entries"), (1, "bucket bits"), (1, "ordinal bytes"), (2, "reserved")]
META = [(8, "records"), (8, "present records"), (16, "digest: sum"), (8, "digest: total length"),
        (1, "lane 0: codec"), (1, "lane 0: tier"), (1, "lane 0: prefix"), (1, "lane 0: transform"),
        (4, "lane 0: group size"), (4, "lane 0: keys"), (4, "lane 0: stride"),
        (4, "lane 0: frame records"), (4, "reserved"), (8, "lane 0: content bytes")]
SECTION = [(2, "kind"), (2, "lane"), (2, "flags"), (2, "reserved"), (8, "offset"), (8, "size"),
           (8, "checksum")]
FOOTER = [(8, "magic"), (2, "version"), (2, "reserved"), (4, "sections"), (8, "file size"),
          (8, "tail offset"), (8, "directory offset"), (8, "directory checksum"),
          (8, "identity"), (8, "checksum: the seal")]
BYTES_A_LINE = 16

Field = tuple[int, str]


def annotate(data: bytes) -> str:
    """The annotated dump: ``offset: bytes  # meaning`` lines under headings."""
    lines: list[str] = []
    for item in walk(data):
        if isinstance(item, str):
            lines += ["", f"# {item}"]
            continue
        start, size, meaning = item
        for at in range(start, start + size, BYTES_A_LINE):
            piece = data[at:min(at + BYTES_A_LINE, start + size)]
            note = f"  # {meaning}" if at == start else ""
            lines.append(f"{at:06x}: {piece.hex(' '):<47}{note}".rstrip())
    return "\n".join(lines).lstrip("\n") + "\n"


def parse(text: str) -> bytes:
    """The bytes of an annotated dump; offsets must be those of the bytes."""
    data = bytearray()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        offset, _, rest = line.partition(": ")
        if int(offset, 16) != len(data):
            raise ValueError(f"line {line!r} does not start at byte {len(data):#x}")
        data += bytes.fromhex(rest.partition("#")[0])
    return bytes(data)


def walk(data: bytes) -> Iterator[str | tuple[int, int, str]]:
    """Headings, and (offset, size, meaning) of every field in file order."""
    tail, directory = struct.unpack_from("<QQ", data, len(data) - 40)
    sections = list(struct.iter_unpack("<HHHHQQQ", data[directory:-64]))
    yield "header"
    yield from fields(data, 0, HEADER)
    index = next(section for section in sections if section[0] == 1)
    entries = list(struct.iter_unpack("<QQ", data[index[4]:index[4] + index[5]]))
    for i, ((offset, _), (end, _)) in enumerate(itertools.pairwise(entries)):
        yield f"frame {i}"
        yield offset, end - offset, "compressed content"
    end = tail
    for kind, lane, _, _, offset, size, _ in sections:
        yield f"section of kind {kind} ({NAMES[kind]}), lane {lane}"
        yield end, offset - end, "padding"
        if kind == 1:
            for i in range(len(entries)):
                closing = i == len(entries) - 1
                name = "closing entry" if closing else f"frame {i}"
                yield from fields(data, offset + 16 * i, ENTRY, f"{name}: ")
        elif kind in {3, 4}:
            for i in range(size // 4):
                yield from fields(data, offset + 4 * i, [(4, f"group {i}")])
        elif kind == 5:
            yield from hashes(data, offset)
        else:
            yield offset, 64, "the header once more"
            yield from fields(data, offset + 64, META)
        end = offset + size
    yield "section directory"
    yield end, directory - end, "padding"
    for i in range(len(sections)):
        yield from fields(data, directory + 32 * i, SECTION, f"section {i}: ")
    yield "footer"
    yield from fields(data, len(data) - 64, FOOTER)


def hashes(data: bytes, start: int) -> Iterator[tuple[int, int, str]]:
    """The fields of a hash index."""
    yield from fields(data, start, HASHES)
    count, bits, width = struct.unpack_from("<IBB", data, start)
    at = start + 8
    for bucket in range(2**bits + 1):
        name = "closing entry" if bucket == 2**bits else f"bucket {bucket}: first entry"
        yield from fields(data, at, [(4, name)])
        at += 4
    for i in range(count):
        yield from fields(data, at, [(2, f"entry {i}: tag"), (width, f"entry {i}: ordinal")])
        at += 2 + width


def fields(data: bytes, start: int, rows: list[Field],
           prefix: str = "") -> Iterator[tuple[int, int, str]]:
    """Fields in a row, with their value where it is a number worth reading."""
    for size, name in rows:
        plain = name.rpartition(": ")[2]
        value = ""
        if size <= 8 and plain not in {"magic", "reserved", "checksum", "identity", "the seal",
                                       "directory checksum"} and "checksum" not in name:
            value = f" = {int.from_bytes(data[start:start + size], 'little')}"
        yield start, size, prefix + name + value
        start += size
