"""What stores refuse, in words that hold no credentials."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from harness_uq.errors import HarnessUqError

_SECRETS = re.compile(r"(?<=://)[^/@\s]+@|(?<=\?)[^\s'\")]+")


class MissingError(FileNotFoundError):
    """There is no such object, in a bucket that there is or may be."""


def shown(text: str) -> str:
    """A place, or a message that names one, without the signature or password that a URL may carry.

    >>> shown("https://me:secret@host/run.eval?X-Amz-Signature=1f")
    'https://host/run.eval?…'
    """
    return _SECRETS.sub(lambda found: "" if found[0].endswith("@") else "…", text) if "://" in text else text


@contextmanager
def refusals(place: str) -> Iterator[None]:
    """What a store refuses within becomes an `OSError` with words for `strerror`, and no credentials in them.

    Raises
    ------
    OSError : instead of whatever the libraries of the store raise
    """
    try:
        yield
    except HarnessUqError:
        raise
    except Exception as error:
        raise _in_words(error, shown(place)) from None


def _in_words(error: Exception, place: str) -> OSError:
    cause, said = error.__cause__, shown(str(error))
    if isinstance(error, FileNotFoundError):
        if isinstance(cause, Exception) and _is_of_the_web(cause):
            return _in_words(cause, place)
        if "bucket" in said and "does not exist" in said:
            return FileNotFoundError(errno.ENOENT, "no such bucket", place)
        return MissingError(errno.ENOENT, "no such object", place)
    if isinstance(error, PermissionError) or getattr(error, "status", None) in (401, 403):
        return PermissionError(errno.EACCES, "access denied", place)
    if type(error).__name__ == "FileExpired":
        return OSError(errno.EBUSY, "changed while it was read", place)
    if isinstance(error, NotImplementedError):
        return OSError(errno.ENOSYS, "its store cannot do that", place)
    return OSError(errno.EIO, f"its store failed: {said or type(error).__name__}", place)


def _is_of_the_web(cause: Exception) -> bool:
    """Whether something else is behind what the web's file system calls missing: a status, or no connection."""
    if isinstance(cause, FileNotFoundError) or hasattr(cause, "response"):
        return False
    return isinstance(cause, OSError) or getattr(cause, "status", 404) != 404
