"""Locks between processes of one machine. On Windows and on file systems without locks they have no effect."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock a folder, so that only one block at a time runs `exclusive` on it, in any process.

    Raises
    ------
    OSError : if the folder cannot be read
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def lock(descriptor: int) -> None:
    """Wait for an open file's lock and take it. Closing the file, or the end of the process, releases it."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def lock_or_fail(descriptor: int) -> None:
    """Take an open file's lock without waiting; raise OSError if another process holds it."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
