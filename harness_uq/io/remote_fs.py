"""Remote storage through fsspec: listing, reading by ranges and writing whole objects."""

import errno
import io
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from glob import has_magic
from operator import itemgetter
from typing import IO, TYPE_CHECKING, BinaryIO, TypeAlias, cast

from harness_uq.io.listing_cache import Fingerprint, current_listing
from harness_uq.io.range_reader import END, RangeReader
from harness_uq.io.storage_errors import MissingError, translate_storage_errors
from harness_uq.messages.errors import MissingDependencyError
from harness_uq.messages.redaction import redact, redact_quoting

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem
    from fsspec.spec import AbstractBufferedFile

_EXTRA = "pip install 'harness-uq[remote]'"
_PACKAGES = {
    "s3": ("s3fs", _EXTRA),
    "s3a": ("s3fs", _EXTRA),
    "http": ("aiohttp", _EXTRA),
    "https": ("aiohttp", _EXTRA),
    "gs": ("gcsfs", "pip install gcsfs"),
    "gcs": ("gcsfs", "pip install gcsfs"),
    "hf": ("huggingface_hub", "pip install huggingface_hub"),
}
_TAG_KEYS = ("ETag", "etag", "blob_id", "md5Hash", "generation", "Content-MD5")
_TIME_KEYS = ("mtime", "LastModified", "last_modified", "updated", "created", "Last-Modified")
_BUFFER_SIZE = 1 << 16

_Infos: TypeAlias = Mapping[str, Mapping[str, object]]
"""fsspec's information on each file (name, size, type, tags), by fsspec's path."""


class RemoteFileSystem:
    """The storage behind a URL with this scheme, with a file system of fsspec; methods raise OSError without
    credentials.
    """

    def __init__(self, scheme: str, file_system: "AbstractFileSystem") -> None:
        self._is_http, self._is_s3 = scheme in ("http", "https"), scheme in ("s3", "s3a")
        self._fs = file_system

    def listing(self, url: str) -> Iterator[Fingerprint]:
        """List the files that a file, a prefix or a glob pattern matches, sorted."""
        infos = self._infos(url if self._is_http else url.rstrip("/"))
        for path, info in sorted(infos.items(), key=itemgetter(0)):
            file_url = self._url(path, url)
            yield _fingerprint(file_url, info) if "size" in info else self.fingerprint(file_url)

    def files_in(self, folder: str) -> list[str]:
        """List the files directly in a folder, sorted; HTTP servers list none."""
        if self._is_http:
            return []
        with translate_storage_errors(folder):
            infos = self._fs.ls(folder, detail=True)
        return sorted(self._url(info["name"], folder) for info in infos if info["type"] == "file")

    def fingerprint(self, url: str) -> Fingerprint:
        """Request the size and tag of one file."""
        with translate_storage_errors(url):
            return _fingerprint(url, self._fs.info(url))

    def modified_time(self, url: str) -> float:
        """Request the time of the last change, in seconds since 1970."""
        with translate_storage_errors(url):
            return float(self._fs.modified(url).timestamp())

    def is_file(self, url: str) -> bool:
        """Whether a file exists at this URL."""
        return any(info.get("type") == "file" for info in self._single_info(url).values())

    def open(self, url: str) -> BinaryIO:
        """Open a file for reading by ranges; read it whole if the server does not support ranges."""
        with translate_storage_errors(url):
            file = self._open_listed(url) or self._fs.open(url, "rb", cache_type="none")
            if not file.seekable() or file.size is None:
                with file:
                    return io.BytesIO(file.read())
        return cast("BinaryIO", io.BufferedReader(RangeReader(file, file.size, url), _BUFFER_SIZE))

    def _open_listed(self, url: str) -> "AbstractBufferedFile | None":
        """Open an S3 object that was listed without requesting its size again; S3 then refuses another version."""
        listed = current_listing().files.get(url)
        if not self._is_s3 or listed is None or listed.size is None or listed.tag is None:
            return None
        file = self._fs.open(url, "rb", cache_type="none", size=listed.size)
        etag = f'"{listed.tag}"'
        file.details = {"name": file.path, "size": listed.size, "type": "file", "ETag": etag}
        file.req_kw = file.req_kw | {"IfMatch": etag}
        return file

    def read_bytes(self, url: str) -> bytes:
        """Read a whole file."""
        listed = current_listing().files.get(url)
        if listed is not None and listed.size is not None and listed.size <= END:
            with self.open(url) as file:
                return file.read()
        with translate_storage_errors(url):
            return bytes(self._fs.cat_file(url))

    @contextmanager
    def atomic_writer(self, url: str) -> Iterator[IO[bytes]]:
        """Open a local temporary file that is uploaded if the block ends without an error."""
        if self._is_http:
            raise OSError(errno.EROFS, "a web server is not written to", redact(url))
        with tempfile.NamedTemporaryFile("w+b", prefix="harness-uq-") as file:
            yield file
            file.flush()
            with translate_storage_errors(url):
                self._fs.put_file(file.name, url)

    def remove(self, url: str) -> None:
        """Delete a file."""
        with translate_storage_errors(url):
            self._fs.rm_file(url)

    def _infos(self, url: str) -> _Infos:
        if not has_magic(url.replace("?", "") if self._is_http else url):  # `?` starts the query of a web address
            # on the web only an address with a final slash is a folder; elsewhere `find` accepts both
            return self._single_info(url) if self._is_http and not url.endswith("/") else self._infos_under(url)
        with translate_storage_errors(url):
            matches: _Infos = self._fs.glob(url, detail=True)
        if not matches:
            # fsspec's `glob` suppresses the error if listing is denied or the bucket is missing
            folder = _fixed_part(url)
            with suppress(MissingError), translate_storage_errors(folder):
                self._fs.ls(folder, detail=False)
        return {
            path: info
            for name, match in matches.items()
            for path, info in (self._infos_under(name) if match.get("type") == "directory" else {name: match}).items()
        }

    def _infos_under(self, folder: str) -> _Infos:
        with translate_storage_errors(folder):
            infos: _Infos = self._fs.find(folder, detail=True)
        return {path: info for path, info in infos.items() if info.get("type") != "directory"}

    def _single_info(self, url: str) -> _Infos:
        with suppress(MissingError), translate_storage_errors(url):
            return {url: self._fs.info(url)}
        return {}

    def _url(self, path: str, listed_url: str) -> str:
        """Return the URL of fsspec's `path`, beginning like the URL under which it was listed."""
        root, prefix = self._fs._strip_protocol(listed_url), listed_url.rstrip("/")
        if "://" not in path and prefix.endswith(root):
            return prefix[: len(prefix) - len(root)] + path
        return str(self._fs.unstrip_protocol(path))


def remote_file_system(url: str) -> RemoteFileSystem:
    """The file system for a URL; raises MissingDependencyError if its package is not installed."""
    scheme = url.partition("://")[0].lower()
    package, remedy = _PACKAGES.get(scheme, ("a package that is not installed", _EXTRA))
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingDependencyError(f"{scheme}:// needs fsspec: {_EXTRA}") from None
    try:
        # fsspec's listing cache would hide files that are added or deleted while the process runs
        file_system, _ = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        needs = f"{scheme}:// needs {package}"
        raise MissingDependencyError(f"{needs}: {remedy}" if scheme in _PACKAGES else f"{needs} ({error})") from None
    except ValueError as error:
        raise OSError(errno.EINVAL, redact_quoting(str(error), url), redact(url)) from None
    return RemoteFileSystem(scheme, file_system)


def _fixed_part(pattern: str) -> str:
    """Return the part of a glob pattern before its first component with a wildcard."""
    parts = pattern.split("/")
    first = next(i for i, part in enumerate(parts) if has_magic(part))
    return "/".join(parts[:first])


def _fingerprint(url: str, info: Mapping[str, object]) -> Fingerprint:
    size = info.get("size")
    tags = [str(info[key]).strip('"') for key in _TAG_KEYS if info.get(key)]
    times = [f"mtime {_time_text(info[key])}" for key in _TIME_KEYS if info.get(key)]
    return Fingerprint(url, size if isinstance(size, int) else None, next(iter((*tags, *times)), None))


def _time_text(time: object) -> str:
    """Format a time equally whether fsspec gives it in seconds, as in some listings, or as a date."""
    seconds = time.timestamp() if isinstance(time, datetime) else time
    return f"{seconds:.6f}" if isinstance(seconds, float) else str(seconds)
