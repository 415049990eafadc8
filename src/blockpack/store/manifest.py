"""The manifest: a store's identity, knobs, segments and logs. Replacing it is the commit point.

    {"checksum": "<16 hex digits>", "manifest": <value>}

The checksum is XXH3-64 (seed 0) of the exact bytes of <value>; FORMAT.md, section Store, has the
fields. Rows are short arrays: 1,000 segments of two tables parse in about 2 ms.
"""

from __future__ import annotations

import contextlib
import errno
import json
import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, overload

import xxhash

from blockpack.errors import BlockpackError, CorruptError, UnsupportedVersionError, naming
from blockpack.store import names, tables
from blockpack.store.fs import FileSystem
from blockpack.store.knobs import Knobs

VERSION: Final = 0
# A file above this is refused before it is read: a million segments stay below it.
_BYTES_MAX: Final = 1 << 30

# What link() says where there is nothing to link yet, or on file systems without hard links.
_NO_LINKS: Final = (errno.ENOENT, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)

_HEAD: Final = b'{"checksum":"'
_MIDDLE: Final = b'","manifest":'
_START: Final = len(_HEAD) + 16 + len(_MIDDLE)


class TableFile(NamedTuple):
    """One table's file of a sealed segment: bytes on disk, records present, footer checksum."""

    table: int
    file_bytes: int
    present: int
    seal: int


class SegmentRow(NamedTuple):
    """A sealed segment: ``count`` numbers from ``first`` in its files, ``visible`` of them ours."""

    first: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which no one needs here
    visible: int
    generation: int
    files: tuple[TableFile, ...]


class Segments(Sequence[SegmentRow]):
    """The rows of all segments, as the manifest's flat arrays; made into tuples when asked for.

    [first, count, visible, generation, then for each file: table, bytes, present, seal in hex].
    Opening a store looks at few of them: 1,000 tuples of tuples cost 4 ms, the arrays 1.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: list[list[Any]]) -> None:
        self.raw = raw

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, at: int) -> SegmentRow: ...
    @overload
    def __getitem__(self, at: slice) -> Segments: ...
    def __getitem__(self, at: int | slice) -> SegmentRow | Segments:
        if isinstance(at, slice):
            return Segments(self.raw[at])
        first, count, visible, generation, *rest = self.raw[at]
        try:
            index = operator.index
            files = tuple([TableFile(table, index(size), index(present), int(seal, 16))
                           for table, size, present, seal in
                           zip(rest[::4], rest[1::4], rest[2::4], rest[3::4], strict=True)])
        except (TypeError, ValueError) as error:
            raise CorruptError(f"the files of segment {self.raw[at]} are not as specified: {error}",
                               file=names.MANIFEST) from error
        return SegmentRow(first, count, visible, generation, files)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Segments) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]

    def plus(self, row: SegmentRow) -> Segments:
        """These and one more."""
        flat: list[Any] = list(row[:4])
        for file in row.files:
            flat += [file.table, file.file_bytes, file.present, f"{file.seal:016x}"]
        return Segments([*self.raw, flat])

    def replaced(self, at: int, row: SegmentRow) -> Segments:
        """These with another row in the place ``at``."""
        return Segments([*self.raw[:at], *Segments([]).plus(row).raw, *self.raw[at + 1:]])

    def cut(self, last: int) -> Segments:
        """The segments with nothing visible after number ``last``."""
        kept = [row for row in self.raw if row[0] <= last]
        if kept:
            first, count, visible, *rest = kept[-1]
            kept[-1] = [first, count, min(visible, last + 1 - first), *rest]
        return Segments(kept)

    def paths(self, store: str) -> set[str]:
        """The paths of all files."""
        folder = os.path.join(store, names.SEALED)
        starts = {table: f"{folder}/{name}" for table, name in tables.NAMES.items()}
        found: set[str] = set()
        for row in self.raw:
            tail = names.segment_tail(row[0], row[0] + row[1] - 1, row[3])
            found.update([starts[table] + tail for table in row[4::4]])
        return found


class LogRow(NamedTuple):
    """An open log; ``count`` numbers of it are ours, None for whatever it has (the last log)."""

    first: int
    generation: int
    count: int | None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One state of a store. Never changed: a commit makes a new one (see ``next``)."""

    store_id: str
    knobs: Knobs
    generation: int = 1
    next_file: int = 1  # the generation that the next new file name gets
    first: int | None = None
    chain_id: int | None = None
    chain_since: int | None = None  # None: given at creation, so valid from the first block on
    segments: Segments = field(default_factory=lambda: Segments([]))
    logs: tuple[LogRow, ...] = ()

    def next(self, **changes: Any) -> Manifest:
        """The manifest that follows this one."""
        return replace(self, generation=self.generation + 1, **changes)

    @property
    def sealed_end(self) -> int | None:
        """The number after the last sealed one; None when nothing is sealed."""
        if not self.segments.raw:
            return None
        first, _, visible, *_ = self.segments.raw[-1]
        return int(first + visible)

    def paths(self, store: str) -> set[str]:
        """Every data file that this manifest names, sidecars included."""
        found = self.segments.paths(store)
        for log in self.logs:
            path = names.log(store, log.first, log.generation)
            found.update((path, names.sidecar(path)))
        return found


def with_logs(manifest: Manifest, logs: tuple[LogRow, ...], next_file: int) -> Manifest:
    return replace(manifest, logs=logs, next_file=next_file)


def with_knobs(manifest: Manifest, knobs: Knobs) -> Manifest:
    return manifest.next(knobs=knobs)


def without_chain(manifest: Manifest) -> Manifest:
    """Forget a chain id that was learnt from a number which is no longer there."""
    return replace(manifest, chain_id=None, chain_since=None)


def segment_path(store: str, row: SegmentRow, table: int) -> str:
    return names.segment(store, table, row.first, row.first + row.count - 1, row.generation)


# -- text ------------------------------------------------------------------------------------


def render(manifest: Manifest) -> bytes:
    """The exact bytes of a manifest file."""
    value = {
        "format": VERSION,
        "store": manifest.store_id,
        "generation": manifest.generation,
        "next_file": manifest.next_file,
        "knobs": manifest.knobs.to_dict(),
        "chain": {"id": manifest.chain_id, "since": manifest.chain_since},
        "first": manifest.first,
        "segments": manifest.segments.raw,
        "logs": [list(row) for row in manifest.logs],
    }
    text = json.dumps(value, separators=(",", ":")).encode()
    checksum = xxhash.xxh3_64_hexdigest(text).encode()
    return b"".join((_HEAD, checksum, _MIDDLE, text, b"}\n"))


def parse(data: bytes, path: str) -> Manifest:
    """Read a manifest's bytes; CorruptError naming ``path``, UnsupportedVersionError."""
    if not (data.startswith(_HEAD) and data[_START - len(_MIDDLE):_START] == _MIDDLE
            and data.endswith(b"}\n")):
        raise CorruptError("this is not a manifest", file=path, offset=0,
                           expected=_HEAD.decode(), found=repr(data[:32]))
    stored = data[len(_HEAD):len(_HEAD) + 16].decode("ascii", "replace")
    found = xxhash.xxh3_64_hexdigest(memoryview(data)[_START:-2])
    if stored != found:
        raise CorruptError("the manifest's checksum does not match its text", file=path,
                           offset=_START, expected=stored, found=found)
    try:
        return _from_value(json.loads(data[_START:-2]), path)
    except BlockpackError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CorruptError(f"the manifest's fields are not as specified: {error!r}",
                           file=path, offset=_START) from error


def _from_value(value: dict[str, Any], path: str) -> Manifest:
    if value["format"] != VERSION:
        raise UnsupportedVersionError(
            f"{path}: written by store format {value['format']}, this version reads {VERSION}")
    manifest = Manifest(
        store_id=value["store"], knobs=Knobs.from_dict(value["knobs"]),
        generation=value["generation"], next_file=value["next_file"], first=value["first"],
        chain_id=value["chain"]["id"], chain_since=value["chain"]["since"],
        segments=Segments(value["segments"]),
        logs=tuple([LogRow(*row) for row in value["logs"]]),
    )
    _check(manifest, path)
    return manifest


def _check(manifest: Manifest, path: str) -> None:
    """Segments and logs must follow each other without a gap, and names must be inside."""
    if len(manifest.store_id) != 32 or len(bytes.fromhex(manifest.store_id)) != 16:
        raise CorruptError("the store's id is not 32 hex digits", file=path,
                           found=manifest.store_id)
    expected = manifest.first
    known = set(tables.IDS)
    generations: set[int] = set()
    for row in manifest.segments.raw:
        first, count, visible = row[:3]
        if (set(map(type, row[:4])) != {int} or first != expected
                or not 0 < visible <= count or len(row) % 4 or row[3] in generations):
            raise CorruptError(f"segment {row[:4]} does not follow", file=path,
                               expected=expected, found=first)
        if not known.issuperset(row[4::4]):
            raise UnsupportedVersionError(f"{path}: segment {row[:4]} has a table that this "
                                          "version does not know")
        expected = first + visible
        generations.add(row[3])
    for log in manifest.logs:
        if not set(map(type, log)) <= {int, type(None)} or log.generation is None:
            raise CorruptError(f"log {log} is not made of numbers", file=path)
        if expected is None or log.first > expected or (log.count is not None and log.count < 1):
            raise CorruptError(f"log {log} does not follow", file=path,
                               expected=expected, found=log.first)
        if log.count is None and log is not manifest.logs[-1]:
            raise CorruptError(f"log {log} has no count but is not the last", file=path)
        expected = max(expected, log.first + (log.count or 0))


# -- files -----------------------------------------------------------------------------------


def read(store: str, known: bytes | None = None) -> tuple[Manifest | None, bytes]:
    """The store's manifest and its bytes; None when the bytes are the ``known`` ones.

    FileNotFoundError where there is none.
    """
    path = os.path.join(store, names.MANIFEST)
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _BYTES_MAX:
            raise CorruptError("this file is too large for a manifest", file=path,
                               expected=f"at most {_BYTES_MAX} bytes", found=size)
        data = file.read()
    if data == known:
        return None, data
    try:
        return parse(data, path), data
    except CorruptError as error:
        error.add_note(f"{names.MANIFEST_PREVIOUS} beside it holds the state before the last "
                       "commit; copy it over by hand only if no truncate came since")
        raise


def commit(store: str, manifest: Manifest, fs: FileSystem) -> bytes:
    """Replace the store's manifest atomically; returns its bytes.

    When this raises a plain OSError nothing has changed and no temporary file is left.
    Raises CommitUnknownError when the new one is in place but may not be durable.
    """
    data = render(manifest)
    temporary = os.path.join(store, names.MANIFEST_TEMPORARY)
    try:
        _write_new(temporary, data, fs)
        _keep_previous(store, fs)
        fs.replace(temporary, os.path.join(store, names.MANIFEST))
    except BaseException:
        with contextlib.suppress(OSError):
            fs.unlink(temporary)
        raise
    try:
        fs.fsync_dir(store)
    except OSError as error:
        raise CommitUnknownError(error) from error
    return data


class CommitUnknownError(OSError):
    """The folder's fsync failed after the rename: no one can tell which manifest a crash keeps."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.errno, cause.strerror, cause.filename)


def _write_new(path: str, data: bytes, fs: FileSystem) -> None:
    fs.unlink(path)
    fd = fs.create(path)
    try:
        with naming(path):
            fs.write(fd, data)
            fs.fsync(fd)
    finally:
        fs.close(fd)


def _keep_previous(store: str, fs: FileSystem) -> None:
    """Give the present manifest a second name; where links do not work, none is kept."""
    previous = os.path.join(store, names.MANIFEST_PREVIOUS)
    fs.unlink(previous)
    try:
        fs.link(os.path.join(store, names.MANIFEST), previous)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
