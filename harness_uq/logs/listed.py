"""What was listed and what was fetched of it, kept while some logs are read, so that their store is not asked twice."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What tells whether a file is still the one that was read.

    Attributes
    ----------
    url : the place
    size : bytes, None where the store does not say
    tag : the store's own hash or version of the content; else the time of its last change; None where neither is known
    """

    url: str
    size: int | None
    tag: str | None


@dataclass(slots=True)
class Kept:
    """What is known of some files.

    Attributes
    ----------
    files : by place, as listed
    ends : what was fetched of the ends of files, by place; of small files that is all
    """

    files: dict[str, Fingerprint] = field(default_factory=dict)
    ends: dict[str, bytes] = field(default_factory=dict)

    def keep(self, place: str, end: bytes) -> None:
        """Keep the end of a file that was listed, as long as there is room."""
        if place in self.files and len(end) + sum(map(len, self.ends.values())) <= _MOST_BYTES:
            self.ends[place] = end


_KEPT: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def as_listed(files: Iterable[Fingerprint]) -> Iterator[None]:
    """While the block runs, these files are taken to be as they were listed; one of S3 that is not is refused."""
    token = _KEPT.set(Kept({file.url: file for file in files}))
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept() -> Kept:
    """What is kept at the moment; outside of `as_listed` nothing."""
    return _KEPT.get() or Kept()
