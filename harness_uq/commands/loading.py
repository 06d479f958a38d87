"""Reading the logs that are named on a command line, and reporting what could not be read."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands import console as _console
from harness_uq.commands import ignored_messages as _ignored_messages
from harness_uq.commands.parser import CommandParser
from harness_uq.commands.progress import progress_bar
from harness_uq.errors import UsageError

if TYPE_CHECKING:
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.readers import Reading
    from harness_uq.runner.engine import Engine
    from harness_uq.runner.pipeline import Scan


def add_engine(parser: CommandParser) -> None:
    """Add the options for many logs."""
    scaling = parser.groups["Scaling"]
    scaling.add_argument(
        "--jobs", type=_argument_types.count, metavar="N", help="Read logs with N parallel processes (default: 1)"
    )
    scaling.add_argument(
        "--engine",
        choices=["joblib", "dask"],
        default="joblib",
        help="Read the logs on this machine (joblib) or on a Dask cluster (dask) (default: %(default)s)",
    )
    scaling.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Use the Dask scheduler at this address (default: start a local scheduler)",
    )
    scaling.add_argument(
        "--store",
        metavar="DIR",
        help="Store results in the folder or URL DIR, so that unchanged logs need not be read again",
    )


def scan_paths(
    args: argparse.Namespace,
    paths: Sequence[str],
    plugins: "Plugins",
    options: "Options | None" = None,
    *,
    full_logs: bool = False,
    need_scores: bool = True,
) -> "Scan":
    """Read logs with a progress bar, and estimate their scores if `options` are given."""
    from harness_uq.runner.pipeline import scan

    with progress_bar("Reading") as update:
        return scan(
            paths,
            options,
            full_logs=full_logs,
            need_scores=need_scores,
            engine=_engine(args),
            store=args.store,
            plugins=plugins,
            # the length of the bar is proportional to the bytes that have been read
            progress=lambda at: update(at.n_bytes, at.all_bytes, f"{at.logs:,} of {at.n_logs:,} logs"),
        )


def read(args: argparse.Namespace, paths: Sequence[str], plugins: "Plugins", *, need_scores: bool = True) -> "Reading":
    """Read complete task logs: scores and codes, no texts."""
    return scan_paths(args, paths, plugins, full_logs=True, need_scores=need_scores).reading


def scan_named(args: argparse.Namespace, argument: str, plugins: "Plugins", options: "Options | None" = None) -> "Scan":
    """Read the runs of one system from `PATH`, or from `NAME=PATH`, which names the system."""
    name, path = parse_named_path(argument)
    result = scan_paths(args, [path], plugins, options, full_logs=True)
    return result if name is None else result.renamed(name)


def scan_all_named(
    args: argparse.Namespace, arguments: Sequence[str], plugins: "Plugins", options: "Options | None" = None
) -> "list[Scan]":
    """Read all `PATH` arguments together, and each `NAME=PATH` separately."""
    unnamed = [argument for argument in arguments if parse_named_path(argument)[0] is None]
    scans = [scan_paths(args, unnamed, plugins, options, full_logs=True)] if unnamed else []
    named = [argument for argument in arguments if argument not in unnamed]
    return [*scans, *(scan_named(args, argument, plugins, options) for argument in named)]


def read_runs_or_store(args: argparse.Namespace, argument: str, plugins: "Plugins") -> "Reading":
    """Read the runs or the store `PATH`, or `NAME=PATH`, which names the system.

    Raises
    ------
    HarnessUqError : if a store cannot be read
    """
    from harness_uq.plugins.readers import Reading
    from harness_uq.store.read import is_store, stored_logs

    name, path = parse_named_path(argument)
    if not is_store(path):
        return scan_named(args, argument, plugins).reading
    return Reading(tuple(log if name is None else replace(log, system=name) for log in stored_logs(path)))


def parse_named_path(argument: str) -> tuple[str | None, str]:
    """Split `NAME=PATH`; the name is None for a path, even if the path contains an equals sign."""
    from os.path import exists

    name, equals, path = argument.partition("=")
    is_named = name and equals and "://" not in name and not exists(argument)  # noqa: PTH110 -- Path rejects some texts
    return (name, path) if is_named else (None, argument)


def clear_leftovers(paths: Sequence[str]) -> None:
    """Delete temporary files that killed processes left beside or under these paths, and name them."""
    from glob import glob

    from harness_uq.io.atomic_write import remove_temporary_files
    from harness_uq.io.paths import is_remote, local_path

    local_paths = [str(local_path(path)) for path in paths if not is_remote(path)]
    matches = [match for path in local_paths for match in (glob(path, recursive=True) or [path])]  # noqa: PTH207
    for file in remove_temporary_files(matches):
        _console.print_error(f"removed {file}, which a killed process had not finished")


def report_read_errors(*readings: "Reading") -> int:
    """Print what could not be read on standard error; code 1 if a path was not read, 2 if a column is missing."""
    return max(map(_report_read_errors, readings))


def _report_read_errors(reading: "Reading") -> int:
    for path, message in _ignored_messages.marked(reading.warnings):
        if message.is_ignored and path not in reading.unread:
            continue
        severity = "error" if path in reading.unread else "warning"
        _console.print_error(f"{severity}: {path}: {message.text} ({message.code})")
    for path, message in reading.failures:
        _console.print_message(message, path)
    for message in reading.trouble:
        _console.print_message(message)
    if n := reading.n_skipped:
        print(f"{n} file{'s' if n > 1 else ''} skipped: no logs of a known harness", file=sys.stderr)
    if any(message.code in _console.WRONG_ARGUMENTS for _, message in reading.failures):
        return 2
    return 1 if reading.failures or reading.unread or reading.trouble else 0


def reading_errors(*readings: "Reading") -> "list[Mapping[str, object]]":
    """Return what could not be read, for JSON output."""
    messages = [one for reading in readings for one in (*reading.failures, *reading.warnings)]
    return [{"path": path, **message.to_dict()} for path, message in _ignored_messages.marked(messages)]


def _engine(args: argparse.Namespace) -> "Engine":
    """Choose the engine that the options name.

    Raises
    ------
    UsageError
        If a scheduler is given without `--engine dask`.
    """
    from harness_uq.runner.engine import Engine

    if args.scheduler and args.engine != "dask":
        raise UsageError("--scheduler requires --engine dask.")
    return Engine(args.engine, args.jobs, args.scheduler)
