"""Stores that fsspec reaches: listing, opening by ranges, writing whole objects, and their refusals in words."""

import errno
import io
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from glob import has_magic
from operator import itemgetter
from typing import IO, TYPE_CHECKING, BinaryIO, TypeAlias, cast

from harness_uq.errors import MissingDependencyError
from harness_uq.logs.listed import Fingerprint, kept
from harness_uq.logs.ranges import END, Ranges
from harness_uq.logs.refusals import MissingError, refusals, shown

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem
    from fsspec.spec import AbstractBufferedFile

_EXTRA = "pip install 'harness-uq[remote]'"
_NEEDED = {
    "s3": ("s3fs", _EXTRA),
    "s3a": ("s3fs", _EXTRA),
    "http": ("aiohttp", _EXTRA),
    "https": ("aiohttp", _EXTRA),
    "gs": ("gcsfs", "pip install gcsfs"),
    "gcs": ("gcsfs", "pip install gcsfs"),
    "hf": ("huggingface_hub", "pip install huggingface_hub"),
}
_TAGS = ("ETag", "etag", "blob_id", "md5Hash", "generation", "Content-MD5")
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "created", "Last-Modified")
_BUFFER = 1 << 16

_Infos: TypeAlias = Mapping[str, Mapping[str, object]]


class Store:
    """The file system behind a URL.

    Parameters
    ----------
    scheme : what stands before `://`
    files : as fsspec offers it
    """

    def __init__(self, scheme: str, files: "AbstractFileSystem") -> None:
        self._is_web, self._is_s3 = scheme in ("http", "https"), scheme in ("s3", "s3a")
        self._files = files

    def listing(self, place: str) -> Iterator[Fingerprint]:
        """Files that a file, a prefix or a glob pattern stands for, sorted."""
        found = self._found(place if self._is_web else place.rstrip("/"))
        for path, about in sorted(found.items(), key=itemgetter(0)):
            url = self._url(path, place)
            yield _fingerprint(url, about) if "size" in about else self.fingerprint(url)

    def files_in(self, folder: str) -> list[str]:
        """Files of a folder itself, sorted; a web server lists none."""
        if self._is_web:
            return []
        with refusals(folder):
            found = self._files.ls(folder, detail=True)
        return sorted(self._url(about["name"], folder) for about in found if about["type"] == "file")

    def fingerprint(self, place: str) -> Fingerprint:
        """Size and tag of one file."""
        with refusals(place):
            return _fingerprint(place, self._files.info(place))

    def changed(self, place: str) -> float:
        """When a file was last written, seconds since 1970."""
        with refusals(place):
            return float(self._files.modified(place).timestamp())

    def is_file(self, place: str) -> bool:
        """Whether there is such a file."""
        return any(about.get("type") == "file" for about in self._alone(place).values())

    def open(self, place: str) -> BinaryIO:
        """The file by ranges; one that has none, as a web server may say, whole."""
        with refusals(place):
            file = self._opened_as_listed(place) or self._files.open(place, "rb", cache_type="none")
            if not file.seekable() or file.size is None:
                with file:
                    return io.BytesIO(file.read())
        return cast("BinaryIO", io.BufferedReader(Ranges(file, file.size, place), _BUFFER))

    def _opened_as_listed(self, place: str) -> "AbstractBufferedFile | None":
        """A file of S3 that a listing described, without asking for its size; its ETag is demanded when it is read."""
        listed = kept().files.get(place)
        if not self._is_s3 or listed is None or listed.size is None or listed.tag is None:
            return None
        file = self._files.open(place, "rb", cache_type="none", size=listed.size)
        etag = f'"{listed.tag}"'
        file.details = {"name": file.path, "size": listed.size, "type": "file", "ETag": etag}
        file.req_kw = file.req_kw | {"IfMatch": etag}
        return file

    def read_bytes(self, place: str) -> bytes:
        """The whole file."""
        listed = kept().files.get(place)
        if listed is not None and listed.size is not None and listed.size <= END:
            with self.open(place) as file:
                return file.read()
        with refusals(place):
            return bytes(self._files.cat_file(place))

    @contextmanager
    def writing(self, place: str) -> Iterator[IO[bytes]]:
        """A file of this machine that is sent where the block ends without an error; stores show whole objects only."""
        if self._is_web:
            raise OSError(errno.EROFS, "a web server is not written to", shown(place))
        with tempfile.NamedTemporaryFile("w+b", prefix="harness-uq-") as file:
            yield file
            file.flush()
            with refusals(place):
                self._files.put_file(file.name, place)

    def remove(self, place: str) -> None:
        """Delete a file."""
        with refusals(place):
            self._files.rm_file(place)

    def _found(self, place: str) -> _Infos:
        if not self._is_pattern(place):
            # on the web everything is a file but what ends in a slash; elsewhere `find` knows both
            return self._alone(place) if self._is_web and not place.endswith("/") else self._beneath(place)
        with refusals(place):
            found: _Infos = self._files.glob(place, detail=True)
        if not found:
            self._check_listing(_fixed_part(place))
        return {
            path: about
            for name, own in found.items()
            for path, about in (self._beneath(name) if own.get("type") == "directory" else {name: own}).items()
        }

    def _is_pattern(self, place: str) -> bool:
        return has_magic(place.replace("?", "") if self._is_web else place)  # `?` opens the query of a web address

    def _beneath(self, folder: str) -> _Infos:
        with refusals(folder):
            found: _Infos = self._files.find(folder, detail=True)
        return {path: about for path, about in found.items() if about.get("type") != "directory"}

    def _check_listing(self, folder: str) -> None:
        """Raise what a glob keeps silent about: that it was refused."""
        with suppress(MissingError), refusals(folder):
            self._files.ls(folder, detail=False)

    def _alone(self, place: str) -> _Infos:
        with suppress(MissingError), refusals(place):
            return {place: self._files.info(place)}
        return {}

    def _url(self, path: str, place: str) -> str:
        """The URL of what the file system calls `path`, with the same beginning as the place it was found under."""
        root, named = self._files._strip_protocol(place), place.rstrip("/")
        if "://" not in path and named.endswith(root):
            return named[: len(named) - len(root)] + path
        return str(self._files.unstrip_protocol(path))


def store_of(place: str) -> Store:
    """The store of a URL.

    Raises
    ------
    MissingDependencyError : if a package is missing; the message names it
    OSError : if fsspec knows no such store
    """
    scheme = place.partition("://")[0].lower()
    package, remedy = _NEEDED.get(scheme, ("a package that is not installed", _EXTRA))
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingDependencyError(f"{scheme}:// needs fsspec: {_EXTRA}") from None
    try:
        # listings are not kept: logs come and go while a process lives
        files, _ = url_to_fs(place, use_listings_cache=False)
    except ImportError as error:
        needs = f"{scheme}:// needs {package}"
        raise MissingDependencyError(f"{needs}: {remedy}" if scheme in _NEEDED else f"{needs} ({error})") from None
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), shown(place)) from None
    return Store(scheme, files)


def _fixed_part(pattern: str) -> str:
    parts = pattern.split("/")
    first = next(at for at, part in enumerate(parts) if has_magic(part))
    return "/".join(parts[:first])


def _fingerprint(url: str, about: Mapping[str, object]) -> Fingerprint:
    size = about.get("size")
    tags = [str(about[key]).strip('"') for key in _TAGS if about.get(key)]
    times = [f"mtime {_seconds(about[key])}" for key in _TIMES if about.get(key)]
    return Fingerprint(url, size if isinstance(size, int) else None, next(iter((*tags, *times)), None))


def _seconds(time: object) -> str:
    """A time as text: a listing may give seconds where the file alone gives a date."""
    seconds = time.timestamp() if isinstance(time, datetime) else time
    return f"{seconds:.6f}" if isinstance(seconds, float) else str(seconds)
