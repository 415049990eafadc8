"""Every error that blockpack raises on purpose. This module imports nothing of the package."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class BlockpackError(Exception):
    """Base of all errors below."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take keyword fields; the default reduction would call them with args alone.
        return _rebuild, (type(self), self.args, self.__dict__.copy())


def _rebuild(cls: type[BlockpackError], args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class NotYetError(BlockpackError, LookupError):
    """The number is past the head."""


class PrunedError(BlockpackError, LookupError):
    """The number was in the store and has been pruned."""


class MissingError(BlockpackError, LookupError):
    """The store has no such record: before its first block, or not covered by this table."""


class SequenceError(BlockpackError):
    """A block does not follow the head: ``have`` is its number, ``want`` the one that would."""

    def __init__(self, message: str, *, have: int | None = None, want: int | None = None) -> None:
        super().__init__(message)
        self.have = have
        self.want = want


class ForkError(BlockpackError):
    """A block contradicts the one that the store holds.

    ``have`` is the store's hash and ``got`` the other one, both 32 bytes; for a block that does
    not link to the head they are the head's hash and the block's parent hash.
    """

    def __init__(self, message: str, *, number: int | None = None, have: bytes | None = None,
                 got: bytes | None = None) -> None:
        super().__init__(message)
        self.number = number
        self.have = have
        self.got = got


class ChainMismatchError(BlockpackError):
    """A block belongs to another chain: ``have`` and ``got`` are chain ids."""

    def __init__(self, message: str, *, have: int | None = None, got: int | None = None) -> None:
        super().__init__(message)
        self.have = have
        self.got = got


class KnobError(BlockpackError, ValueError):
    """A knob has a value that it cannot take, or one that is locked to another value."""


class LimitError(BlockpackError, ValueError):
    """A size is above a documented limit."""


class LockedError(BlockpackError):
    """Another writer has the store."""


class ClosedError(BlockpackError):
    """The store was closed, belongs to the parent process, or stopped after a failed fsync."""


class UnsupportedVersionError(BlockpackError):
    """The file was written by a format version, or needs a feature, that this reader lacks."""


class CorruptError(BlockpackError):
    """Bytes are not what they must be.

    ``file`` and ``offset`` say where (``offset`` in bytes from the start of the file, or of the
    decompressed stream for compressed input), ``expected`` and ``found`` what was compared.
    """

    def __init__(self, message: str, *, file: str | None = None, offset: int | None = None,
                 expected: Any = None, found: Any = None) -> None:
        super().__init__(message)
        self.file = file
        self.offset = offset
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        text = str(self.args[0]) if self.args else ""
        if self.expected is not None or self.found is not None:
            text += f" (expected {self.expected}, found {self.found})"
        if self.file is None:
            return text if self.offset is None else f"{text}, at byte {self.offset}"
        where = self.file if self.offset is None else f"{self.file} at byte {self.offset}"
        return f"{where}: {text}"


class naming:
    """Give the file's name to an OSError of a call that had no more than a descriptor."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = self._path
