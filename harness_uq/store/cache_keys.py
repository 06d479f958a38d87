"""Cache keys: they change if the name, size or tag of a file changes, or the version of the software."""

import hashlib
from importlib.metadata import entry_points

from harness_uq.io.listing_cache import Fingerprint
from harness_uq.plugins.hookspecs import PROJECT
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.protocols import Versioned
from harness_uq.redaction import redact
from harness_uq.store.file_batches import CacheKey, FileGroup


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
