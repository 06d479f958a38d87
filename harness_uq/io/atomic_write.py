"""Files that appear complete or not at all.

Content is written to a temporary file beside the target, which then takes the target's name. The temporary file is
locked while its process lives. So `remove_temporary_files` can recognize and delete what a killed process left behind.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from harness_uq.io.file_locks import lock, lock_or_fail

SUFFIX = ".harness-uq"
_PATTERN = f".*{SUFFIX}"


@contextmanager
def temporary_file(folder: Path) -> Iterator[IO[bytes]]:
    """Open a new file in `folder`, named `.….harness-uq`, and delete it at the end of the block unless it was renamed.

    While the block runs, `remove_temporary_files` leaves the file alone.

    Raises
    ------
    OSError : if the folder is not writable
    """
    while True:
        file = tempfile.NamedTemporaryFile("w+b", dir=folder, prefix=".", suffix=SUFFIX, delete=False)  # noqa: SIM115
        lock(file.fileno())
        if os.fstat(file.fileno()).st_nlink:
            break
        file.close()  # another process deleted it before it was locked
    try:
        with file:
            yield file
    finally:
        Path(file.name).unlink(missing_ok=True)


@contextmanager
def atomic_replace(target: Path, *, like: Path | None = None, keeps_time: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `target` if the block ends without an error.

    Its content is on the disk before it takes the name. Its permissions, and with `keeps_time` its modification time,
    are those of `like`, or by default those of any newly created file.
    """
    with temporary_file(target.parent) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        if like is None:
            os.umask(mask := os.umask(0))  # the only way to read the mask is to set it
            Path(file.name).chmod(0o666 & ~mask)
        else:
            (shutil.copystat if keeps_time else shutil.copymode)(like, file.name)
        Path(file.name).replace(target)


def remove_temporary_files(paths: Iterable[str | Path]) -> list[str]:
    """Delete temporary files that killed processes left beside or under these paths; return the deleted files, sorted.

    The folders of files are searched, and folders with all their subfolders. Files that a running process is writing
    are not deleted.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     left_behind = Path(folder, ".abc.harness-uq")
    ...     left_behind.touch()
    ...     with temporary_file(Path(folder)) as file:
    ...         remove_temporary_files([folder]) == [str(left_behind)]
    True
    """
    candidates = set[Path]()
    for path in dict.fromkeys(map(Path, paths)):
        candidates.update(path.parent.glob(_PATTERN))
        if path.is_dir():
            candidates.update(path.rglob(_PATTERN))
    return [str(path) for path in sorted(candidates) if _remove_unlocked(path)]


def _remove_unlocked(path: Path) -> bool:
    """Delete a file unless a process holds its lock; whether it was deleted."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            lock_or_fail(file.fileno())
            path.unlink()
    except OSError:
        return False
    return True
