"""Normalize the location of a log, which Inspect writes as a path, a file URL or the URL of remote storage."""

from pathlib import Path
from urllib.parse import unquote, urlsplit


def local_path(location: str) -> str | None:
    """The local path of a log; None if it is on remote storage.

    >>> local_path("file:///logs/a%20b.eval"), local_path("s3://bucket/a.eval")
    ('/logs/a b.eval', None)
    """
    if location.startswith("file://"):
        return unquote(urlsplit(location).path)
    return None if "://" in location else location


def identity(location: str) -> str:
    """Canonical form of a location, equal for all forms in which Inspect writes it.

    >>> identity("s3://bucket/a.eval"), identity("/logs/../logs/a.eval") == identity("file:///logs/a.eval")
    ('s3://bucket/a.eval', True)
    """
    path = local_path(location)
    return location if path is None else str(Path(path).resolve())
