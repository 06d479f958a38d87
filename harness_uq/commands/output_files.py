"""Files that a command writes: checked before the work, and written atomically."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def reporting_write_errors(path: Path | str) -> Iterator[None]:
    """Convert an OSError of the block into an error that names `path`.

    Raises
    ------
    HarnessUqError : instead of OSError
    """
    try:
        yield
    except OSError as error:
        raise HarnessUqError(f"Cannot write {path}: {error.strerror or error}") from None


def try_file(path: Path) -> None:
    """Check before long work that the file can be written.

    Raises
    ------
    HarnessUqError : if it cannot
    """
    from tempfile import TemporaryFile

    with reporting_write_errors(path):
        if path.is_dir():
            path.open("wb")  # raises the system's error
        if not _is_stream(path):
            TemporaryFile(dir=path.parent).close()


def try_place(place: str) -> None:
    """Like `try_file`, for a path or a URL.

    Raises
    ------
    HarnessUqError : if the file cannot be written, or the storage denies access
    """
    from harness_uq.io.paths import is_file, is_remote

    if is_remote(place):
        with reporting_write_errors(place):
            is_file(place)
    else:
        try_file(Path(place))


def write_place(place: str, content: bytes) -> None:
    """Like `write_file`, for a path or a URL.

    Raises
    ------
    HarnessUqError : if it cannot be written
    """
    from harness_uq.io.paths import is_remote, write_bytes

    if is_remote(place):
        with reporting_write_errors(place):
            write_bytes(place, content)
    else:
        write_file(Path(place), content)


def prepare_folder(path: Path) -> None:
    """Create the folder, and check that files can be written in it.

    Raises
    ------
    HarnessUqError : if the folder cannot be created or written to
    """
    with reporting_write_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    try_file(path / "results")


def write_file(path: Path, content: bytes) -> None:
    """Write the file atomically: on failure, the previous content remains.

    A link at `path` is replaced by the file; what it points to is not changed. A device, a pipe or an open file such as
    ``/dev/stdout`` is written to instead, after what was printed before.

    Raises
    ------
    HarnessUqError : if it cannot be written
    """
    from harness_uq.io.atomic_write import atomic_replace

    with reporting_write_errors(path):
        if _is_stream(path):
            sys.stdout.flush()
            with path.open("ab") as stream:
                stream.write(content)
            return
        with atomic_replace(path) as file:
            file.write(content)


def _is_stream(path: Path) -> bool:
    """Whether the path is a terminal, a pipe or similar, or a link to an open file, such as ``/dev/stdout``."""
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    return is_special or (path.is_symlink() and path.readlink().is_relative_to("/proc"))


def add_plot(parser: CommandParser, what: str) -> None:
    """`--plot FILE`, which draws `what`."""
    parser.groups["Output"].add_argument(
        "--plot",
        type=_argument_types.figure,
        metavar="FILE",
        help=f"Write a plot of {what} to a PNG, SVG or PDF file (requires matplotlib)",
    )


def write_figure(path: Path, figure: "Figure", *, tight: bool = False) -> None:
    """Write a figure in the format of the file name; equal figures give equal SVG files.

    Parameters
    ----------
    tight : crop to the drawing, at 150 dots per inch

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


def try_plot(args: argparse.Namespace) -> None:
    """Check before the work that the file of `--plot` can be written."""
    if args.plot:
        try_file(args.plot)


def draw_results(args: argparse.Namespace, *lists: "Sequence[object]") -> None:
    """Draw the results of these lists, those over all tasks first, if `--plot` is given.

    Without results, there is no figure; the command then reports why.
    """
    shown = [result for results in lists for result in results]
    if args.plot and shown:
        from harness_uq.plots import figure_of

        write_figure(args.plot, figure_of(shown))
