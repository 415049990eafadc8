"""The writer's lock: flock on the file ``lock``; readers take none.

flock belongs to the open file description, which a forked child shares. A child therefore only
closes its copy and never unlocks; the writer unlocks by closing, so that a child's copy (closed
by RecordStore's fork hook) could at worst hold the lock longer, never drop it.
"""

from __future__ import annotations

import errno
import fcntl

from blockpack.errors import LockedError
from blockpack.store.fs import FileSystem

_HELD = (errno.EAGAIN, errno.EACCES)


class WriterLock:
    """Holds the lock from construction to close(). LockedError when another writer has it."""

    def __init__(self, path: str, fs: FileSystem) -> None:
        self._fs = fs
        self._fd = -1
        self._fd = fs.open_lock(path)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            if error.errno in _HELD:
                raise LockedError(f"{path}: another writer has this store open; "
                                  "close it, or open the store for reading") from None
            raise OSError(error.errno, f"this file system cannot lock ({error.strerror}); "
                          "write the store on one that can, reading needs no lock", path) from None

    def close(self) -> None:
        """Let go; the lock goes with the last copy of the descriptor."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            self._fs.close(fd)

    def __del__(self) -> None:
        self.close()  # a writer that was dropped without close() must not keep the store locked
