"""Reading logs for a command, and saying what of them could not be read."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import saying as _saying

if TYPE_CHECKING:
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.protocols import Reader, Run
    from harness_uq.plugins.reading import Reading


def clear_leftovers(paths: Sequence[str]) -> None:
    """Delete, and name, what a killed process of ours left unfinished beside or beneath these paths."""
    from glob import glob

    from harness_uq.logs.leftovers import remove_leftovers
    from harness_uq.logs.places import is_remote, local_path

    own = [str(local_path(path)) for path in paths if not is_remote(path)]
    named = [match for path in own for match in (glob(path, recursive=True) or [path])]  # noqa: PTH207
    for leftover in remove_leftovers(named):
        print(f"removed {leftover}, which a killed process had not finished", file=sys.stderr)


def read(paths: Sequence[str], plugins: "Plugins", *, need_scores: bool = True) -> "Reading":
    """Read the logs, with a progress bar on a terminal."""
    from harness_uq.plugins.reading import read_logs

    return read_logs(paths, harnesses=plugins.harnesses, progress=progress, need_scores=need_scores)


def say_reading(reading: "Reading", plugins: "Plugins") -> int:
    """Say on standard error what could not be read; exit code 1 where a log, or a path named by the user, was not."""
    for warning in plugins.warnings:
        _saying.complain(f"warning: {warning}")
    for path, message in reading.warnings:
        _saying.complain(f"{'error' if path in reading.unread else 'warning'}: {path}: {message}")
    for path, message in reading.failures:
        _saying.complain(f"error: {path}: {message}")
    for sentence in reading.trouble:
        _saying.complain(f"error: {sentence}")
    if n := reading.n_skipped:
        print(f"{n} file{'s' if n > 1 else ''} skipped: no logs of a known harness", file=sys.stderr)
    return 1 if reading.failures or reading.unread or reading.trouble else 0


def reading_errors(reading: "Reading") -> list[Mapping[str, str]]:
    """What could not be read, for the JSON form."""
    return [{"path": path, "message": message} for path, message in (*reading.failures, *reading.warnings)]


def progress(runs: "Sequence[tuple[Reader, Run]]") -> "Iterable[tuple[Reader, Run]]":
    """The runs, with a progress bar on a terminal."""
    if not sys.stderr.isatty():
        return runs
    from rich.console import Console
    from rich.progress import track

    return track(runs, description="Reading", console=Console(stderr=True), transient=True)
