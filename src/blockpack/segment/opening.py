"""Opens a sealed segment: reads its tail and checks everything but the frames."""

from __future__ import annotations

from dataclasses import dataclass

from blockpack._native.hashes import HashIndex
from blockpack._native.index import FrameIndex
from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.segment import layout
from blockpack.segment.codecs import codec_of_id, tier_of_id
from blockpack.segment.layout import Footer, Header, Meta, Section
from blockpack.segment.source import Source

# One read of this size holds the tail of a plain segment of up to 2,700 frames.
TAIL_BYTES = 64 << 10
KNOWN_KINDS = {layout.KIND_FRAMES, layout.KIND_META, layout.KIND_FIRSTS,
               layout.KIND_FIRST_FRAMES, layout.KIND_HASHES}
SMALLEST = layout.HEADER.size + layout.FOOTER.size


@dataclass(frozen=True, slots=True)
class Opened:
    """The checked description of a segment; holds on to none of its bytes."""

    header: Header
    identity: int
    footer: Footer
    meta: Meta
    sections: tuple[Section, ...]


class _Tail:
    """The end of the file, in one request where it is short."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._start = max(0, source.size - TAIL_BYTES)
        self._data = source.read(self._start, source.size - self._start)

    def read(self, offset: int, size: int) -> bytes | memoryview:
        if offset < self._start:
            return self._source.read(offset, size)
        return self._data[offset - self._start:offset - self._start + size]


def open_segment(source: Source, path: str,
                 expect: tuple[int, int] | None) -> tuple[Opened, FrameIndex]:
    """Check the segment's header, footer, directory, meta section and frame index.

    ``expect`` is (size of the file, seal) as the manifest has them. Raises CorruptError with the
    place, or UnsupportedVersionError for a later version, feature, section, codec or tier.
    """
    if source.size < SMALLEST:
        raise CorruptError("the file is cut short; restore it or repair the store", file=path,
                           expected=f"{SMALLEST} bytes or more", found=f"{source.size} bytes")
    first_bytes = bytes(source.read(0, layout.HEADER.size))
    header = Header.unpack(first_bytes, path)
    identity = int.from_bytes(first_bytes[-8:], "little")
    tail = _Tail(source)
    footer_offset = source.size - layout.FOOTER.size
    footer = Footer.unpack(bytes(tail.read(footer_offset, layout.FOOTER.size)), path,
                           footer_offset)
    check_footer(footer, identity, source.size, expect, path)
    sections = read_directory(tail, footer, path)
    meta = read_meta(tail, one_section(sections, layout.KIND_META, path), header, first_bytes,
                     path)
    index = read_index(tail, sections, footer, meta, path)
    check_padding(source, footer.tail_offset, sections[0].offset, path)
    return Opened(header, identity, footer, meta, sections), index


def check_footer(footer: Footer, identity: int, size: int, expect: tuple[int, int] | None,
                 path: str) -> None:
    """Raise CorruptError unless the footer belongs to this header, file size and manifest."""
    offset = size - layout.FOOTER.size
    if footer.identity != identity:
        raise CorruptError("the footer belongs to another segment", file=path, offset=offset,
                           expected=f"{identity:016x}", found=f"{footer.identity:016x}")
    if footer.file_bytes != size:
        raise CorruptError("the file has another size than its footer says", file=path,
                           offset=offset, expected=footer.file_bytes, found=size)
    if expect is not None and expect != (size, footer.seal):
        raise CorruptError(
            "this is not the file that the manifest names; restore it or repair the store",
            file=path, expected=f"{expect[0]} bytes, seal {expect[1]:016x}",
            found=f"{size} bytes, seal {footer.seal:016x}")
    end = footer.directory_offset + footer.sections * layout.DIRECTORY_ENTRY.size
    if (end != offset or footer.tail_offset < layout.HEADER.size
            or footer.directory_offset < footer.tail_offset):
        raise CorruptError("the footer points outside of the file", file=path, offset=offset)


def read_directory(tail: _Tail, footer: Footer, path: str) -> tuple[Section, ...]:
    """Return the sections: checked to lie one after the other, aligned, before the directory."""
    size = footer.sections * layout.DIRECTORY_ENTRY.size
    data = bytes(tail.read(footer.directory_offset, size))
    seed = layout.place_seed(footer.identity, layout.KIND_DIRECTORY)
    layout.check_sum(layout.checksum(data, seed), footer.directory_checksum, "section directory",
                     path, footer.directory_offset)
    sections = []
    end = footer.tail_offset
    for number, row in enumerate(layout.DIRECTORY_ENTRY.iter_unpack(data)):
        kind, lane, flags, zero, offset, length, checksum = row
        place = footer.directory_offset + number * layout.DIRECTORY_ENTRY.size
        if (zero or flags & ~layout.SECTION_REQUIRED or offset != end + layout.padding(end)
                or offset + length > footer.directory_offset
                or kind in {layout.KIND_FRAME, layout.KIND_DIRECTORY}):
            raise CorruptError("section directory breaks the format", file=path, offset=place)
        refuse_unknown_section(kind, flags, path)
        sections.append(Section(kind, lane, flags, offset, length, checksum))
        check_padding(tail, end, offset, path)
        end = offset + length
    check_padding(tail, end, footer.directory_offset, path)
    return tuple(sections)


def refuse_unknown_section(kind: int, flags: int, path: str) -> None:
    """Raise UnsupportedVersionError for a required section of an unknown kind."""
    if flags & layout.SECTION_REQUIRED and kind not in KNOWN_KINDS:
        raise UnsupportedVersionError(f"{path} has a required section of kind {kind}, which this "
                                      "reader does not know: use a later release")


def one_section(sections: tuple[Section, ...], kind: int, path: str) -> Section:
    """Return the section of this kind of lane 0; exactly one is demanded."""
    found = [section for section in sections if section.kind == kind]
    if len(found) != 1 or found[0].lane != 0:
        raise CorruptError(f"the segment needs one section of kind {kind}", file=path,
                           expected=1, found=len(found))
    return found[0]


def section_bytes(tail: Source | _Tail, section: Section, identity: int,
                  path: str) -> bytes | memoryview:
    """Return a section's bytes, their checksum compared."""
    data = tail.read(section.offset, section.size)
    seed = layout.place_seed(identity, section.kind, section.lane)
    layout.check_sum(layout.checksum(data, seed), section.checksum,
                     f"section of kind {section.kind}", path, section.offset)
    return data


def faulty_sections(source: Source, opened: Opened, path: str) -> list[CorruptError]:
    """What is wrong with the sections, also with those of unknown kinds that a reader skips."""
    faults = []
    for section in opened.sections:
        try:
            section_bytes(source, section, opened.identity, path)
        except CorruptError as error:
            faults.append(error)
    return faults


def read_meta(tail: _Tail, section: Section, header: Header, first_bytes: bytes,
              path: str) -> Meta:
    """Return the meta section: it must repeat the header and describe its lanes."""
    identity = int.from_bytes(first_bytes[-8:], "little")
    data = bytes(section_bytes(tail, section, identity, path))
    meta = Meta.unpack(data, header.lanes, path, section.offset)
    if meta.header != first_bytes:
        raise CorruptError("the meta section repeats another header", file=path,
                           offset=section.offset)
    if header.lanes != 1:
        raise UnsupportedVersionError(f"{path} has {header.lanes} lanes; this reader knows one")
    lane = meta.lanes[0]
    if (lane.codec, lane.tier, lane.group_size) != (header.codec, header.tier, header.group_size):
        raise CorruptError("the lane contradicts the header", file=path, offset=section.offset)
    if codec_of_id(header.codec) is None or tier_of_id(header.tier) is None:
        raise UnsupportedVersionError(f"{path} uses codec {header.codec} in tier {header.tier}; "
                                      "this reader lacks one of them: use a later release")
    return meta


def read_index(tail: _Tail, sections: tuple[Section, ...], footer: Footer, meta: Meta,
               path: str) -> FrameIndex:
    """Return the checked frame index; its frames lie from the header to the tail without a gap."""
    section = one_section(sections, layout.KIND_FRAMES, path)
    entries = section_bytes(tail, section, footer.identity, path)
    firsts, frames = (
        section_bytes(tail, one_section(sections, kind, path), footer.identity, path)
        if any(section.kind == kind for section in sections) else None
        for kind in (layout.KIND_FIRSTS, layout.KIND_FIRST_FRAMES))
    lane = meta.lanes[0]
    keying = (lane.keys, lane.stride, lane.frame_records) if lane.keys else None
    try:
        return FrameIndex(entries, firsts, frames=frames, keying=keying, records=meta.count,
                          group_size=lane.group_size, start=layout.HEADER.size,
                          end=footer.tail_offset)
    except ValueError as error:
        raise CorruptError(f"frame index: {error}", file=path, offset=section.offset) from error
    except CorruptError as error:
        entry = error.offset or 0
        raise CorruptError(
            f"frame index breaks the format at entry {entry}", file=path,
            offset=section.offset + entry * layout.INDEX_ENTRY_BYTES) from error


def read_hashes(source: Source, opened: Opened, path: str) -> HashIndex | None:
    """Return the checked hash index, or None where the segment was sealed without one."""
    if all(section.kind != layout.KIND_HASHES for section in opened.sections):
        return None
    section = one_section(opened.sections, layout.KIND_HASHES, path)
    data = section_bytes(source, section, opened.identity, path)
    try:
        return HashIndex(data, opened.meta.count)
    except (CorruptError, IndexError) as error:
        raise CorruptError(str(error), file=path, offset=section.offset) from error


def check_padding(source: Source | _Tail, start: int, end: int, path: str) -> None:
    """Raise CorruptError unless the bytes between two parts are few, and zero."""
    if end - start >= layout.ALIGNMENT or any(source.read(start, end - start)):
        raise CorruptError("padding is not zero", file=path, offset=start)


def describe(opened: Opened) -> dict[str, int]:
    """Bytes of each part of the file; they sum to its size."""
    parts = {"header": layout.HEADER.size,
             "frames": opened.footer.tail_offset - layout.HEADER.size}
    names = {layout.KIND_FRAMES: "index", layout.KIND_FIRSTS: "index",
             layout.KIND_FIRST_FRAMES: "index", layout.KIND_META: "meta",
             layout.KIND_HASHES: "hashes"}
    for section in opened.sections:
        name = names.get(section.kind, "other")
        parts[name] = parts.get(name, 0) + section.size
    parts["directory"] = opened.footer.sections * layout.DIRECTORY_ENTRY.size
    parts["footer"] = layout.FOOTER.size
    parts["padding"] = opened.footer.file_bytes - sum(parts.values())
    return parts
