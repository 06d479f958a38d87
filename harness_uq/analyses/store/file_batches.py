"""Groups of files that may belong to one run, without opening them; their batches for workers and keys in a store.

A key changes if the name, size or tag of a file changes, or the version of the software.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from operator import itemgetter
from typing import Final

from harness_uq.io.listing_cache import Fingerprint
from harness_uq.io.paths import folder_of
from harness_uq.io.plugins.hookspecs import PROJECT
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.plugins.protocols import GroupsFiles, Reader, Versioned
from harness_uq.messages.redaction import redact

MAX_GROUPS: Final = 100
MAX_BYTES: Final = 32 << 20
_MIN_BATCHES_OF_REMAINDER: Final = 4  # a batch is at most a quarter of a worker's share of the remaining work
_MAX_BATCHES_OF_TOTAL: Final = 16  # but need not be smaller than a sixteenth of a worker's share of all work


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Key of the stored results of a group of files."""

    part: str  # hash of the names of the files
    state: str | None  # hash of their sizes, tags and the software; None, which stores nothing, if a tag is unknown


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that are searched for runs together. No run has files in two groups."""

    files: tuple[Fingerprint, ...]  # as they were listed
    stored_logs: tuple[str, CacheKey] | None = None  # file of a store with their task logs, and the key of these

    @property
    def urls(self) -> tuple[str, ...]:
        """Paths or URLs of the files."""
        return tuple(file.url for file in self.files)

    @property
    def n_bytes(self) -> int:
        """Total size of the files; files of unknown size count as empty."""
        return sum(file.size or 0 for file in self.files)


Batch = tuple[FileGroup, ...]


def group_files(files: Sequence[Fingerprint], readers: Mapping[str, Reader]) -> list[FileGroup]:
    """Group files as the readers demand, in the order of the first file of each group.

    If a reader does not implement `GroupsFiles`, all files in a folder form one group.
    """
    leader = {file.url: file.url for file in files}
    for reader in readers.values():
        for urls in _groups_of_reader(reader, list(leader)):
            first = _root(leader, urls[0])
            for url in urls[1:]:
                leader[_root(leader, url)] = first
    groups: dict[str, list[Fingerprint]] = defaultdict(list)
    for file in files:
        groups[_root(leader, file.url)].append(file)
    return [FileGroup(tuple(group)) for group in groups.values()]


def make_batches(groups: Sequence[FileGroup], n_workers: int) -> list[Batch]:
    """Divide groups into batches of at most 100 groups and 32 MB.

    Batches become smaller towards the end, so that all workers finish at about the same time. If there are several
    workers, the largest batches come first. The work of a group is estimated as the mean of its share of the groups
    and its share of the bytes.
    """
    n_bytes = max(1, sum(group.n_bytes for group in groups))
    work = [0.5 / len(groups) + 0.5 * group.n_bytes / n_bytes for group in groups]
    batches = list(_batches_with_work(groups, work, n_workers))
    if n_workers > 1:
        batches.sort(key=itemgetter(0), reverse=True)
    return [batch for _, batch in batches]


def _batches_with_work(
    groups: Sequence[FileGroup], work: Sequence[float], n_workers: int
) -> Iterator[tuple[float, Batch]]:
    """Yield the share of all work and the groups of each batch."""
    batch, n_bytes, share, remaining = list[FileGroup](), 0, 0.0, 1.0
    for group, group_share in zip(groups, work, strict=True):
        max_share = max(1 / _MAX_BATCHES_OF_TOTAL, remaining / _MIN_BATCHES_OF_REMAINDER) / n_workers
        is_full = len(batch) == MAX_GROUPS or n_bytes + group.n_bytes > MAX_BYTES or share + group_share > max_share
        if batch and is_full:
            yield share, tuple(batch)
            remaining -= share
            batch, n_bytes, share = [], 0, 0.0
        batch.append(group)
        n_bytes += group.n_bytes
        share += group_share
    if batch:
        yield share, tuple(batch)


def _groups_of_reader(reader: Reader, urls: Sequence[str]) -> Iterable[Sequence[str]]:
    if isinstance(reader, GroupsFiles):
        try:
            return [group for group in reader.parts(urls) if group]
        except Exception:  # the reader's error is reported when it is asked for runs
            return _groups_by_folder(urls)
    return _groups_by_folder(urls)


def _groups_by_folder(urls: Iterable[str]) -> Iterable[Sequence[str]]:
    folders: dict[str, list[str]] = defaultdict(list)
    for url in urls:
        folders[folder_of(url)].append(url)
    return folders.values()


def _root(leader: dict[str, str], url: str) -> str:
    """Return the representative of a file's group, halving the path to it (union-find)."""
    while leader[url] != url:
        leader[url] = leader[leader[url]]
        url = leader[url]
    return url


def cache_key(group: FileGroup, software: str) -> CacheKey:
    """Return the key of a group in its present state, read by this software."""
    tags = tags_of(group)
    return CacheKey(files_hash(group), None if tags is None else _hash((*tags, software)))


def files_hash(group: FileGroup) -> str:
    """Hash the names of a group's files, as they were given."""
    return _hash(group.urls)


def tags_of(group: FileGroup) -> tuple[str, ...] | None:
    """Return size and tag of each file; None if one of them is unknown, or if a URL contains credentials."""
    tags = tuple(tag_of(file) for file in group.files if redact(file.url) == file.url)
    known = tuple(tag for tag in tags if tag is not None)
    return known if len(known) == len(group.files) else None


def tag_of(file: Fingerprint) -> str | None:
    """Return size and tag of a file as text; None if one of them is unknown."""
    return None if file.tag is None or file.size is None else f"{file.size} {file.tag}"


def software_of(plugins: Plugins) -> str:
    """List the installed distributions that read and estimate, and the readers' dependencies, with versions."""
    distributions = {entry.dist for entry in entry_points(group=PROJECT) if entry.dist is not None}
    versions = {f"{dist.metadata['Name']} {dist.metadata['Version']}" for dist in distributions}
    readers = plugins.harnesses.values()
    return "; ".join(sorted(versions | {reader.version for reader in readers if isinstance(reader, Versioned)}))


def _hash(texts: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
