"""Open files that may be compressed with gzip, bzip2 or Zstandard.

lm-eval writes no compressed files, but archives of logs often contain them. The reading functions of fsspec are not
used, because it is not installed with harness_uq, and because it needs a package for Zstandard as well.
"""

import bz2
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from harness_uq.plugin_api import LogError, check_expansion
from harness_uq.plugin_api import paths as io_paths

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_ALWAYS_READ: Final = 64 << 20
_BUFFER_SIZE: Final = 1 << 17

_READERS: dict[str, Callable[[BinaryIO], object]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".zst": zstd.ZstdFile,
}


def without_compression(name: str) -> str:
    """The name of a file without the suffix of its compression.

    >>> without_compression("samples.jsonl.gz"), without_compression("samples.jsonl")
    ('samples.jsonl', 'samples.jsonl')
    """
    return next((name.removesuffix(suffix) for suffix in _READERS if name.endswith(suffix)), name)


class _LimitedReader(io.RawIOBase):
    """Decompressed content, of which no more is read than compressed content of `n_bytes` may expand to."""

    def __init__(self, content: BinaryIO, n_bytes: int) -> None:
        super().__init__()
        self._content, self._n_bytes = content, n_bytes

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._content.seek(offset, whence)

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read up to the length of the buffer. Raises LogError if the content expands too much."""
        content = self._content.read(len(memoryview(buffer)))
        memoryview(buffer)[: len(content)] = content
        check_expansion("The compressed file", self._n_bytes, self._content.tell(), _ALWAYS_READ)
        return len(content)


@contextmanager
def open_decompressed(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading and seeking; its content is decompressed as it is read. Raises OSError if the file cannot
    be opened, and LogError if the compressed content is damaged or truncated, or expands too much.
    """
    suffix = next((suffix for suffix in _READERS if io_paths.name_of(path).endswith(suffix)), None)
    with io_paths.open_binary(path) as file:
        if suffix is None:
            yield file
            return
        try:
            with cast("BinaryIO", _READERS[suffix](file)) as decompressed:
                n_bytes = file.seek(0, os.SEEK_END)
                file.seek(0)
                yield cast("BinaryIO", io.BufferedReader(_LimitedReader(decompressed, n_bytes), _BUFFER_SIZE))
        except (EOFError, zlib.error, zstd.ZstdError) as error:
            raise LogError(f"The compressed file is damaged: {error}") from None
        except OSError as error:
            if (
                error.errno is not None
            ):  # an error of the disk; the modules raise errors of the content without a number
                raise
            raise LogError(f"The compressed file is damaged: {error}") from None
