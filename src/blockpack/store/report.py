"""What a store holds, as figures: coverage, digests, and sizes that add up to the byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from blockpack.segment.digest import Digest
from blockpack.store import manifest as manifests
from blockpack.store import names, tables
from blockpack.store.manifest import SegmentRow, TableFile
from blockpack.store.openlog import LogFile
from blockpack.store.packing import segment_digest
from blockpack.store.state import State

if TYPE_CHECKING:
    import numpy as np  # see logindex

Intervals = list[tuple[int, int]]


def coverage(state: State, table: int, partial: dict[tuple[int, int], Intervals]) -> Intervals:
    """Merged intervals (first, last) of present records. ``partial`` keeps what had to be found
    by looking into segments that have the table only in part."""
    merged: Intervals = []
    for first, last in _pieces(state, table, partial):
        if merged and merged[-1][1] + 1 == first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def _pieces(state: State, table: int,
            partial: dict[tuple[int, int], Intervals]) -> Iterator[tuple[int, int]]:
    for row in state.manifest.segments:
        end = row.first + row.visible
        present = _file(row, table).present
        if present == row.count:
            yield row.first, end - 1
        elif present:
            key = (row.generation, table)
            if key not in partial:
                partial[key] = _look_into(state, row, table)
            yield from ((a, min(b, end - 1)) for a, b in partial[key] if a < end)
    for log, low, high in state.log_parts(state.sealed_end, state.end or 0):
        yield from _runs(low, _present(log, table, low, high))


def _file(row: SegmentRow, table: int) -> TableFile:
    return next((f for f in row.files if f.table == table), TableFile(table, 0, 0, 0))


def _look_into(state: State, row: SegmentRow, table: int) -> Intervals:
    reader = state.reader(row, table)
    if reader is None:
        return []
    present = [group.span(i) is not None
               for _, group, low, high in reader.groups(row.first, row.first + row.count)
               for i in range(low, high)]
    return _runs(row.first, present)


def _present(log: LogFile, table: int, low: int, high: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    rows = log.rows.array(low - log.first, high - log.first)
    return rows["offset"][:, table - 1] > 0


def _runs(first: int, present: np.ndarray[Any, np.dtype[np.bool_]] | list[bool]) -> Intervals:
    """Intervals of consecutive true values, numbered from ``first``."""
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate(([0], np.asarray(present, np.int8), [0]))))
    return [(first + int(a), first + int(b) - 1) for a, b in edges.reshape(-1, 2)]


def digest(state: State, table: int) -> Digest:
    """The table's digest: from the footers of whole segments, by decoding of everything else."""
    total = Digest()
    for row in state.manifest.segments:
        reader = state.reader(row, table)
        if reader is None:
            continue
        whole = row.visible == row.count
        total.merge(reader.digest if whole
                    else segment_digest(reader, row.first, row.first + row.visible))
    for log, low, high in state.log_parts(state.sealed_end, state.end or 0):
        for number in range(low, high):
            record = log.record(table, number)
            if record is not None:
                total.add(number, record)
    return total


def info(path: str, state: State) -> dict[str, Any]:
    """See RecordStore.info."""
    sizes = _file_sizes(path)
    manifest = state.manifest
    segments = [_segment(path, state, row, sizes) for row in manifest.segments]
    logs = [_log(view.log, view.end, sizes) for view in state.logs]
    named = manifest.paths(path)
    end = state.end
    return {
        "path": path,
        "format": manifests.VERSION,
        "store_id": manifest.store_id,
        "generation": manifest.generation,
        "knobs": manifest.knobs.to_dict(),
        "chain_id": manifest.chain_id,
        "first": manifest.first,
        "head": None if end is None or end == manifest.first else end - 1,
        "blocks": 0 if end is None else end - state.first,
        "tables": {name: _table(table, segments) for table, name in tables.NAMES.items()},
        "segments": segments,
        "logs": logs,
        "sealed_bytes": sum(file["file_bytes"] for s in segments for file in s["files"]),
        "open_bytes": sum(log["log_bytes"] + log["index_bytes"] for log in logs),
        "other_bytes": sum(size for file, size in sizes.items() if file not in named),
        "total_bytes": sum(sizes.values()),
    }


def _file_sizes(path: str) -> dict[str, int]:
    """The size of every file in the store's folder."""
    sizes = {}
    for folder in (path, os.path.join(path, names.OPEN), os.path.join(path, names.SEALED)):
        if not os.path.isdir(folder):
            continue
        for entry in os.scandir(folder):
            try:
                if entry.is_file():
                    sizes[entry.path] = entry.stat().st_size
            except FileNotFoundError:
                continue  # the writer removed it meanwhile
    return sizes


def _segment(path: str, state: State, row: SegmentRow, sizes: dict[str, int]) -> dict[str, Any]:
    files = []
    for file in row.files:
        name = manifests.segment_path(path, row, file.table)
        files.append({"table": tables.NAMES[file.table], "file": os.path.relpath(name, path),
                      "file_bytes": sizes.get(name, 0), "records": file.present,
                      **_contents(state, row, file.table)})
    return {"first": row.first, "last": row.first + row.visible - 1,
            "hidden": row.count - row.visible, "files": files}


def _contents(state: State, row: SegmentRow, table: int) -> dict[str, Any]:
    """What the file says of itself; its fault, when it cannot be opened."""
    try:
        reader = state.reader(row, table)
    except Exception as error:  # whatever is wrong with one file must not hide the others
        return {"fault": str(error)}
    if reader is None:
        return {}
    return {"decoded_bytes": reader.decoded_bytes, "codec": reader.codec, "tier": reader.tier,
            "group_size": reader.grouping.group_size, "grouping": str(reader.grouping),
            "frames": reader.frame_count}


def _table(table: int, segments: list[dict[str, Any]]) -> dict[str, int]:
    files = [f for s in segments for f in s["files"] if f["table"] == tables.NAMES[table]]
    return {"segments": len(files), "records": sum(f["records"] for f in files),
            "file_bytes": sum(f["file_bytes"] for f in files),
            "decoded_bytes": sum(f.get("decoded_bytes", 0) for f in files)}


def _log(log: LogFile, end: int, sizes: dict[str, int]) -> dict[str, Any]:
    return {"first": log.first, "count": end - log.first,
            "file": os.path.join(names.OPEN, os.path.basename(log.path)),
            "log_bytes": sizes.get(log.path, 0),
            "index_bytes": sizes.get(names.sidecar(log.path), 0),
            "decoded_bytes": log.rows.decoded_total(0, end - log.first)}
