"""Bytes of log files: JSON logs mapped into memory, and the members of `.eval` files, which are zips.

`zipfile` reads the directory of a zip only. Members are decompressed here, since before Python 3.14 `zipfile` knows
no Zstandard, and since opening 8,000 small members through it costs more than decoding them.
"""

import zlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Final, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from harness_uq import LogError

ZIP_ZSTANDARD: Final = 93
_LOCAL_HEADER: Final = 30
_MAGIC: Final = b"PK\x03\x04"

Decompress = Callable[[bytes, int], bytes]


def map_file(path: str) -> mmap:
    """The file's bytes, mapped rather than read, since logs reach hundreds of megabytes.

    Raises
    ------
    LogError : if the file is empty or cannot be opened
    """
    try:
        with Path(path).open("rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except ValueError as error:
        raise LogError("the file is empty") from error
    except OSError as error:
        raise LogError(f"cannot be read: {error.strerror}") from error


class Archive:
    """An opened `.eval` file.

    Parameters
    ----------
    path : file to open

    Raises
    ------
    LogError : if the file is no complete zip
    """

    def __init__(self, path: str) -> None:
        self._content = map_file(path)
        try:
            self._zip = ZipFile(path)
        except (BadZipFile, NotImplementedError) as error:
            raise LogError(_why_no_zip(self._content, error)) from error
        self._decompress: dict[int, Decompress] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._content.close()

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def names(self, folder: str = "") -> list[str]:
        """Names of the JSON members under `folder`, in the order of the archive."""
        return [name for name in self._zip.NameToInfo if name.startswith(folder) and name.endswith(".json")]

    def read(self, name: str) -> bytes:
        """Content of one member.

        Raises
        ------
        LogError : if the member is damaged, or compressed with a method that is not installed
        """
        info = self._zip.NameToInfo[name]
        decompress = self._decompressor(info.compress_type)
        try:
            content = decompress(self._compressed(info), info.file_size)
        except (ValueError, zlib.error) as error:
            raise LogError(f"{name} is damaged ({error})") from error
        if zlib.crc32(content) != info.CRC:
            raise LogError(f"{name} is damaged (its checksum differs)")
        return content

    def _compressed(self, info: ZipInfo) -> bytes:
        start = info.header_offset
        header = self._content[start : start + _LOCAL_HEADER]
        if header[:4] != _MAGIC:
            raise ValueError("no member starts where the directory says")
        name_length, extra_length = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        start += _LOCAL_HEADER + name_length + extra_length
        return self._content[start : start + info.compress_size]

    def _decompressor(self, method: int) -> Decompress:
        if method not in self._decompress:
            self._decompress[method] = _find_decompressor(method)
        return self._decompress[method]


def _why_no_zip(content: mmap, error: Exception) -> str:
    if content[: len(_MAGIC)] == _MAGIC:
        return "the zip is cut off: its directory, at the end of the file, is missing or incomplete"
    return f"an .eval file is a zip, and this is none ({error})"


def _find_decompressor(method: int) -> Decompress:
    if method == ZIP_STORED:
        return lambda data, _: data
    if method == ZIP_DEFLATED:
        return lambda data, size: zlib.decompress(data, -zlib.MAX_WBITS, size)
    if method == ZIP_ZSTANDARD:
        return _zstandard()
    raise LogError(f"its members are compressed with zip method {method}, which Inspect AI does not write")


def _zstandard() -> Decompress:
    """Zstandard of Python 3.14, else of the package that inspect-ai depends on."""
    for name in ("compression.zstd", "zstandard"):
        try:
            return partial(_unpack, import_module(name))
        except ImportError:
            continue
    raise LogError(
        "its members are compressed with Zstandard, which needs Python 3.14 or the package zstandard: "
        "pip install 'harness-uq[inspect]'"
    )


def _unpack(module: ModuleType, data: bytes, size: int) -> bytes:
    try:
        if module.__name__ == "zstandard":
            return bytes(module.ZstdDecompressor().decompress(data, max_output_size=size))
        return bytes(module.decompress(data))
    except module.ZstdError as error:
        raise ValueError(str(error)) from error
