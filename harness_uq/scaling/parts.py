"""Files that may belong to one run, told without opening any, and batches of them for a worker."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness_uq.logs.places import Fingerprint, folder_of
from harness_uq.plugins.protocols import Reader, TellsParts

MOST_PARTS: Final = 100
MOST_BYTES: Final = 32 << 20
_BATCHES_EACH: Final = 8  # a worker gets, so that all end at about the same time


@dataclass(frozen=True, slots=True)
class Key:
    """Under which a store keeps what a part gave.

    Attributes
    ----------
    part : hash of the names of its files
    state : hash of their sizes and tags and of the software; None where a file's are not known, so that nothing is kept
    """

    part: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are searched for runs together; those of others belong to other runs.

    Attributes
    ----------
    files : as listed
    stored : file of a store that holds their task logs, and under which key; None where none does
    """

    files: tuple[Fingerprint, ...]
    stored: tuple[str, Key] | None = None

    @property
    def urls(self) -> tuple[str, ...]:
        """Places of the files."""
        return tuple(file.url for file in self.files)

    @property
    def n_bytes(self) -> int:
        """Size of the files; those of unknown size count nothing."""
        return sum(file.size or 0 for file in self.files)


Batch = tuple[Part, ...]


def parts_of(files: Sequence[Fingerprint], readers: Mapping[str, Reader]) -> list[Part]:
    """The files in parts, in the order of the first file of each.

    A harness that cannot say which files belong together keeps those of a folder in one part.
    """
    leader = {file.url: file.url for file in files}
    for reader in readers.values():
        for together in _together(reader, list(leader)):
            first = _root(leader, together[0])
            for url in together[1:]:
                leader[_root(leader, url)] = first
    found: dict[str, list[Fingerprint]] = defaultdict(list)
    for file in files:
        found[_root(leader, file.url)].append(file)
    return [Part(tuple(together)) for together in found.values()]


def batches_of(parts: Sequence[Part], n_workers: int) -> list[Batch]:
    """The parts in batches of 100, or of 32 MB, or of an eighth of what is one worker's, whichever is least."""
    most = max(1, min(MOST_PARTS, len(parts) // (_BATCHES_EACH * n_workers)))
    return list(_cut(parts, most))


def _cut(parts: Iterable[Part], most: int) -> Iterator[Batch]:
    batch, n_bytes = list[Part](), 0
    for part in parts:
        if batch and (len(batch) == most or n_bytes + part.n_bytes > MOST_BYTES):
            yield tuple(batch)
            batch, n_bytes = [], 0
        batch.append(part)
        n_bytes += part.n_bytes
    if batch:
        yield tuple(batch)


def _together(reader: Reader, urls: Sequence[str]) -> Iterable[Sequence[str]]:
    if isinstance(reader, TellsParts):
        try:
            return [part for part in reader.parts(urls) if part]
        except Exception:  # what it says when it is asked for runs is told there
            return _by_folder(urls)
    return _by_folder(urls)


def _by_folder(urls: Iterable[str]) -> Iterable[Sequence[str]]:
    folders: dict[str, list[str]] = defaultdict(list)
    for url in urls:
        folders[folder_of(url)].append(url)
    return folders.values()


def _root(leader: dict[str, str], url: str) -> str:
    """The file that stands for the part, with the way to it made short."""
    while leader[url] != url:
        leader[url] = leader[leader[url]]
        url = leader[url]
    return url
