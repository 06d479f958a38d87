"""Writers side by side: files not whole yet are locked, so that what a killed one left is known and removed."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be deleted
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".harness-uq"
_PATTERN = f".*{SUFFIX}"


@contextmanager
def unfinished(folder: Path) -> Iterator[IO[bytes]]:
    """A new file in `folder`, named `.….harness-uq`, that no `remove_leftovers` touches until the block ends.

    The block renames it once it is whole; otherwise it is deleted.

    Raises
    ------
    OSError : if the folder cannot be written to
    """
    file = _locked(folder)
    try:
        with file:
            yield file
    finally:
        Path(file.name).unlink(missing_ok=True)


@contextmanager
def replacing(target: Path, *, like: Path | None = None, keeps_time: bool = False) -> Iterator[IO[bytes]]:
    """A file that takes the name of `target`, on the disk and whole, where the block ends without an error.

    Parameters
    ----------
    like : a file whose permissions it gets; without one they are those of any new file
    keeps_time : give it that file's times, too

    Raises
    ------
    OSError : if it cannot be written
    """
    with unfinished(target.parent) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        if like is None:
            os.umask(mask := os.umask(0))  # which cannot be asked for without setting it
            Path(file.name).chmod(0o666 & ~mask)
        else:
            (shutil.copystat if keeps_time else shutil.copymode)(like, file.name)
        Path(file.name).replace(target)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While the block runs, no other block of this kind does in the same folder, in whatever process.

    Raises
    ------
    OSError : if the folder cannot be read
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _locked(folder: Path) -> IO[bytes]:
    """A new file and its lock: where another process took it for a leftover before it was locked, another one."""
    while True:
        file = tempfile.NamedTemporaryFile("w+b", dir=folder, prefix=".", suffix=SUFFIX, delete=False)  # noqa: SIM115
        _lock(file.fileno())
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def remove_leftovers(paths: Iterable[str | Path]) -> list[str]:
    """Delete the unfinished files beside or beneath these paths that no living process writes; those deleted.

    Parameters
    ----------
    paths : files, beside which is looked, and directories, which are walked

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     leftover = Path(folder, ".abc.harness-uq")
    ...     leftover.touch()
    ...     with unfinished(Path(folder)) as file:
    ...         remove_leftovers([folder]) == [str(leftover)]
    True
    """
    named = list(map(Path, paths))
    beneath = (file for folder in dict.fromkeys(named) for file in folder.rglob(_PATTERN) if folder.is_dir())
    beside = (file for folder in dict.fromkeys(path.parent for path in named) for file in folder.glob(_PATTERN))
    return [str(file) for file in sorted({*beneath, *beside}) if _is_removed(file)]


def _is_removed(path: Path) -> bool:
    """Whether nobody held its lock and it could be deleted."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except OSError:
        return False
    return True
