"""Read the members of `.eval` files, which are zip archives.

`zipfile` reads only the directory of the archive. Members are decompressed here, because `zipfile` does not support
Zstandard before Python 3.14, and because opening 8,000 small members with it takes longer than decoding them. The sizes
in the directory are not trusted: no member is expanded beyond its stated size, nor if that size, or the sum over the
members to be read, is implausible.
"""

import os
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from types import TracebackType
from typing import Final, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from harness_uq.plugin_api import LogError, check_expansion, max_expanded_size
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.read.file_bytes import OpenLog, Slices

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZIP_ZSTANDARD: Final = 93
_LOCAL_HEADER: Final = 30
_MAGIC: Final = b"PK\x03\x04"
_ENCRYPTED: Final = 0x1
_ALWAYS_READ: Final = 64 << 20  # bytes of one member

_BATCH: Final = 16 << 20
_PIECE: Final = 4 << 20
_SLICE: Final = 256 << 10

Pieces = Callable[[bytes], Iterator[bytes]]


class Archive:
    """An open `.eval` file.

    `path`: file to open. `repeated`: names that the archive lists more than once; the last entry counts. `misplaced`:
    names that are paths outside the archive; they are not read. Raises LogError if the file is not a complete zip
    archive.
    """

    def __init__(self, path: str) -> None:
        self._opened = OpenLog(path)
        self._content = self._opened.slices
        try:
            self._zip = ZipFile(self._opened.file)
        except (BadZipFile, NotImplementedError, ValueError, OSError, OverflowError, struct.error) as error:
            try:
                raise LogError(_why_no_zip(self._content, error)) from error
            finally:
                self._opened.close()
        counts = Counter(info.filename for info in self._zip.filelist)
        self.repeated = [name for name, n in counts.items() if n > 1]
        self.misplaced = [name for name in counts if _is_outside(name)]
        self._members = {name: self._zip.NameToInfo[name] for name in counts if not _is_outside(name)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._opened.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self, folder: str = "") -> list[str]:
        """Names of the JSON members under `folder`, in the order of the archive."""
        return [name for name in self._members if name.startswith(folder) and name.endswith(".json")]

    def read(self, name: str) -> bytes | bytearray:
        """Content of one member. Raises LogError if the member is damaged or encrypted, or its size is implausible, and
        OSError if the remote store fails.
        """
        info = self._members[name]
        pieces = _decompressor(info.compress_type)
        if info.flag_bits & _ENCRYPTED:
            raise LogError(f"{name} is encrypted")
        check_expansion(name, info.compress_size, info.file_size, _ALWAYS_READ)
        try:
            content = _join_pieces(pieces(self._compressed(info)), info.file_size)
        except (ValueError, zlib.error, zstd.ZstdError) as error:
            raise LogError(f"{name} is damaged ({error})") from error
        if zlib.crc32(content) != info.CRC:
            raise LogError(f"{name} is damaged (its checksum differs)")
        return content

    def fetched(self, names: Iterable[str]) -> Iterator[str]:
        """The names; if the archive is on a remote store, their members are fetched in batches before. Raises LogError
        if the members expand to an implausible size in total.
        """
        names = list(names)
        self.check_total(names)
        batch, n_bytes = list[str](), 0
        for name in names:
            batch.append(name)
            n_bytes += self._members[name].compress_size
            if n_bytes > _BATCH:
                yield from self._fetch(batch)
                batch, n_bytes = [], 0
        yield from self._fetch(batch)

    def check_total(self, names: Iterable[str]) -> None:
        """Make sure that the members that are not too large themselves do not expand too much in total. Raises LogError
        if they do.
        """
        infos = [self._members[name] for name in names]
        sizes = [
            info.file_size for info in infos if info.file_size <= max_expanded_size(info.compress_size, _ALWAYS_READ)
        ]
        check_expansion("The log", self._opened.file.seek(0, os.SEEK_END), sum(sizes))

    def _fetch(self, names: Sequence[str]) -> Sequence[str]:
        """Fetch the members with these names, and return the names."""
        spans = []
        for info in (self._members[name] for name in names):
            # the end, if the member's own header is not longer than its entry in the directory
            header_size = _LOCAL_HEADER + len(info.filename.encode()) + len(info.extra)
            spans.append((info.header_offset, info.header_offset + header_size + info.compress_size))
        io_paths.prefetch(self._opened.file, spans)
        return names

    def _compressed(self, info: ZipInfo) -> bytes:
        start = info.header_offset
        header = self._content[start : start + _LOCAL_HEADER]
        if header[:4] != _MAGIC:
            raise ValueError("no member starts where the directory says")
        name_length, extra_length = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        start += _LOCAL_HEADER + name_length + extra_length
        return self._content[start : start + info.compress_size]


def _why_no_zip(content: Slices, error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:  # a remote store names the file, a bad offset does not
        return f"cannot be read: {error.strerror}"
    if content[: len(_MAGIC)] == _MAGIC:
        return "the zip file is incomplete: the directory at the end of the file is missing or damaged"
    return f"an .eval file is a zip file, but this file is not ({error})"


def _is_outside(name: str) -> bool:
    """Whether a name is a path outside the archive: absolute, on a drive, or with a parent folder."""
    windows = PureWindowsPath(name)
    return bool(windows.drive or windows.root) or ".." in (*PurePosixPath(name).parts, *windows.parts)


def _join_pieces(pieces: Iterator[bytes], size: int) -> bytes | bytearray:
    """The pieces as one sequence of bytes; stops as soon as they exceed the stated size."""
    first = next(pieces, b"")
    content = bytearray(first) if len(first) < size else first
    for piece in pieces:
        content += piece
        if len(content) > size:
            break
    if len(content) != size:
        raise ValueError(
            f"the directory says {size:,} bytes, and there are {'more' if len(content) > size else 'less'}"
        )
    return content


def _decompressor(method: int) -> Pieces:
    if method == ZIP_STORED:
        return lambda data: iter((data,))
    if method == ZIP_DEFLATED:
        return _inflate
    if method == ZIP_ZSTANDARD:
        return _decompress_zstandard
    raise LogError(f"files inside the log are compressed with zip method {method}, which Inspect AI does not use")


def _inflate(data: bytes) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    for at in range(0, len(data), _SLICE):
        rest = data[at : at + _SLICE]
        while rest:
            yield unpacker.decompress(rest, _PIECE)
            rest = unpacker.unconsumed_tail
    yield unpacker.flush()


def _decompress_zstandard(data: bytes) -> Iterator[bytes]:
    unpacker = zstd.ZstdDecompressor()
    while not unpacker.eof:
        yield (piece := unpacker.decompress(data, _PIECE))
        if not piece and unpacker.needs_input:
            raise ValueError("the compressed data end too early")
        data = b""
