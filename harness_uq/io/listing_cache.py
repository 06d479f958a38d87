"""Fingerprints and contents of remote files, cached while one batch of logs is read, to avoid repeated requests."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What identifies one version of a file."""

    url: str  # path or URL
    size: int | None  # bytes; None if the storage does not report a size
    tag: str | None  # hash or version that the storage reports, else the modification time; None if neither is known


@dataclass(slots=True)
class ListingCache:
    """Fingerprints of listed files by URL, and the last bytes of the files that were read: of small files the whole
    content.
    """

    files: dict[str, Fingerprint] = field(default_factory=dict)
    ends: dict[str, bytes] = field(default_factory=dict)

    def add_end(self, url: str, end: bytes) -> None:
        """Remember the end of a listed file, unless the cache is full."""
        if url in self.files and len(end) + sum(map(len, self.ends.values())) <= _MAX_BYTES:
            self.ends[url] = end


_CURRENT: ContextVar[ListingCache | None] = ContextVar("listing_cache", default=None)


@contextmanager
def use_listing(files: Iterable[Fingerprint]) -> Iterator[None]:
    """Assume inside the block that these files are as they were listed.

    Reading an S3 object that has changed since then fails with an `OSError`.
    """
    token = _CURRENT.set(ListingCache({file.url: file for file in files}))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_listing() -> ListingCache:
    """Return the cache of the enclosing `use_listing` block, or an empty one."""
    return _CURRENT.get() or ListingCache()
