"""Stores that one would pick instead: LMDB, RocksDB and SQLite, with a zstd value per block."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import zstandard

LEVEL = 3
BATCH = 256     # blocks a transaction or write batch
MAP_BYTES = 16 << 30


class Peer(Protocol):
    """A store of blocks by number, one zstd frame each."""

    name: str

    def load(self, blocks: Sequence[bytes]) -> None:
        """Compress and store the blocks as numbers 0, 1, ...; durable when it returns."""

    def get(self, number: int) -> bytes: ...

    def scan(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


def available(package: str) -> bool:
    """Whether the package of the extra ``peers`` is installed."""
    return find_spec(package) is not None


def key_of(number: int) -> bytes:
    return number.to_bytes(8, "big")


class LmdbStore:
    """LMDB: values are inflated straight from its map."""

    name = "LMDB"

    def __init__(self, path: Path) -> None:
        import lmdb

        path.mkdir()
        self._env: Any = lmdb.open(str(path), map_size=MAP_BYTES, sync=False, readahead=False)
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress
        self._inflate = zstandard.ZstdDecompressor().decompress

    def load(self, blocks: Sequence[bytes]) -> None:
        for start in range(0, len(blocks), BATCH):
            with self._env.begin(write=True) as transaction:
                for number, block in enumerate(blocks[start:start + BATCH], start):
                    transaction.put(key_of(number), self._compress(block), append=True)
        self._env.sync(True)

    def get(self, number: int) -> bytes:
        with self._env.begin(buffers=True) as transaction:
            return self._inflate(transaction.get(key_of(number)))

    def scan(self) -> Iterator[bytes]:
        with self._env.begin(buffers=True) as transaction:
            for _, value in transaction.cursor():
                yield self._inflate(value)

    def close(self) -> None:
        self._env.close()


class RocksStore:
    """RocksDB by rocksdict, its own compression off: values are compressed already."""

    name = "rocksdict"

    def __init__(self, path: Path) -> None:
        from rocksdict import DBCompressionType, Options, Rdict

        options = Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_compression_type(DBCompressionType.none())
        self._db: Any = Rdict(str(path), options)
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress
        self._inflate = zstandard.ZstdDecompressor().decompress

    def load(self, blocks: Sequence[bytes]) -> None:
        from rocksdict import WriteBatch

        for start in range(0, len(blocks), BATCH):
            batch = WriteBatch(raw_mode=True)
            for number, block in enumerate(blocks[start:start + BATCH], start):
                batch.put(key_of(number), self._compress(block))
            self._db.write(batch)
        self._db.flush(True)

    def get(self, number: int) -> bytes:
        return self._inflate(self._db[key_of(number)])

    def scan(self) -> Iterator[bytes]:
        return map(self._inflate, self._db.values())

    def close(self) -> None:
        self._db.close()


class SqliteStore:
    """SQLite: one table, integer keys, blobs."""

    name = "SQLite"

    def __init__(self, path: Path) -> None:
        path.mkdir()
        self._db = sqlite3.connect(path / "blocks.sqlite", check_same_thread=False)
        self._db.execute("CREATE TABLE blocks (number INTEGER PRIMARY KEY, zstd BLOB)")
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress
        self._inflate = zstandard.ZstdDecompressor().decompress

    def load(self, blocks: Sequence[bytes]) -> None:
        with self._db:
            self._db.executemany("INSERT INTO blocks VALUES (?, ?)", (
                (number, self._compress(block)) for number, block in enumerate(blocks)))

    def get(self, number: int) -> bytes:
        row = self._db.execute("SELECT zstd FROM blocks WHERE number = ?", (number,)).fetchone()
        return self._inflate(row[0])

    def scan(self) -> Iterator[bytes]:
        for (value,) in self._db.execute("SELECT zstd FROM blocks ORDER BY number"):
            yield self._inflate(value)

    def close(self) -> None:
        self._db.close()


def installed() -> list[type[LmdbStore] | type[RocksStore] | type[SqliteStore]]:
    """The peers that can run here."""
    found: list[type[LmdbStore] | type[RocksStore] | type[SqliteStore]] = []
    if available("lmdb"):
        found.append(LmdbStore)
    if available("rocksdict"):
        found.append(RocksStore)
    return [*found, SqliteStore]
