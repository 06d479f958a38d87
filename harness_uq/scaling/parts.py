"""Files that may belong to one run, told without opening any, and batches of them for a worker."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from harness_uq.logs.places import Fingerprint, folder_of
from harness_uq.plugins.protocols import Reader, TellsParts

MOST_PARTS: Final = 100
MOST_BYTES: Final = 32 << 20
_OF_THE_REST: Final = 4  # of one worker's share of what is left, a batch is at most this part
_OF_ALL: Final = 16  # of one worker's share of all, a batch need not be smaller than this part


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
    """The parts in batches of at most 100 and 32 MB, smaller towards the end, so that all workers end at one time.

    Several workers get the greatest batches first. How much work a part is, is taken to follow half from there being
    one and half from its bytes.
    """
    all_bytes = max(1, sum(part.n_bytes for part in parts))
    work = [0.5 / len(parts) + 0.5 * part.n_bytes / all_bytes for part in parts]
    found = list(_cut(parts, work, n_workers))
    if n_workers > 1:
        found.sort(key=itemgetter(0), reverse=True)
    return [batch for _, batch in found]


def _cut(parts: Sequence[Part], work: Sequence[float], n_workers: int) -> Iterator[tuple[float, Batch]]:
    """Batches with the share of all work that each is."""
    batch, n_bytes, share, left = list[Part](), 0, 0.0, 1.0
    for part, own in zip(parts, work, strict=True):
        most = max(1 / _OF_ALL, left / _OF_THE_REST) / n_workers
        if batch and (len(batch) == MOST_PARTS or n_bytes + part.n_bytes > MOST_BYTES or share + own > most):
            yield share, tuple(batch)
            left -= share
            batch, n_bytes, share = [], 0, 0.0
        batch.append(part)
        n_bytes += part.n_bytes
        share += own
    if batch:
        yield share, tuple(batch)


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
