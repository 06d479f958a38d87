"""Bytes of log files: local files are mapped into memory, remote files are fetched as a whole or in ranges."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from typing import BinaryIO, Protocol

from harness_uq.plugin_api import FILE_EMPTY, LogError
from harness_uq.plugin_api import paths as io_paths


class Slices(Protocol):
    """Content that can be sliced like bytes."""

    def __getitem__(self, span: slice, /) -> bytes: ...


def content_of(path: str) -> AbstractContextManager[mmap | bytes]:
    """The whole file; local files are mapped into memory, because logs may have hundreds of megabytes. Raises LogError
    if the file is empty, cannot be opened or is not a regular file (opening a pipe could block).
    """
    with io_paths.reading():
        if io_paths.is_remote(path):
            content = io_paths.read_bytes(path)
        else:
            with io_paths.open_binary(path) as file:
                return _map_file(file)
    if not content:
        raise LogError(FILE_EMPTY())
    return nullcontext(content)


class OpenLog:
    """A file of which parts can be read.

    `file`: file object with a position. `slices`: the same content, sliced like bytes. Raises LogError under the
    conditions of `content_of`.
    """

    def __init__(self, path: str) -> None:
        with io_paths.reading():
            self.file = io_paths.open_binary(path)
        try:
            self.slices: Slices = _FileSlices(self.file) if io_paths.is_remote(path) else _map_file(self.file)
        except LogError:
            self.file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        if isinstance(self.slices, mmap):
            self.slices.close()
        self.file.close()


@dataclass(frozen=True, slots=True)
class _FileSlices:
    file: BinaryIO

    def __getitem__(self, span: slice) -> bytes:
        start, stop = span.start or 0, span.stop
        self.file.seek(start)
        return self.file.read(stop - start)


def _map_file(file: BinaryIO) -> mmap:
    try:
        return mmap(file.fileno(), 0, access=ACCESS_READ)
    except ValueError as error:
        raise LogError(FILE_EMPTY()) from error
