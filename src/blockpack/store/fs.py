"""Every change that a store makes to the disk goes through the one class here.

So tests can count the calls and make any of them fail, and one can see at a glance what a store
ever does to its folder. Reading is not here: it changes nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Final

Buffer = bytes | bytearray | memoryview

# pwritev takes at most 1,024 buffers a call on Linux (IOV_MAX). 16 is POSIX's floor, for systems
# that do not say, which some do by -1.
_PARTS_MAX: Final = max(16, os.sysconf("SC_IOV_MAX") if "SC_IOV_MAX" in os.sysconf_names else 0)


class FileSystem:
    """The calls that change files. Each raises OSError and then has done nothing or a part.

    Stateless: one instance may serve any number of stores and threads.
    """

    def create(self, path: str) -> int:
        """Create a file that must not exist; the descriptor reads and writes."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def open_existing(self, path: str) -> int:
        """Open a file for reading and writing, creating nothing."""
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open_lock(self, path: str) -> int:
        """Open the lock file, creating it when it is not there."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def write(self, fd: int, data: Buffer) -> None:
        """Write all of ``data`` at the file position."""
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[os.write(fd, rest):]

    def write_parts(self, fd: int, parts: Sequence[Buffer]) -> None:
        """Write all parts, one after the other, at the file position."""
        for start in range(0, len(parts), _PARTS_MAX):
            some = parts[start:start + _PARTS_MAX]
            size = sum(map(len, some))
            done = os.writev(fd, some)
            if done < size:  # a signal, a nearly full disk, or over 2 GiB at once
                self.write(fd, memoryview(b"".join(some))[done:])

    def pwrite(self, fd: int, data: Buffer, offset: int) -> None:
        """Write all of ``data`` at ``offset``; the file position does not matter."""
        rest = memoryview(data).cast("B")
        while rest:
            done = os.pwrite(fd, rest, offset)
            rest, offset = rest[done:], offset + done

    def pwrite_parts(self, fd: int, parts: Sequence[Buffer], offset: int) -> None:
        """Write all parts, one after the other, from ``offset`` on."""
        for start in range(0, len(parts), _PARTS_MAX):
            some = parts[start:start + _PARTS_MAX]
            size = sum(map(len, some))
            done = os.pwritev(fd, some, offset)
            if done < size:
                self.pwrite(fd, memoryview(b"".join(some))[done:], offset + done)
            offset += size

    def fsync(self, fd: int) -> None:
        """Make the file's bytes and size durable."""
        os.fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to ``size`` bytes, or lengthen it with zeros."""
        os.ftruncate(fd, size)

    def close(self, fd: int) -> None:
        """Close a descriptor; what was written is not made durable by that."""
        os.close(fd)

    def replace(self, source: str, target: str) -> None:
        """Rename over ``target`` atomically."""
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Give a file a second name; raises OSError where the file system cannot."""
        os.link(source, target)

    def unlink(self, path: str) -> None:
        """Remove a file; one that is not there is fine."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def mkdir(self, path: str) -> None:
        """Make a folder; one that is there already is fine."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)

    def fsync_dir(self, path: str) -> None:
        """Make the names in a folder durable."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


SYSTEM: Final = FileSystem()
