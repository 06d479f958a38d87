"""Files that a command writes: tried before the work, then written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """What the system refuses within becomes an error that names `path`.

    Raises
    ------
    HarnessUqError : instead of OSError
    """
    try:
        yield
    except OSError as error:
        raise HarnessUqError(f"{path} cannot be written: {error.strerror or error}") from None


def try_file(path: Path) -> None:
    """Make sure, before long work, that a file can be written there.

    Raises
    ------
    HarnessUqError : if it cannot
    """
    from tempfile import TemporaryFile

    with writing(path):
        if path.is_dir():
            path.open("wb")  # the system's own words for it
        if not _is_device(path):
            TemporaryFile(dir=path.parent).close()


def make_folder(path: Path) -> None:
    """Make a folder, and make sure that files can be written in it.

    Raises
    ------
    HarnessUqError : if it cannot be made or written in
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    try_file(path / "results")


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole, or leave what was there.

    Raises
    ------
    HarnessUqError : if it cannot be written
    """
    with writing(path):
        if _is_device(path):
            path.write_bytes(content)
            return
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_bytes(content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def write_figure(path: Path, figure: "Figure", *, tight: bool = False) -> None:
    """Write a figure in the format of the file's name; equal figures give equal SVG files.

    Parameters
    ----------
    tight : cut to what is drawn, at 150 dots an inch

    Raises
    ------
    HarnessUqError : if it cannot be written
    """
    from io import BytesIO

    from matplotlib import rc_context

    kind, drawn = path.suffix.lower().removeprefix("."), BytesIO()
    with rc_context({"svg.hashsalt": "harness_uq"}):
        figure.savefig(
            drawn,
            format=kind,
            metadata={"Date": None} if kind == "svg" else None,
            dpi=150 if tight else "figure",
            bbox_inches="tight" if tight else None,
        )
    write_file(path, drawn.getvalue())


def _is_device(path: Path) -> bool:
    """Whether the path is a terminal, a pipe or the like, which is written to and never replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()
