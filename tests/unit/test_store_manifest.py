"""The manifest: exact text, checks, and a replacement that is whole or not at all."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
import xxhash
from storekit import FaultyFileSystem, files_of

from blockpack.errors import CorruptError, UnsupportedVersionError
from blockpack.store import manifest as manifests
from blockpack.store.fs import SYSTEM
from blockpack.store.knobs import Knobs
from blockpack.store.manifest import LogRow, Manifest, SegmentRow, Segments, TableFile
from blockpack.store.records import RecordStore

ROWS = (
    SegmentRow(10, 8, 8, 1, (TableFile(1, 500, 8, 2**64 - 1), TableFile(2, 900, 8, 7))),
    SegmentRow(18, 6, 3, 2, (TableFile(1, 400, 6, 1),)),
)
SEGMENTS = Segments([]).plus(ROWS[0]).plus(ROWS[1])
FULL = Manifest("ab" * 16, Knobs(), 5, 9, 10, 1, 12, SEGMENTS,
                (LogRow(21, 3, 4), LogRow(25, 4, None)))


def sealed_text(value: object) -> bytes:
    text = json.dumps(value).encode()
    return (b'{"checksum":"' + xxhash.xxh3_64_hexdigest(text).encode() + b'","manifest":' + text
            + b"}\n")


def test_what_is_rendered_is_read_back() -> None:
    assert manifests.parse(manifests.render(FULL), "m") == FULL
    assert tuple(FULL.segments) == ROWS
    assert FULL.sealed_end == 21
    json.loads(manifests.render(FULL))  # plain JSON for whoever looks at it


def test_every_flipped_byte_is_noticed() -> None:
    data = bytearray(manifests.render(FULL))
    for at in range(len(data) - 1):
        data[at] ^= 0x20
        with pytest.raises(CorruptError):
            manifests.parse(bytes(data), "m")
        data[at] ^= 0x20


def test_every_cut_is_noticed() -> None:
    data = manifests.render(FULL)
    for size in range(len(data)):
        with pytest.raises(CorruptError):
            manifests.parse(data[:size], "m")


def test_another_version_is_named() -> None:
    with pytest.raises(UnsupportedVersionError, match="store format 7"):
        manifests.parse(sealed_text({"format": 7}), "m")


@pytest.mark.parametrize("changes", [
    {"first": 11},
    {"segments": [[10, 8, 9, 1]]},
    {"segments": [[10, 8, 0, 1]]},
    {"segments": [[10, 8, 8, 1, 1, 5]]},
    {"segments": [[10, 8, 8, "../x"]]},
    {"logs": [[30, 1, None]]},
    {"logs": [[21, 1, None], [21, 2, 3]]},
    {"logs": [["21", 1, None]]},
    {"logs": [[21, "../../x", None]]},
    {"logs": [[21, 1]]},
    {"segments": [[10, 8, 8, 1], [18, 6, 3, 1]]},
    {"store": "ab" * 15 + "zz"},
    {"store": 7},
    {"chain": 1},
])
def test_rows_that_do_not_follow_are_refused(changes: dict[str, object]) -> None:
    value = json.loads(manifests.render(FULL))["manifest"] | changes
    with pytest.raises(CorruptError):
        manifests.parse(sealed_text(value), "m")


@pytest.mark.parametrize("file", [
    [1, "500", 8, "0" * 16], [1, 500, None, "0" * 16], [1, 500, 8, 7], [1, 500, 8, "../../x"]])
def test_a_file_that_is_not_as_specified_is_refused_when_its_row_is_made(file: list[object]
                                                                         ) -> None:
    segments = Segments([[10, 8, 8, 1, *file]])
    with pytest.raises(CorruptError, match="not as specified"):
        print(segments[0])


def test_a_table_of_a_later_version_is_named() -> None:
    value = json.loads(manifests.render(FULL))["manifest"]
    value["segments"][0][4] = 99
    with pytest.raises(UnsupportedVersionError, match="a table that this version does not know"):
        manifests.parse(sealed_text(value), "m")


def test_cutting_segments() -> None:
    assert [tuple(row[:3]) for row in SEGMENTS.cut(19)] == [(10, 8, 8), (18, 6, 2)]
    assert [tuple(row[:3]) for row in SEGMENTS.cut(99)] == [(10, 8, 8), (18, 6, 3)]
    assert [tuple(row[:3]) for row in SEGMENTS.cut(12)] == [(10, 8, 3)]
    assert len(SEGMENTS.cut(9)) == 0
    assert SEGMENTS[-1] == ROWS[1]  # cutting makes new rows


def test_commit_keeps_the_previous_one(tmp_path: Path) -> None:
    manifests.commit(str(tmp_path), FULL, SYSTEM)
    newer = FULL.next(first=10)
    manifests.commit(str(tmp_path), newer, SYSTEM)
    assert manifests.read(str(tmp_path))[0] == newer
    previous = (tmp_path / "manifest.previous.json").read_bytes()
    assert manifests.parse(previous, "m") == FULL
    assert files_of(tmp_path) == {"manifest.json", "manifest.previous.json"}


def test_a_commit_that_fails_anywhere_leaves_the_old_one_and_no_other_file(tmp_path: Path) -> None:
    manifests.commit(str(tmp_path), FULL, SYSTEM)
    newer = replace(FULL, generation=6)
    failures = []
    for at in range(20):
        fs = FaultyFileSystem((*FaultyFileSystem.SPACE, "fsync"))
        fs.failing = {at}
        try:
            manifests.commit(str(tmp_path), newer, fs)
        except OSError as error:
            failures.append((fs.log[-1], error.errno))
            assert manifests.read(str(tmp_path))[0] == FULL
            assert files_of(tmp_path) <= {"manifest.json", "manifest.previous.json"}
    assert failures == [(kind, errno.ENOSPC) for kind in
                        ("create", "write", "fsync", "link", "replace")]
    assert manifests.read(str(tmp_path))[0] == newer


def test_a_failed_sync_of_the_folder_leaves_the_outcome_open(tmp_path: Path) -> None:
    fs = FaultyFileSystem(("fsync_dir",), errno.EIO)
    fs.failing = {0}
    with pytest.raises(manifests.CommitUnknownError):
        manifests.commit(str(tmp_path), FULL, fs)
    assert manifests.read(str(tmp_path))[0] == FULL


def test_file_systems_without_links_keep_no_previous_one(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifests.commit(str(tmp_path), FULL, SYSTEM)
    fs = FaultyFileSystem(("link",), errno.EPERM)
    fs.failing = {0}
    manifests.commit(str(tmp_path), FULL.next(), fs)
    assert files_of(tmp_path) == {"manifest.json"}


@pytest.mark.parametrize("mode", ["r", "a"])
def test_an_empty_manifest_is_corrupt_like_any_other(tmp_path: Path, mode: str) -> None:
    RecordStore.create(tmp_path / "store").close()
    (tmp_path / "store" / "manifest.json").write_bytes(b"")
    with pytest.raises(CorruptError, match="not a manifest"):
        RecordStore.open(tmp_path / "store", mode)
