"""Places of logs: paths of this machine, and URLs of stores that fsspec reaches, under one set of names.

A place is a text: a path, or `s3://…`, `gs://…`, `hf://…`, `https://…`, `memory://…`, `file://…`. What a store refuses
is an `OSError` with words in `strerror`, as of a file of this machine. fsspec is not imported for paths.
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

from harness_uq.logs.leftovers import replacing
from harness_uq.logs.listed import Fingerprint as Fingerprint
from harness_uq.logs.ranges import Ranges
from harness_uq.logs.refusals import shown

if TYPE_CHECKING:
    from harness_uq.logs.stores import Store

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LOCAL = re.compile(r"(?:file|local)://", re.IGNORECASE)
_BUFFER = 1 << 17
_WEB = ("http://", "https://")


def is_remote(place: str) -> bool:
    """Whether the place is on a store rather than a path of this machine.

    >>> is_remote("s3://bucket/run.eval"), is_remote("file:///tmp/run.eval"), is_remote("logs/run.eval")
    (True, False, False)
    """
    return "://" in place and _URL.match(place) is not None and _LOCAL.match(place) is None


def local_path(place: str) -> Path:
    """The path of a place of this machine.

    >>> local_path("file:///tmp/run.eval").as_posix()
    '/tmp/run.eval'
    """
    return Path(_LOCAL.sub("", place, count=1))


def name_of(place: str) -> str:
    """Last part of the place, without the query of a URL.

    >>> name_of("s3://bucket/logs/run.eval"), name_of("https://host/run.eval?download=true")
    ('run.eval', 'run.eval')
    """
    if not is_remote(place):
        return _split(place)[1]
    return PurePosixPath(urlsplit(place).path if place.startswith(_WEB) else place).name


def folder_of(place: str) -> str:
    """The folder, or prefix, that the place is in.

    >>> folder_of("s3://bucket/logs/run.eval"), folder_of("logs/run.eval")
    ('s3://bucket/logs', 'logs')
    """
    if not is_remote(place):
        return _split(place)[0]
    return (place.partition("?")[0] if place.startswith(_WEB) else place).rstrip("/").rpartition("/")[0]


def join(folder: str, *names: str) -> str:
    """A place beneath a folder.

    >>> join("s3://bucket/logs", "a", "run.eval")
    's3://bucket/logs/a/run.eval'
    """
    return "/".join((folder.rstrip("/"), *names)) if is_remote(folder) else str(local_path(folder).joinpath(*names))


def find(place: str) -> Iterator[str]:
    """Regular files that a file, a folder or a glob pattern stands for, sorted; none where there is nothing.

    Raises
    ------
    OSError : if a store refuses to list, or has no such bucket
    MissingDependencyError : if a package that the store needs is not installed
    """
    if is_remote(place):
        yield from (found.url for found in listing(place))
    else:
        yield from (name for name, _ in _local_files(_LOCAL.sub("", place, count=1)))


def files_in(folder: str) -> list[str]:
    """Regular files of a folder itself, sorted; none where its store cannot list, as web servers cannot.

    Raises
    ------
    OSError, MissingDependencyError : as `find`
    """
    if is_remote(folder):
        return _store(folder).files_in(folder)
    return sorted(str(path) for path in local_path(folder).iterdir() if path.is_file())


def listing(place: str) -> Iterator[Fingerprint]:
    """What `find` finds with sizes and tags, which a store lists with the names.

    Raises
    ------
    OSError, MissingDependencyError : as `find`
    """
    if is_remote(place):
        yield from _store(place).listing(place)
    else:
        for name, stat in _local_files(_LOCAL.sub("", place, count=1)):
            yield _fingerprint(name, stat)


def fingerprint(place: str) -> Fingerprint:
    """Size and tag of one file, asked for anew.

    Raises
    ------
    OSError : if there is no such file
    """
    if is_remote(place):
        return _store(place).fingerprint(place)
    return _fingerprint(place, local_path(place).stat())


def changed(place: str) -> float:
    """When a file was last written, seconds since 1970.

    Raises
    ------
    OSError : if there is no such file, or its store does not say
    """
    return _store(place).changed(place) if is_remote(place) else local_path(place).stat().st_mtime_ns / 1e9


def size(place: str) -> int:
    """Bytes of a file.

    Raises
    ------
    OSError : if there is no such file, or its store does not say
    """
    found = fingerprint(place).size
    if found is None:
        raise OSError(errno.EINVAL, "the store does not say how large it is", shown(place))
    return found


def is_file(place: str) -> bool:
    """Whether there is a regular file.

    Raises
    ------
    OSError : if a store refuses to say
    """
    return _store(place).is_file(place) if is_remote(place) else local_path(place).is_file()


def exists(place: str) -> bool:
    """Whether there is a file, or on this machine anything else, of that name.

    Raises
    ------
    OSError : as `is_file`
    """
    return is_file(place) if is_remote(place) else local_path(place).exists()


def make_folder(place: str) -> None:
    """Make a folder of this machine where there is none; a store needs none.

    Raises
    ------
    OSError : if it cannot be made
    """
    if not is_remote(place):
        local_path(place).mkdir(parents=True, exist_ok=True)


def open_binary(place: str) -> BinaryIO:
    """The file, to be read and to be sought in; of a store only the ranges that are read are fetched.

    Raises
    ------
    OSError : if it cannot be opened, or is no regular file, whose opening might never end; reading raises the same
    """
    if is_remote(place):
        return _store(place).open(place)
    path = local_path(place)
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "no regular file", str(path))
    return path.open("rb", buffering=_BUFFER)


def prefetch(file: BinaryIO, ranges: Sequence[tuple[int, int]]) -> None:
    """Fetch (start, stop) ranges of a file of a store side by side, to be read next; nothing for other files.

    Raises
    ------
    OSError : if the store refuses
    """
    raw = getattr(file, "raw", None)
    if isinstance(raw, Ranges) and ranges:
        raw.prefetch(ranges)


def read_bytes(place: str) -> bytes:
    """The whole file.

    Raises
    ------
    OSError : as `open_binary`
    """
    if is_remote(place):
        return _store(place).read_bytes(place)
    with open_binary(place) as file:
        return file.read()


def write_whole(place: str, content: bytes) -> None:
    """Write a file so that others see all of it or what was there before.

    Raises
    ------
    OSError : if it cannot be written
    """
    with writing(place) as file:
        file.write(content)


@contextmanager
def writing(place: str, *, like: str | None = None, keeps_time: bool = False) -> Iterator[IO[bytes]]:
    """A file of this machine that takes its place, whole, where the block ends without an error.

    It can be read and sought in meanwhile. The folder of a path of this machine has to exist.

    Parameters
    ----------
    like : a file whose permissions the new one gets, where both are of this machine
    keeps_time : give it that file's times, too

    Raises
    ------
    OSError : if it cannot be written
    """
    if is_remote(place):
        with _store(place).writing(place) as file:
            yield file
        return
    model = None if like is None or is_remote(like) else local_path(like)
    with replacing(local_path(place).resolve(), like=model, keeps_time=keeps_time) as file:
        yield file


def remove(place: str) -> None:
    """Delete a file.

    Raises
    ------
    OSError : if there is none, or it cannot be deleted
    """
    if is_remote(place):
        _store(place).remove(place)
    else:
        local_path(place).unlink()


def _local_files(name: str) -> list[tuple[str, os.stat_result]]:
    """Regular files with what the system says of them, sorted."""
    path = Path(name)
    if path.is_dir():
        return sorted(_files_beneath(path), key=itemgetter(0))
    if path.exists():
        return [(name, path.stat())] if path.is_file() else []
    matches = glob(name, recursive=True)  # noqa: PTH207 -- the pattern may be absolute, which Path.glob refuses
    return sorted((file for match in matches for file in _local_files(match)), key=itemgetter(0))


def _files_beneath(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Files of a folder and of those in it that are no links; `Path.rglob` takes several times as long."""
    waiting = ["" if folder == Path() else str(folder)]
    while waiting:
        at = waiting.pop()
        found = []
        with suppress(PermissionError), os.scandir(at or ".") as entries:
            start = os.path.join(at, "")  # noqa: PTH118
            found = [(start + entry.name, entry) for entry in entries]
        for name, entry in found:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(name)
            elif Path(name).is_file() if entry.is_symlink() else entry.is_file():
                yield name, entry.stat()


def _fingerprint(place: str, stat: os.stat_result) -> Fingerprint:
    return Fingerprint(place, stat.st_size, f"mtime {stat.st_mtime_ns}")


def _split(place: str) -> tuple[str, str]:
    """Folder and last part of a path as `Path` has them, which is asked once for a folder, being slow."""
    head, tail = os.path.split(_LOCAL.sub("", place, count=1) if "://" in place else place)
    if tail in ("", "."):
        path = local_path(place)
        return str(path.parent), path.name
    return _normal(head), tail


@lru_cache(maxsize=1024)
def _normal(folder: str) -> str:
    return str(Path(folder))


def _store(place: str) -> "Store":
    from harness_uq.logs.stores import store_of

    return store_of(place)
