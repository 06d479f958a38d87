"""From paths to task logs: walk, let every harness find its runs, read them, keep what failed."""

import glob
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from harness_uq.errors import HarnessUqError, LogError, MissingDependencyError, told
from harness_uq.logs import places
from harness_uq.logs.catalogue import with_catalogue
from harness_uq.logs.data import TaskLog
from harness_uq.logs.places import Fingerprint
from harness_uq.logs.refusals import shown
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.protocols import General, Reader, ReadsStores, Run


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, and what was not.

    Attributes
    ----------
    logs : the tasks of every run, in the order of the paths, then by time
    failures : (path, message) for paths named by the caller that gave nothing, or for the broken logs under them
    warnings : (path, message) for files that look like logs but could not be read, and for tasks without scores
    n_skipped : files met while walking directories that are no logs
    unread : paths among those of `warnings` that are logs, or harnesses, of which nothing was read
    trouble : what else went wrong, such as a worker that died, in words
    """

    logs: tuple[TaskLog, ...]
    failures: tuple[tuple[str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    n_skipped: int = 0
    unread: frozenset[str] = frozenset()
    trouble: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """The files that the names given by a caller stand for.

    Attributes
    ----------
    named : files by name
    """

    named: Mapping[str, Sequence[str]]

    @property
    def all(self) -> list[str]:
        """Every file once, in the order of the names."""
        return list(dict.fromkeys(file for found in self.named.values() for file in found))


@dataclass(frozen=True, slots=True)
class Search:
    """What was found among some files.

    Attributes
    ----------
    runs : with the harness that knows each, by folder, then by time
    claimed : files of these runs
    problems : (path, message) of files that look like logs but are none
    """

    runs: tuple[tuple[Reader, Run], ...]
    claimed: frozenset[str]
    problems: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Unread:
    """What was not read, gathered while reading.

    Attributes
    ----------
    said : (path, message) of all that was not read, and of tasks without scores
    broken : paths among these of which nothing was read
    files : of the runs that gave nothing
    """

    said: list[tuple[str, str]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def read(self, harness: Reader, run: Run, *, need_scores: bool) -> list[TaskLog]:
        """The run's tasks; none where it cannot be read, which is noted."""
        try:
            logs = read_run(harness, run, need_scores=False)
        except Exception as error:
            self.add(run.files[0], _whose(harness, error))
            self.files.update(run.files)
            return []
        return list(self.scored(logs, run.files)) if need_scores else logs

    def scored(self, logs: Sequence[TaskLog], files: Sequence[str]) -> Sequence[TaskLog]:
        """The logs of a run, none where none has a score; that they have none is noted."""
        if logs and not any(log.data for log in logs):
            self.said.append((files[0], _none_scored(logs)))
            self.files.update(files)
            return []
        self.said += [(log.source.path, _no_scores(log)) for log in logs if not log.data]
        return logs

    def add_all(self, other: "Unread") -> None:
        """Take in what another gathered."""
        self.said += other.said
        self.broken |= other.broken
        self.files |= other.files

    def add(self, path: str, message: str) -> None:
        """Note why a file was not read."""
        self.said.append((path, message))
        self.broken.add(path)


Progress = Callable[[Sequence[tuple[Reader, Run]]], Iterable[tuple[Reader, Run]]]

Runs: TypeAlias = "str | Path | TaskLog | Iterable[str | Path | TaskLog]"

_LOGGER = logging.getLogger("harness_uq")
_ORIGINAL = ".before-harness-uq"  # end of the name under which `rescore` keeps what it rewrote


def read_logs(
    paths: str | Path | Iterable[str | Path],
    *,
    harnesses: Mapping[str, Reader] | None = None,
    progress: Progress = iter,
    strict: bool = False,
    need_scores: bool = False,
) -> Reading:
    """Read every run under `paths`.

    Parameters
    ----------
    paths : files, directories (walked) or glob patterns
    harnesses : readers by name; the installed ones by default
    progress : wraps the list of runs to be read, for a progress bar
    strict : raise where a path named by the caller gives no log
    need_scores : a run that holds no scores gives no log, and a task without scores a warning

    Raises
    ------
    LogError : if two harnesses claim the same file, or, where `strict`, for a path that gives no log
    """
    readers = load_plugins().harnesses if harnesses is None else harnesses
    named = [paths] if isinstance(paths, str | Path) else list(paths)
    listing = Listing({str(name): expand(str(name)) for name in named})
    found = search(listing.all, readers)
    logs, unread = list[TaskLog](), unread_of(found)
    for harness, run in progress(found.runs):
        logs += unread.read(harness, run, need_scores=need_scores)
    reading = concluded(listing, logs, found.claimed, unread, readers)
    if strict and reading.failures:
        raise LogError("; ".join(f"{path}: {message}" for path, message in reading.failures))
    return reading


def unread_of(found: Search) -> Unread:
    """What is not to be read of what was found."""
    return Unread(list(found.problems), {path for path, _ in found.problems})


def concluded(
    listing: Listing, logs: Iterable[TaskLog], claimed: Set[str], unread: Unread, readers: Mapping[str, Reader]
) -> Reading:
    """What was read of the files listed; what was not, under a name that gave nothing else, becomes its failure.

    Parameters
    ----------
    claimed : files of the runs that were found
    unread : what was not read of them
    readers : of the harnesses whose logs were looked for, by name
    """
    read = claimed - unread.files
    failures = _failures(listing.named, read, dict(unread.said), readers)
    named_files = {name for name in listing.named if not Path(name).is_dir()}
    reported = {path for path, _ in failures}
    known = read | named_files | {path for path, _ in unread.said}
    skipped = [file for file in listing.all if file not in known and not file.endswith(_ORIGINAL)]
    others = tuple(entry for entry in unread.said if entry[0] not in reported)
    return Reading(tuple(logs), failures, others, len(skipped), frozenset(unread.broken - reported))


def task_logs(runs: Runs, plugins: Plugins, *, need_scores: bool = True) -> list[TaskLog]:
    """Task logs given as such, then those under the paths, with what each harness's catalogue knows of their metrics.

    What cannot be read beside other logs under a path is a warning of the logger `harness_uq`.

    Raises
    ------
    LogError : for a path that gives none
    """
    items = [runs] if isinstance(runs, str | Path | TaskLog) else list(runs)
    paths = [item for item in items if not isinstance(item, TaskLog)]
    read = read_logs(paths, harnesses=plugins.harnesses, strict=True, need_scores=need_scores) if paths else Reading(())
    for path, message in read.warnings:
        if path in read.unread:
            _LOGGER.warning("%s: %s", path, message)
    logs = [*(item for item in items if isinstance(item, TaskLog)), *read.logs]
    known = plugins.catalogues
    return [with_catalogue(log, known[name]) if (name := log.source.harness) in known else log for log in logs]


def read_run(harness: Reader, run: Run, *, need_scores: bool) -> list[TaskLog]:
    """The run's tasks.

    Raises
    ------
    LogError : if it cannot be read, or, where `need_scores`, if none of its tasks has a score
    """
    logs = [_without_secrets(log) for log in harness.read(run)]
    if need_scores and logs and not any(log.data for log in logs):
        raise LogError(_none_scored(logs))
    return logs


def _none_scored(logs: Sequence[TaskLog]) -> str:
    return "; ".join(dict.fromkeys(_no_scores(log) for log in logs))


def _without_secrets(log: TaskLog) -> TaskLog:
    path = shown(log.source.path)
    return log if path == log.source.path else replace(log, source=replace(log.source, path=path))


def _whose(harness: Reader, error: Exception) -> str:
    """What went wrong; of an error that is not ours also in which plugin."""
    return told(error) if isinstance(error, HarnessUqError) else f"the reader of {harness.name} failed: {told(error)}"


def _no_scores(log: TaskLog) -> str:
    return f"task {log.task!r} is left out: {'; '.join(log.warnings) or 'the log holds no scores'}"


def find_runs(path: str, harnesses: Mapping[str, Reader]) -> tuple[list[tuple[Reader, Run]], list[tuple[str, str]]]:
    """Runs under one path, with the harness that knows each, and (path, message) of files that look like broken logs.

    Raises
    ------
    LogError : if two harnesses claim the same file
    """
    found = search(expand(path), harnesses)
    return list(found.runs), list(found.problems)


def expand(name: str) -> list[str]:
    """Regular files that a file, a folder or a pattern stands for; none where a store refuses, see `why_no_run`."""
    with _refused():
        return list(places.find(name))
    return []


def expand_with_sizes(name: str) -> list[Fingerprint]:
    """As `expand`, with what tells whether a file has changed."""
    with _refused():
        return list(places.listing(name))
    return []


def _refused() -> AbstractContextManager[None]:
    return suppress(OSError, MissingDependencyError)


def search(files: Sequence[str], readers: Mapping[str, Reader]) -> Search:
    """Let every harness find its runs among the files.

    Raises
    ------
    LogError : if two harnesses claim the same file
    """
    runs: list[tuple[Reader, Run]] = []
    owner: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    for name, harness in sorted(readers.items(), key=lambda pair: isinstance(pair[1], General)):
        known = {*owner, *(file for file, _ in problems)} if isinstance(harness, General) else set()
        try:
            found = harness.find([file for file in _offered(files, harness) if file not in known])
        except Exception as error:
            problems.append((f"harness {name}", f"it finds none of its runs: {_whose(harness, error)}"))
            continue
        problems += found.problems
        for run in found.runs:
            for file in run.files:
                if owner.setdefault(file, name) != name:
                    raise LogError(f"{file} is claimed by the harnesses {owner[file]!r} and {name!r}")
            runs.append((harness, run))
    order = {file: position for position, file in enumerate(files)}
    runs.sort(key=lambda pair: place_in_order(pair[1].files[0], pair[1].time, order))
    return Search(tuple(runs), frozenset(owner), tuple(dict.fromkeys(problems)))


def place_in_order(path: str, time: str | None, order: Mapping[str, int]) -> tuple[str, str, int]:
    """Where a run stands among others: by the folder of its first file, by time, as listed."""
    return places.folder_of(path), time or "", order.get(path, 0)


def _offered(files: Sequence[str], harness: Reader) -> Sequence[str]:
    """The files that a reader can open."""
    if isinstance(harness, ReadsStores) and harness.reads_stores:
        return files
    return [file for file in files if not places.is_remote(file)]


def _failures(
    expanded: Mapping[str, Sequence[str]],
    claimed: Set[str],
    problems: Mapping[str, str],
    harnesses: Mapping[str, Reader],
) -> tuple[tuple[str, str], ...]:
    failures: dict[str, str] = {}
    for name, files in expanded.items():
        if claimed.isdisjoint(files):
            broken = {file: problems[file] for file in files if file in problems}
            failures |= broken or {name: why_no_run(name, files, harnesses)}
    return tuple(failures.items())


def why_no_run(name: str, files: Sequence[str], harnesses: Mapping[str, Reader]) -> str:
    """Why a path that stands for `files` holds no run of these harnesses."""
    try:
        return _why_no_run(name, files, harnesses)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except MissingDependencyError as error:
        return str(error)


def _why_no_run(name: str, files: Sequence[str], harnesses: Mapping[str, Reader]) -> str:
    known = f"a known harness ({', '.join(sorted(harnesses))})"
    if not files:
        return _nothing_there(name)
    if not places.is_file(name):
        return f"none of its files ({len(files)}) is a log of {known}"
    if not places.size(name):
        return "the file is empty"
    if places.is_remote(name):
        harnesses = {own: harness for own, harness in harnesses.items() if _offered([name], harness)}
        known = f"a harness that reads stores ({', '.join(sorted(harnesses))})"
    reasons = [harness.why_not(name) for harness in harnesses.values() if isinstance(harness, General)]
    return _broken_json(name) or "; ".join(filter(None, reasons)) or f"its content is not that of a log of {known}"


def _nothing_there(name: str) -> str:
    if places.is_remote(name):
        list(places.find(name))  # says why, where it was refused
        return "no file matches" if glob.has_magic(name) else "no such object, and none beneath it"
    path = places.local_path(name)
    if path.is_dir():
        return "the directory is empty"
    if path.exists():
        return "a FIFO, a socket or a device, which is not opened"
    return "no file matches" if glob.has_magic(name) else "no such file or directory"


def _broken_json(name: str) -> str | None:
    """What is wrong with the content of a file that is called `.json`; None where it is JSON."""
    if not places.name_of(name).endswith(".json"):
        return None
    try:
        json.loads(places.read_bytes(name))
    except ValueError as error:
        return f"named like a JSON file, but cut off or no JSON: {error}"
    return None
