"""Files that a command writes: tried before the work, then written whole or not at all."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate
    from harness_uq.results.ranking import Ranking


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


def try_place(place: str) -> None:
    """As `try_file`, of a path or a URL, whose store is asked whether it is there.

    Raises
    ------
    HarnessUqError : if it cannot be written, or the store refuses
    """
    from harness_uq.logs.places import is_file, is_remote

    if is_remote(place):
        with writing(place):
            is_file(place)
    else:
        try_file(Path(place))


def write_place(place: str, content: bytes) -> None:
    """As `write_file`, to a path or a URL.

    Raises
    ------
    HarnessUqError : if it cannot be written
    """
    from harness_uq.logs.places import is_remote, write_whole

    if is_remote(place):
        with writing(place):
            write_whole(place, content)
    else:
        write_file(Path(place), content)


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


def add_plot(parser: argparse.ArgumentParser, what: str) -> None:
    """`--plot FILE`, which draws `what`."""
    parser.add_argument(
        "--plot",
        type=_arguments.figure,
        metavar="FILE",
        help=f"draw {what} into FILE (png, svg or pdf; needs matplotlib)",
    )


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


def try_plot(args: argparse.Namespace) -> None:
    """Make sure, before the work, that `--plot` can be written."""
    if args.plot:
        try_file(args.plot)


def draw_forest(
    args: argparse.Namespace, results: "Sequence[Estimate] | Sequence[Comparison] | Sequence[Ranking]"
) -> None:
    """Draw results with their intervals where `--plot` asks for it."""
    if args.plot:
        from harness_uq.plots import forest

        write_figure(args.plot, forest(results))
