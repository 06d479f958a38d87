"""Bytes of log files: of this machine they are mapped into memory, of a store a file is fetched whole or by ranges."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from mmap import ACCESS_READ, mmap
from typing import BinaryIO, Protocol

from harness_uq import LogError
from harness_uq.logs import places


class Slices(Protocol):
    """What can be cut like bytes."""

    def __getitem__(self, where: slice, /) -> bytes: ...


@contextmanager
def reading() -> Iterator[None]:
    """What the system or a store refuses within is a log that cannot be read.

    Raises
    ------
    LogError : instead of OSError
    """
    try:
        yield
    except OSError as error:
        raise LogError(f"cannot be read: {error.strerror or error}") from error


def content_of(path: str) -> AbstractContextManager[mmap | bytes]:
    """The whole file, mapped rather than read where that can be, since logs reach hundreds of megabytes.

    Raises
    ------
    LogError : if the file is empty, cannot be opened or is no regular file, whose opening might never end
    """
    with reading():
        if places.is_remote(path):
            content = places.read_bytes(path)
        else:
            with places.open_binary(path) as file:
                return _mapped(file)
    if not content:
        raise LogError("the file is empty")
    return nullcontext(content)


class Opened:
    """A file to read parts of.

    Attributes
    ----------
    file : to read from where it stands
    slices : the same to cut out of

    Raises
    ------
    LogError : as `content_of`
    """

    def __init__(self, path: str) -> None:
        with reading():
            self.file = places.open_binary(path)
        try:
            self.slices: Slices = _Ranges(self.file) if places.is_remote(path) else _mapped(self.file)
        except LogError:
            self.file.close()
            raise

    def close(self) -> None:
        """Close both."""
        if isinstance(self.slices, mmap):
            self.slices.close()
        self.file.close()


class _Ranges:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __getitem__(self, where: slice) -> bytes:
        start, stop = where.start or 0, where.stop
        self._file.seek(start)
        return self._file.read(stop - start)


def _mapped(file: BinaryIO) -> mmap:
    try:
        return mmap(file.fileno(), 0, access=ACCESS_READ)
    except ValueError as error:
        raise LogError("the file is empty") from error
