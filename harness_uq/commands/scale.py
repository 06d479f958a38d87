"""Arguments and steps of commands that read many logs: who does the work, how far it is, what went wrong."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked

if TYPE_CHECKING:
    from harness_uq.estimating.analysis import Options
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.reading import Reading
    from harness_uq.scaling.engine import Engine
    from harness_uq.scaling.scan import Progress, Scan


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Who reads the logs."""
    group = parser.add_argument_group("many logs")
    group.add_argument(
        "--jobs", type=_arguments.count, metavar="N", help="processes that read logs side by side (default: one)"
    )
    group.add_argument(
        "--engine",
        choices=["joblib", "dask"],
        default="joblib",
        help="joblib: processes of this machine; dask: a cluster (default: %(default)s)",
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="with --engine dask: of the cluster (default: one started here)"
    )
    group.add_argument(
        "--store",
        metavar="DIR",
        help="folder or URL that keeps what logs gave: one that has not changed is not read again",
    )


def scan(
    args: argparse.Namespace,
    paths: Sequence[str],
    plugins: "Plugins",
    options: "Options | None" = None,
    *,
    keeps_logs: bool = False,
    need_scores: bool = True,
) -> "Scan":
    """Read the logs, estimate them where `options` are given, with a progress bar on a terminal."""
    from harness_uq.scaling.scan import scan as scan_logs

    with _progress() as tell:
        return scan_logs(
            paths,
            options,
            keeps_logs=keeps_logs,
            need_scores=need_scores,
            engine=_engine(args),
            store=args.store,
            plugins=plugins,
            progress=tell,
        )


def read(args: argparse.Namespace, paths: Sequence[str], plugins: "Plugins", *, need_scores: bool = True) -> "Reading":
    """The task logs, whole: scores and codes, no texts."""
    return scan(args, paths, plugins, keeps_logs=True, need_scores=need_scores).reading


def scan_named(args: argparse.Namespace, argument: str, plugins: "Plugins", options: "Options | None" = None) -> "Scan":
    """Read the runs of one system, from `PATH` or from `NAME=PATH`, which calls the system NAME."""
    name, path = named(argument)
    found = scan(args, [path], plugins, options, keeps_logs=True)
    return found if name is None else found.renamed(name)


def scan_all_named(
    args: argparse.Namespace, arguments: Sequence[str], plugins: "Plugins", options: "Options | None" = None
) -> "list[Scan]":
    """Read `PATH` arguments together, and each `NAME=PATH` by itself."""
    plain = [text for text in arguments if named(text)[0] is None]
    together = [scan(args, plain, plugins, options, keeps_logs=True)] if plain else []
    return [*together, *(scan_named(args, text, plugins, options) for text in arguments if text not in plain)]


def named(argument: str) -> tuple[str | None, str]:
    """NAME and PATH of an argument `NAME=PATH`; no name of any other, which may be a path that holds an equals sign."""
    from os.path import exists

    name, equals, path = argument.partition("=")
    is_named = name and equals and "://" not in name and not exists(argument)  # noqa: PTH110 -- asks of any text
    return (name, path) if is_named else (None, argument)


def _engine(args: argparse.Namespace) -> "Engine":
    """The engine that the arguments name.

    Raises
    ------
    UsageError : if a scheduler is named and no cluster is asked for
    """
    from harness_uq.scaling.engine import Engine

    if args.scheduler and args.engine != "dask":
        raise _asked.UsageError("--scheduler goes with --engine dask")
    return Engine(args.engine, args.jobs, args.scheduler)


@contextmanager
def _progress() -> "Iterator[Callable[[Progress], None]]":
    """What is called as logs get done; draws a bar on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.fields[logs]}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        bar = drawn.add_task("reading", total=None, logs="Reading")

        def tell(at: "Progress") -> None:
            said = f"{at.logs:,} of {at.n_logs:,} logs"
            drawn.update(bar, completed=at.n_bytes, total=at.all_bytes, logs=said)

        yield tell
