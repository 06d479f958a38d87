"""A file of a store, read by ranges: its end in one piece, the rest as it is asked for."""

import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from harness_uq.logs.listed import kept
from harness_uq.logs.refusals import refusals

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from fsspec.spec import AbstractBufferedFile

END: Final = 256 << 10
"""Bytes at the end that are fetched together: of most `.eval` files the directory, the header and the summaries."""

_GAP: Final = 4 << 10
_LEAST: Final = 64 << 10
_MOST: Final = 8 << 20


class Ranges(io.RawIOBase):
    """Raw bytes of a file of known size.

    What is read one after the other is fetched ahead, twice as far each time; what is read here and there is not.

    Parameters
    ----------
    file : a file of fsspec that caches nothing
    size : of the file, bytes
    place : what errors call it
    """

    def __init__(self, file: "AbstractBufferedFile", size: int, place: str) -> None:
        super().__init__()
        self._file, self._size, self._place = file, size, place
        self._at = 0
        self._end_from = max(0, size - END)
        self._end = kept().ends.get(place)
        self._window, self._window_from, self._ahead = b"", 0, _LEAST
        self._pieces: Sequence[bytes] = ()
        self._pieces_from: Sequence[int] = ()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        target = memoryview(buffer).cast("B")
        content = self._bytes(self._at, min(self._at + len(target), self._size))
        target[: len(content)] = content
        self._at += len(content)
        return len(content)

    def prefetch(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Fetch (start, stop) ranges side by side, to be read next; those of the last call are forgotten."""
        from fsspec.utils import merge_offset_ranges

        starts, stops = (list(ends) for ends in zip(*ranges, strict=True))
        path = self._file.path
        paths, starts, stops = merge_offset_ranges([path] * len(ranges), starts, stops, max_gap=_GAP, sort=True)
        with refusals(self._place):
            contents = self._file.fs.cat_ranges(paths, starts, stops, on_error="raise")
        self._pieces, self._pieces_from = contents, starts

    def close(self) -> None:
        self._file.close()
        super().close()

    def _bytes(self, start: int, stop: int) -> bytes:
        """Some bytes from `start`, up to `stop` at most."""
        if start >= stop:
            return b""
        if (place := bisect_right(self._pieces_from, start) - 1) >= 0:
            offset = start - self._pieces_from[place]
            if offset < len(self._pieces[place]):
                return self._pieces[place][offset : offset + stop - start]
        if start >= self._end_from:
            if self._end is None:
                self._end = self._fetched(self._end_from, self._size)
                kept().keep(self._place, self._end)
            return self._end[start - self._end_from : stop - self._end_from]
        known_to = self._window_from + len(self._window)
        if not self._window_from <= start < known_to:
            self._ahead = min(2 * self._ahead, _MOST) if start == known_to else _LEAST
            self._window = self._fetched(start, min(max(stop, start + self._ahead), self._end_from))
            self._window_from = start
        return self._window[start - self._window_from : stop - self._window_from]

    def _fetched(self, start: int, stop: int) -> bytes:
        with refusals(self._place):
            self._file.seek(start)
            content = bytes(self._file.read(stop - start))
            if len(content) != stop - start:
                raise OSError("it is shorter than the store says")
        return content
