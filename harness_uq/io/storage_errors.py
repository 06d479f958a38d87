"""Errors of remote storage as `OSError` with a readable message that contains no credentials."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from harness_uq.messages.errors import HarnessUqError
from harness_uq.messages.redaction import redact, redact_quoting


class MissingError(FileNotFoundError):
    """The object does not exist; its bucket exists, or may exist."""


@contextmanager
def translate_storage_errors(url: str) -> Iterator[None]:
    """Turn any exception of a storage library inside the block into an `OSError` without credentials."""
    try:
        yield
    except HarnessUqError:
        raise
    except Exception as error:
        raise _os_error(error, url) from None


def _os_error(error: Exception, url: str) -> OSError:
    cause, text = error.__cause__, redact_quoting(str(error), url)
    url = redact(url)
    if isinstance(error, FileNotFoundError):
        if isinstance(cause, Exception) and _is_http_failure(cause):
            return _os_error(cause, url)
        if "bucket" in text and "does not exist" in text:
            return FileNotFoundError(errno.ENOENT, "no such bucket", url)
        return MissingError(errno.ENOENT, "no such object", url)
    if isinstance(error, PermissionError) or getattr(error, "status", None) in (401, 403):
        return PermissionError(errno.EACCES, "access denied", url)
    if type(error).__name__ == "FileExpired":
        return OSError(errno.EBUSY, "changed while it was read", url)
    if isinstance(error, NotImplementedError):
        return OSError(errno.ENOSYS, "its store cannot do that", url)
    return OSError(errno.EIO, f"its store failed: {text or type(error).__name__}", url)


def _is_http_failure(cause: Exception) -> bool:
    """Whether fsspec's HTTP file system reported a status other than 404, or a lost connection, as a missing file."""
    if isinstance(cause, FileNotFoundError) or hasattr(cause, "response"):
        return False
    return isinstance(cause, OSError) or getattr(cause, "status", 404) != 404
