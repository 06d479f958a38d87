"""From paths to task logs: walk, let every harness find its runs, read them, keep what failed."""

import glob
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_uq.data import TaskLog
from harness_uq.errors import HarnessUqError, LogError
from harness_uq.hookspecs import Harness, Run
from harness_uq.plugins import load_plugins


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and what was not.

    Attributes
    ----------
    logs : the tasks of every run, in the order of the paths, then by time
    failures : (path, message) for paths named by the caller that gave nothing
    warnings : (path, message) for files that look like logs but could not be read
    n_skipped : files met while walking directories that are no logs
    """

    logs: tuple[TaskLog, ...]
    failures: tuple[tuple[str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    n_skipped: int = 0


Progress = Callable[[Sequence[tuple[Harness, Run]]], Iterable[tuple[Harness, Run]]]


def read_logs(
    paths: str | Path | Iterable[str | Path],
    *,
    harnesses: Mapping[str, Harness] | None = None,
    progress: Progress = iter,
    strict: bool = False,
) -> Reading:
    """Read every run under `paths`.

    Parameters
    ----------
    paths : files, directories (walked) or glob patterns
    harnesses : readers by name; the installed ones by default
    progress : wraps the list of runs to be read, for a progress bar
    strict : raise where a path named by the caller gives no log

    Raises
    ------
    LogError : if two harnesses claim the same file, or, where `strict`, for a path that gives no log
    """
    readers = load_plugins().harnesses if harnesses is None else harnesses
    named = [paths] if isinstance(paths, str | Path) else list(paths)
    expanded = {str(name): expand(str(name)) for name in named}
    files = list(dict.fromkeys(file for found in expanded.values() for file in found))
    runs, claimed, warnings = _find(files, readers)
    logs: list[TaskLog] = []
    for harness, run in progress(runs):
        try:
            logs += harness.read(run)
        except HarnessUqError as error:
            warnings += [(run.files[0], str(error))]
            claimed -= set(run.files)
    failures = _failures(expanded, claimed, dict(warnings))
    if strict and failures:
        raise LogError("; ".join(f"{path}: {message}" for path, message in failures))
    named_files = {name for name in expanded if not Path(name).is_dir()}
    reported = {path for path, _ in failures}
    known = claimed | named_files | {path for path, _ in warnings}
    skipped = [file for file in files if file not in known]
    return Reading(tuple(logs), failures, tuple(w for w in warnings if w[0] not in reported), len(skipped))


def find_runs(path: str, harnesses: Mapping[str, Harness]) -> tuple[list[tuple[Harness, Run]], list[tuple[str, str]]]:
    """Runs under one path, with the harness that knows each, and (path, message) of files that look like broken logs.

    Raises
    ------
    LogError : if two harnesses claim the same file
    """
    runs, _, problems = _find(expand(path), harnesses)
    return runs, problems


def expand(name: str) -> list[str]:
    """Files that a file's name, a directory or a glob pattern stands for."""
    path = Path(name)
    if path.is_dir():
        return sorted(str(file) for file in path.rglob("*") if file.is_file())
    if path.exists():
        return [name]
    matches = glob.glob(name, recursive=True)  # noqa: PTH207 -- the pattern may be absolute, which Path.glob refuses
    return sorted(file for match in matches for file in expand(match))


def _find(
    files: Sequence[str], readers: Mapping[str, Harness]
) -> tuple[list[tuple[Harness, Run]], set[str], list[tuple[str, str]]]:
    runs: list[tuple[Harness, Run]] = []
    owner: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    for name, harness in readers.items():
        found = harness.find(files)
        problems += found.problems
        for run in found.runs:
            for file in run.files:
                if owner.setdefault(file, name) != name:
                    raise LogError(f"{file} is claimed by the harnesses {owner[file]!r} and {name!r}")
            runs.append((harness, run))
    order = {file: position for position, file in enumerate(files)}
    runs.sort(key=lambda pair: (str(Path(pair[1].files[0]).parent), pair[1].time or "", order.get(pair[1].files[0], 0)))
    return runs, set(owner), problems


def _failures(
    expanded: Mapping[str, Sequence[str]], claimed: set[str], problems: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    failures = []
    for name, files in expanded.items():
        if not files:
            failures.append((name, _nothing_there(name)))
        elif not claimed.intersection(files):
            known = [problems[file] for file in files if file in problems]
            failures.append((name, known[0] if known else _not_a_log(name, len(files))))
    return tuple(failures)


def _nothing_there(name: str) -> str:
    if Path(name).is_dir():
        return "the directory is empty"
    return "no file matches" if glob.has_magic(name) else "no such file or directory"


def _not_a_log(name: str, n_files: int) -> str:
    path = Path(name)
    if path.is_dir():
        return f"none of the {n_files} files in it is a log of a known harness"
    if path.exists() and not path.stat().st_size:
        return "the file is empty"
    return "not a log of a known harness (results_*.json, samples_*.jsonl, .eval or .json)"
