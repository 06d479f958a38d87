"""Files by local path or URL, under one set of functions.

A path is a string: a local path or a URL such as ``s3://…``, ``gs://…``, ``hf://…``, ``https://…``, ``memory://…`` or
``file://…``. Errors of remote storage are `OSError` with a description in `strerror`, like errors of local files.
fsspec is imported only for URLs.
"""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from glob import glob
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit

from harness_uq.io.atomic_write import atomic_replace
from harness_uq.io.listing_cache import Fingerprint as Fingerprint
from harness_uq.messages.catalogue.reading import FILE_UNREADABLE
from harness_uq.messages.errors import LogError
from harness_uq.messages.redaction import redact

if TYPE_CHECKING:
    from harness_uq.io.remote_fs import RemoteFileSystem

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LOCAL_SCHEME = re.compile(r"(?:file|local)://", re.IGNORECASE)
_WEB = ("http://", "https://")
_BUFFER_SIZE = 1 << 17


def is_remote(path: str) -> bool:
    """Whether a path is the URL of remote storage.

    >>> is_remote("s3://bucket/run.eval"), is_remote("file:///tmp/run.eval"), is_remote("logs/run.eval")
    (True, False, False)
    """
    return "://" in path and _URL.match(path) is not None and _LOCAL_SCHEME.match(path) is None


def local_path(path: str) -> Path:
    """Convert a local path, or a ``file://`` URL, to a `Path`.

    >>> local_path("file:///tmp/run.eval").as_posix()
    '/tmp/run.eval'
    """
    return Path(_without_scheme(path))


def name_of(path: str) -> str:
    """Return the last component of a path, without the query of a web address.

    >>> name_of("s3://bucket/logs/run.eval"), name_of("https://host/run.eval?download=true")
    ('run.eval', 'run.eval')
    """
    if not is_remote(path):
        return _split(path)[1]
    return PurePosixPath(urlsplit(path).path if path.startswith(_WEB) else path).name


def folder_of(path: str) -> str:
    """Return the folder, or prefix, that contains a path.

    >>> folder_of("s3://bucket/logs/run.eval"), folder_of("logs/run.eval")
    ('s3://bucket/logs', 'logs')
    """
    if not is_remote(path):
        return _split(path)[0]
    return (path.partition("?")[0] if path.startswith(_WEB) else path).rstrip("/").rpartition("/")[0]


def join(folder: str, *names: str) -> str:
    """Append names to a folder.

    >>> join("s3://bucket/logs", "a", "run.eval")
    's3://bucket/logs/a/run.eval'
    """
    return "/".join((folder.rstrip("/"), *names)) if is_remote(folder) else str(local_path(folder).joinpath(*names))


def listing(path: str) -> Iterator[Fingerprint]:
    """List the regular files that a file, a folder or a glob pattern matches, with sizes and tags, sorted.

    Remote storage is listed in one request for up to 1,000 files. Raises OSError if it denies the listing, or the
    bucket does not exist, and MissingDependencyError if a package for this kind of storage is not installed.
    """
    if is_remote(path):
        yield from _remote(path).listing(path)
    else:
        for name, stat in _local_files(_without_scheme(path)):
            yield _local_fingerprint(name, stat)


def files_in(folder: str) -> list[str]:
    """List the regular files directly in a folder, sorted, with the errors of `listing`. HTTP servers list none."""
    if is_remote(folder):
        return _remote(folder).files_in(folder)
    return sorted(str(path) for path in local_path(folder).iterdir() if path.is_file())


def fingerprint(path: str) -> Fingerprint:
    """Look up the size and tag of one file, without any cache; raises OSError if it does not exist."""
    return _remote(path).fingerprint(path) if is_remote(path) else _local_fingerprint(path, local_path(path).stat())


def modified_time(path: str) -> float:
    """Return when a file was last changed, in seconds since 1970; raises OSError if the storage does not report it."""
    return _remote(path).modified_time(path) if is_remote(path) else local_path(path).stat().st_mtime_ns / 1e9


def size(path: str) -> int:
    """Return the size of a file in bytes; raises OSError if the storage does not report it."""
    n_bytes = fingerprint(path).size
    if n_bytes is None:
        raise OSError(errno.EINVAL, "the store does not report its size", redact(path))
    return n_bytes


def is_file(path: str) -> bool:
    """Whether a regular file exists; raises OSError if remote storage denies the request."""
    return _remote(path).is_file(path) if is_remote(path) else local_path(path).is_file()


def exists(path: str) -> bool:
    """Whether a file exists, as `is_file`; for a local path, also anything else of that name, such as a link to
    nowhere.
    """
    return is_file(path) if is_remote(path) else os.path.lexists(local_path(path))


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is in a folder after all links are followed. Remote storage has no links.

    >>> is_inside("logs/a/run.eval", "logs"), is_inside("logs/../run.eval", "logs")
    (True, False)
    """
    return is_remote(path) or local_path(path).resolve().is_relative_to(local_path(folder).resolve())


def make_folder(path: str) -> None:
    """Create a local folder and its parents if they do not exist. Remote storage needs none."""
    if not is_remote(path):
        local_path(path).mkdir(parents=True, exist_ok=True)


def open_binary(path: str) -> BinaryIO:
    """Open a file for reading and seeking. Of a remote file only the ranges that are read are transferred.

    Raises OSError if the file cannot be opened or is not a regular file (opening a FIFO could block). Reading may raise
    it, too.
    """
    if is_remote(path):
        return _remote(path).open(path)
    local = local_path(path)
    if local.exists() and not local.is_file():
        raise OSError(errno.EINVAL, "no regular file", str(local))
    return local.open("rb", buffering=_BUFFER_SIZE)


@contextmanager
def reading() -> Iterator[None]:
    """Context, or decorator, in which an `OSError` becomes a `LogError` that says that the file cannot be read."""
    try:
        yield
    except OSError as error:
        raise LogError(FILE_UNREADABLE(reason=str(error.strerror or error))) from error


def prefetch(file: BinaryIO, ranges: Sequence[tuple[int, int]]) -> None:
    """Fetch (start, stop) ranges of a remote file concurrently, to be read next. Does nothing for other files. Raises
    OSError if the request fails.
    """
    fetch = getattr(getattr(file, "raw", None), "prefetch", None)
    if fetch is not None and ranges:
        fetch(ranges)


def read_bytes(path: str) -> bytes:
    """Read a whole file, with the errors of `open_binary`."""
    if is_remote(path):
        return _remote(path).read_bytes(path)
    with open_binary(path) as file:
        return file.read()


def write_bytes(path: str, content: bytes) -> None:
    """Write a file atomically: readers see the previous content or all of the new one. Raises OSError if the file
    cannot be written.
    """
    with atomic_writer(path) as file:
        file.write(content)


@contextmanager
def atomic_writer(path: str, *, like: str | None = None, keeps_time: bool = False) -> Iterator[IO[bytes]]:
    """Open a local temporary file that replaces `path` if the block ends without an error.

    The file can be read and sought in. The folder of a local path must exist. A link of that name is replaced itself;
    the file that it points to is not written to. The new file gets the permissions of `like` and, with `keeps_time`,
    its modification time, if both are local. Raises OSError if the file cannot be written.
    """
    if is_remote(path):
        with _remote(path).atomic_writer(path) as file:
            yield file
        return
    model = None if like is None or is_remote(like) else local_path(like)
    with atomic_replace(local_path(path), like=model, keeps_time=keeps_time) as file:
        yield file


def remove(path: str) -> None:
    """Delete a file; raises OSError if it does not exist or cannot be deleted."""
    if is_remote(path):
        _remote(path).remove(path)
    else:
        local_path(path).unlink()


def _remote(url: str) -> "RemoteFileSystem":
    from harness_uq.io.remote_fs import remote_file_system

    return remote_file_system(url)


def _without_scheme(path: str) -> str:
    return _LOCAL_SCHEME.sub("", path, count=1) if "://" in path else path


def _local_files(name: str) -> list[tuple[str, os.stat_result]]:
    path = Path(name)
    if path.is_dir():
        return sorted(_files_under(path), key=itemgetter(0))
    if path.exists():
        return [(name, path.stat())] if path.is_file() else []
    matches = glob(name, recursive=True)  # noqa: PTH207 -- Path.glob refuses absolute patterns
    return sorted((file for match in matches for file in _local_files(match)), key=itemgetter(0))


def _files_under(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Walk a folder without following links to folders; `Path.rglob` is several times slower."""
    pending = ["" if folder == Path() else str(folder)]
    while pending:
        directory = pending.pop()
        named_entries = []
        with suppress(PermissionError), os.scandir(directory or ".") as entries:
            prefix = os.path.join(directory, "")  # noqa: PTH118
            named_entries = [(prefix + entry.name, entry) for entry in entries]
        for name, entry in named_entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(name)
            elif Path(name).is_file() if entry.is_symlink() else entry.is_file():
                yield name, entry.stat()


def _local_fingerprint(path: str, stat: os.stat_result) -> Fingerprint:
    return Fingerprint(path, stat.st_size, f"mtime {stat.st_mtime_ns}")


def _split(path: str) -> tuple[str, str]:
    """Return the parent and the name as `Path` does, several times faster for many files in one folder."""
    head, tail = os.path.split(_without_scheme(path))
    if tail in ("", "."):
        parsed = local_path(path)
        return str(parsed.parent), parsed.name
    return _normalized(head), tail


@lru_cache(maxsize=1024)
def _normalized(folder: str) -> str:
    return str(Path(folder))
