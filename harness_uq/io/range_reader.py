"""Reading a remote file by byte ranges: the end of the file in one request, the rest as needed."""

import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from harness_uq.io.listing_cache import current_listing
from harness_uq.io.storage_errors import translate_storage_errors

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from fsspec.spec import AbstractBufferedFile

END: Final = 256 << 10
"""Size of the first request, in bytes from the end: the directory, header and summaries of most `.eval` files."""

_MAX_GAP: Final = 4 << 10
_MIN_READ_AHEAD: Final = 64 << 10
_MAX_READ_AHEAD: Final = 8 << 20


class RangeReader(io.RawIOBase):
    """Raw stream over a remote file of known size (bytes), which fsspec opened without a cache. Sequential reads are
    fetched ahead, doubling the amount each time; random access is not. `url` names the file in error messages.
    """

    def __init__(self, file: "AbstractBufferedFile", size: int, url: str) -> None:
        super().__init__()
        self._file, self._size, self._url = file, size, url
        self._position = 0
        self._end_start = max(0, size - END)
        self._end = current_listing().ends.get(url)
        self._window, self._window_start, self._read_ahead = b"", 0, _MIN_READ_AHEAD
        self._prefetched: Sequence[bytes] = ()
        self._prefetched_starts: Sequence[int] = ()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        target = memoryview(buffer).cast("B")
        content = self._bytes(self._position, min(self._position + len(target), self._size))
        target[: len(content)] = content
        self._position += len(content)
        return len(content)

    def prefetch(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Fetch (start, stop) ranges concurrently, to be read next. They replace those of an earlier call."""
        from fsspec.utils import merge_offset_ranges

        starts, stops = (list(ends) for ends in zip(*ranges, strict=True))
        path = self._file.path
        paths, starts, stops = merge_offset_ranges([path] * len(ranges), starts, stops, max_gap=_MAX_GAP, sort=True)
        with translate_storage_errors(self._url):
            contents = self._file.fs.cat_ranges(paths, starts, stops, on_error="raise")
        self._prefetched, self._prefetched_starts = contents, starts

    def close(self) -> None:
        self._file.close()
        super().close()

    def _bytes(self, start: int, stop: int) -> bytes:
        """Return one or more of the bytes from `start` to `stop`, none at the end of the file."""
        if start >= stop:
            return b""
        if (index := bisect_right(self._prefetched_starts, start) - 1) >= 0:
            offset = start - self._prefetched_starts[index]
            if offset < len(self._prefetched[index]):
                return self._prefetched[index][offset : offset + stop - start]
        if start >= self._end_start:
            if self._end is None:
                self._end = self._fetch(self._end_start, self._size)
                current_listing().add_end(self._url, self._end)
            return self._end[start - self._end_start : stop - self._end_start]
        window_stop = self._window_start + len(self._window)
        if not self._window_start <= start < window_stop:
            is_sequential = start == window_stop
            self._read_ahead = min(2 * self._read_ahead, _MAX_READ_AHEAD) if is_sequential else _MIN_READ_AHEAD
            self._window = self._fetch(start, min(max(stop, start + self._read_ahead), self._end_start))
            self._window_start = start
        return self._window[start - self._window_start : stop - self._window_start]

    def _fetch(self, start: int, stop: int) -> bytes:
        with translate_storage_errors(self._url):
            self._file.seek(start)
            content = bytes(self._file.read(stop - start))
            if len(content) != stop - start:
                raise OSError("it is shorter than the store says")
        return content
