"""The writer's lock: flock on the file ``lock``; readers take none.

flock belongs to the open file description, which a forked child shares: whoever unlocks it unlocks
it for all. So the process that took the lock unlocks it when it closes, whatever copies its
children still have, and a child only closes its copy.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os

from blockpack.errors import LockedError
from blockpack.store.fs import FileSystem

_HELD = (errno.EAGAIN, errno.EACCES)


class WriterLock:
    """Holds the lock from construction to close(). LockedError when another writer has it."""

    def __init__(self, path: str, fs: FileSystem) -> None:
        self._fs = fs
        self._owner = -1
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
        self._owner = os.getpid()

    def close(self) -> None:
        """Let go; in a forked child, only of the child's copy."""
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        if self._owner == os.getpid():
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
        self._fs.close(fd)

    def __del__(self) -> None:
        self.close()  # a writer that was dropped without close() must not keep the store locked
