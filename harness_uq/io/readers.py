"""Reading the logs of the runs under given paths, or of result objects, and collecting the errors."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TypeAlias, cast, overload

from harness_uq.data.catalogue import with_catalogue
from harness_uq.data.factors import LOGGED_SYSTEM
from harness_uq.data.log_filter import Selection
from harness_uq.data.names import with_bounded_names
from harness_uq.data.resources import Prices, ResourceOptions
from harness_uq.data.selection import LogFilter, copied_logs, matches, superseded_attempts
from harness_uq.data.task_log import Source, TaskLog, with_resource_metrics
from harness_uq.io import paths as io_paths
from harness_uq.io.plugins.manager import Plugins, installed_readers
from harness_uq.io.plugins.protocols import FallbackReader, Reader, ReadsColumns, ReadsObjects, ReadsResources, Run
from harness_uq.io.run_search import Listing, expand_path, failure_message, search, why_no_run
from harness_uq.messages.catalogue.reading import (
    COPIED_LOG,
    EARLIER_ATTEMPT,
    FILE_CLAIMED_TWICE,
    NO_LOG_IN_FOLDER,
    PATHS_UNREADABLE,
    TASK_LEFT_OUT,
    TASKS_WITHOUT_SCORES,
)
from harness_uq.messages.control_characters import escape_control
from harness_uq.messages.errors import LogError
from harness_uq.messages.message import Message, distinct
from harness_uq.messages.redaction import DistinctNames, RedactedText, redact, redact_value


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Sequence[TaskLog]):
    """The task logs under some paths, a sequence, with everything that could not be read.

    Attributes
    ----------
    logs : tasks of all runs, in the order of the paths, then by time
    failures : (path, message) for each given path without a readable log, or for the damaged logs under it
    warnings : (path, message) for files that look like logs but could not be read, and for tasks without scores
    skipped : files in folders that are not logs
    unread : paths in `warnings` of damaged logs, and readers that failed
    trouble : other errors, such as a worker that died
    """

    logs: tuple[TaskLog, ...]
    failures: tuple[tuple[str, Message], ...] = ()
    warnings: tuple[tuple[str, Message], ...] = ()
    skipped: tuple[str, ...] = ()
    unread: frozenset[str] = frozenset()
    trouble: tuple[Message, ...] = ()

    @overload
    def __getitem__(self, index: int) -> TaskLog: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TaskLog, ...]: ...

    def __getitem__(self, index: int | slice) -> TaskLog | tuple[TaskLog, ...]:
        return self.logs[index]

    def __len__(self) -> int:
        return len(self.logs)

    def __repr__(self) -> str:
        systems = {log.system for log in self.logs}
        return f"<Reading of {len(self)} task logs of {len(systems)} systems, {len(self.failures)} failures>"

    @property
    def n_skipped(self) -> int:
        """Number of files in folders that are not logs."""
        return len(self.skipped)

    def renamed(self, system: str) -> "Reading":
        """A copy with another name of the system; if one of several systems has this name, only its logs.

        The settings of each renamed log keep the name that the log contains.
        """
        own = tuple(log for log in self.logs if log.system == system)
        return replace(self, logs=own or tuple(_renamed(log, system) for log in self.logs))

    def of_tasks(self, patterns: Sequence[str]) -> "Reading":
        """A copy without warnings about tasks without scores that are not among those that the patterns select."""
        selected = {log.task for log in LogFilter(tuple(patterns)).of(self.logs)}

        def is_about(message: Message) -> bool:
            tasks = message.params.get("tasks", (message.params.get("task"),))
            return any(task in selected or matches(str(task), patterns) for task in cast("Sequence[object]", tasks))

        unscored = (TASK_LEFT_OUT.code, TASKS_WITHOUT_SCORES.code)
        kept = (one for one in self.warnings if one[1].code not in unscored or is_about(one[1]))
        return replace(self, warnings=tuple(kept))

    def with_each_run_once(self) -> "Reading":
        """A copy without earlier attempts at a run that another log continues, and without copies of a log.

        There is a warning for each log that is left out.
        """
        superseded = superseded_attempts(log.source for log in self.logs)
        copies = copied_logs(log.source for log in self.logs if log.source not in superseded)
        warnings = (
            *(
                (log.path, EARLIER_ATTEMPT(continued_in=last.path, n_trials=_n_trials(log)))
                for log, last in superseded.items()
            ),
            *((log.path, COPIED_LOG(kept=kept.path, n_trials=_n_trials(log))) for log, kept in copies.items()),
        )
        remaining = tuple(log for log in self.logs if log.source not in superseded and log.source not in copies)
        return replace(self, logs=remaining, warnings=(*self.warnings, *warnings))

    def joined(self, other: "Reading") -> "Reading":
        """The logs and errors of both."""
        return Reading(
            logs=self.logs + other.logs,
            failures=self.failures + other.failures,
            warnings=self.warnings + other.warnings,
            skipped=self.skipped + other.skipped,
            unread=self.unread | other.unread,
            trouble=self.trouble + other.trouble,
        )


def _renamed(log: TaskLog, system: str) -> TaskLog:
    is_file_name = Path(log.source.path).name.startswith(f"{log.system}.")  # of tables without a system
    if is_file_name:
        return replace(log, system=system)
    settings = {**log.facts.settings, LOGGED_SYSTEM: str(log.system)}
    return replace(log, system=system, facts=replace(log.facts, settings=settings))


@dataclass(slots=True)
class ReadErrors:
    """Errors that are collected while runs are read."""

    messages: list[tuple[str, Message]] = field(default_factory=list)  # by path, of files and of tasks without scores
    failed_paths: set[str] = field(default_factory=set)  # paths in `messages` of which nothing was read
    failed_files: set[str] = field(default_factory=set)  # all files of the runs without task logs

    def read(self, reader: Reader, run: Run, *, need_scores: bool) -> list[TaskLog]:
        """The tasks of a run; if it cannot be read, none, and the error is recorded."""
        try:
            logs = _checked(reader, reader.read(run), need_scores=False)
        except Exception as error:
            self.record(run.files[0], failure_message(reader, error))
            self.failed_files.update(run.files)
            return []
        return list(self.without_unscored_run(logs, run.files)) if need_scores else logs

    def without_unscored_run(self, logs: Sequence[TaskLog], files: Sequence[str]) -> Sequence[TaskLog]:
        """The tasks of a run; none if no task has a score. Tasks without scores are recorded."""
        if logs and not any(log.data for log in logs):
            self.messages.append((files[0], _unscored_run(logs)))
            self.failed_files.update(files)
            return []
        self.messages += [(log.source.path, _unscored_task(log)) for log in logs if not log.data]
        return logs

    def record(self, path: str, message: Message) -> None:
        """Record why a file could not be read."""
        self.messages.append((path, message))
        self.failed_paths.add(path)

    def merge(self, other: "ReadErrors") -> None:
        """Add the errors of another collection."""
        self.messages += other.messages
        self.failed_paths |= other.failed_paths
        self.failed_files |= other.failed_files


# The last member covers lists of runs, mappings from names to runs, and the objects that readers accept, which are no
# plain lists or tuples. Results of Inspect AI and data frames are iterable; any other object can be passed in a list.
Runs: TypeAlias = "str | Path | TaskLog | Iterable[object]"


@dataclass(frozen=True, slots=True)
class ResultObject:
    """A result in memory and the reader that accepts it."""

    reader: ReadsObjects
    result: object

    @property
    def label(self) -> str:
        """Name of the object in messages."""
        return _type_name(self.result)


@dataclass(frozen=True, slots=True)
class GivenRuns:
    """The runs that a caller passes, without a name or under one name: paths and patterns, and results in memory."""

    paths: list[str] = field(default_factory=list)
    results: list[TaskLog | ResultObject] = field(default_factory=list)


Progress = Callable[[Sequence[tuple[Reader, Run]]], Iterable[tuple[Reader, Run]]]

_LOGGER = logging.getLogger("harness_uq")
_DATA_SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".eval")
_MOST_EXPLAINED = 20
_MOST_NAMED = 3
_MOST_EXPLAINED_BYTES = 64 << 20
_ORIGINAL = ".before-harness-uq"  # suffix of the originals that `rescore --in-place` keeps


def read_logs(
    runs: Runs,
    *,
    harnesses: Mapping[str, Reader] | None = None,
    progress: Progress = iter,
    strict: bool = False,
    need_scores: bool = False,
    task: str | Sequence[str] = (),
    model: str | Sequence[str] = (),
) -> Reading:
    """Read runs from files or from results in memory.

    Parameters
    ----------
    runs : files, folders (searched recursively) or glob patterns; results in memory: logs of Inspect AI, dictionaries
        returned by `lm_eval.simple_evaluate`, data frames and task logs; lists of these, or mappings from names of
        systems to them
    harnesses : readers by name; None for the installed ones
    progress : wraps the list of runs, for a progress bar
    strict : raise an error if a path contains no readable log
    need_scores : omit runs without scores, and warn about tasks without scores
    task, model : names or patterns of the tasks and systems to return; all by default

    Returns
    -------
    The task logs, a sequence that `estimate`, `compare`, `rank` and other functions accept, with what could not be
    read: `failures`, `warnings` and `skipped`. The scores of a log are in its attribute `data`.

    Raises
    ------
    DataError : if a name or pattern of `task` or `model` matches nothing
    LogError : if two harnesses claim the same file or, with `strict`, if a path contains no readable log
    TypeError : if no reader accepts an object
    """
    readers = installed_readers() if harnesses is None else harnesses
    reading = Reading(())
    for system, given in sort_runs(runs, readers).items():
        part = _read_results(given.results, need_scores=need_scores)
        if given.paths:
            part = part.joined(_read_paths(given.paths, readers, progress, need_scores=need_scores))
        part = part.with_each_run_once()
        reading = reading.joined(part if system is None else part.renamed(system))
    if strict and reading.failures:
        raise LogError(_all_failures(reading.failures))
    name_of = DistinctNames()
    logs = tuple(with_system(log, name_of(log.system)) for log in reading.logs)
    tasks, models = ((name,) if isinstance(name, str) else tuple(name) for name in (task, model))
    if logs and (tasks or models):
        selected = LogFilter(tasks=tasks, models=models)
        selected.check(logs)
        logs = selected.of(logs)
    return replace(reading, logs=logs)


def _n_trials(source: Source) -> int:
    return 0 if source.attempt is None else source.attempt.n_trials


def _read_results(results: Sequence[TaskLog | ResultObject], *, need_scores: bool) -> Reading:
    logs, failures = list[TaskLog](), list[tuple[str, Message]]()
    for result in results:
        if isinstance(result, TaskLog):
            logs.append(result)
            continue
        try:
            logs += _checked(result.reader, result.reader.read_object(result.result), need_scores=need_scores)
        except Exception as error:
            failures.append((result.label, failure_message(result.reader, error)))
    return Reading(tuple(logs), tuple(failures))


def _read_paths(
    paths: Sequence[str], readers: Mapping[str, Reader], progress: Progress, *, need_scores: bool
) -> Reading:
    listing = Listing({path: expand_path(path) for path in paths})
    result = search(listing.files, readers)
    logs = list[TaskLog]()
    errors = ReadErrors(list(result.problems), {path for path, _ in result.problems})
    for reader, run in progress(result.runs):
        logs += errors.read(reader, run, need_scores=need_scores)
    return make_reading(listing, logs, result.claimed, errors, readers)


def make_reading(
    listing: Listing, logs: Iterable[TaskLog], claimed: Set[str], errors: ReadErrors, readers: Mapping[str, Reader]
) -> Reading:
    """Sort the errors into failures (of given paths without any log), warnings and skipped files. `claimed` are the
    files of all runs, and `readers` those that were used, by name.
    """
    read = claimed - errors.failed_files
    failures = _failures(listing.files_by_path, read, dict(errors.messages), readers)
    given_files = {path for path in listing.files_by_path if not Path(path).is_dir()}
    reported = {path for path, _ in failures}
    known = read | given_files | {path for path, _ in errors.messages}
    skipped = tuple(file for file in listing.files if file not in known and not file.endswith(_ORIGINAL))
    warnings = tuple((redact(path), message) for path, message in errors.messages if path not in reported)
    failures = tuple((redact(path), message) for path, message in failures)
    unread = frozenset(map(redact, errors.failed_paths - reported))
    return Reading(tuple(logs), failures, warnings, skipped, unread)


def task_logs(
    runs: Runs, plugins: Plugins, selection: Selection | None = None, *, need_scores: bool = True
) -> list[TaskLog]:
    """The logs of runs that are selected, with the ranges and directions of the catalogues.

    A file that cannot be read is logged as a warning if its path contains other logs. Raises LogError if a path
    contains no readable log, TypeError if no reader accepts an object, and the errors of `Selection.of`.
    """
    if selection is not None and (resources := resource_options(selection.resources, selection.prices)) is not None:
        plugins = reading_resources(plugins, resources)
    if selection is not None and selection.columns:
        plugins = reading_columns(plugins, selection.columns)
    reading = read_logs(runs, harnesses=plugins.harnesses, strict=True, need_scores=need_scores)
    for path, message in grouped_by_folder(pair for pair in reading.warnings if pair[0] in reading.unread):
        _LOGGER.warning("%s: %s", escape_control(path), message)
    logs = reading.logs if selection is None else selection.of(reading.logs)
    catalogues = plugins.catalogues
    return [
        with_catalogue(log, catalogues[name]) if (name := log.source.harness) in catalogues else log for log in logs
    ]


def read_run(harness: Reader, run: Run, *, need_scores: bool) -> list[TaskLog]:
    """The tasks of a run; raises LogError if it cannot be read or, with `need_scores`, if no task has a score."""
    return _checked(harness, harness.read(run), need_scores=need_scores)


def resource_options(is_requested: bool, prices: str | None, default: Prices | None = None) -> ResourceOptions | None:
    """How to read resources: with the prices of a file, which requests them, or else with the default, or with public
    prices if installed. Returns None if they are not requested. Raises LogError if the file is not a valid file of
    prices.
    """
    if prices is None and not is_requested:
        return None
    from harness_uq.io.prices import PublicPrices, read_prices

    if prices is not None:
        return ResourceOptions(read_prices(prices))
    return ResourceOptions(default or (PublicPrices() if find_spec("genai_prices") else None))


def reading_resources(plugins: Plugins, options: ResourceOptions) -> Plugins:
    """The plugins with readers that also read tokens, cost and time, which become metrics."""
    return _with_readers(plugins, lambda one: one.with_resources(options) if isinstance(one, ReadsResources) else one)


def reading_columns(plugins: Plugins, columns: Mapping[str, str | Sequence[str]]) -> Plugins:
    """The plugins with readers of tables that use these columns, by role; raises LogError if a role does not exist."""
    return _with_readers(plugins, lambda one: one.with_columns(columns) if isinstance(one, ReadsColumns) else one)


def _with_readers(plugins: Plugins, change: Callable[[Reader], Reader]) -> Plugins:
    return replace(plugins, harnesses={name: change(reader) for name, reader in plugins.harnesses.items()})


def _checked(harness: Reader | ReadsObjects, read: Iterable[TaskLog], *, need_scores: bool) -> list[TaskLog]:
    logs = list(map(with_safe_names, read))
    if isinstance(harness, ReadsResources) and harness.resources is not None:
        logs = [with_resource_metrics(log, harness.resources) for log in logs]
    if need_scores and logs and not any(log.data for log in logs):
        raise LogError(_unscored_run(logs))
    return logs


def _all_failures(failures: Sequence[tuple[str, Message]]) -> Message:
    """The failures as one message; of a single one its own code."""
    grouped = grouped_by_folder(failures)
    if len(grouped) == 1:
        path, message = grouped[0]
        return message.at(path)
    return PATHS_UNREADABLE(reasons=" ".join(message.at(path).text for path, message in grouped))


def grouped_by_folder(errors: Iterable[tuple[str, Message]]) -> list[tuple[str, Message]]:
    """Paths and messages, with one entry for all files of a folder that have the same message: the folder and up to
    three names.
    """
    files = dict[tuple[str, Message], list[str]]()
    for path, message in errors:
        files.setdefault((io_paths.folder_of(path), message), []).append(path)
    return [(_named_files(folder, paths), message) for (folder, message), paths in files.items()]


def _named_files(folder: str, paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    n_more = len(paths) - _MOST_NAMED
    names = ", ".join(map(io_paths.name_of, paths[:_MOST_NAMED])) + (f" and {n_more} more files" if n_more > 0 else "")
    return names if folder in ("", ".") else f"{folder}: {names}"


def _unscored_run(logs: Sequence[TaskLog]) -> Message:
    messages = distinct(_unscored_task(log) for log in logs)
    return (
        messages[0] if len(messages) == 1 else TASKS_WITHOUT_SCORES(n_tasks=len(logs), tasks=[log.task for log in logs])
    )


def with_safe_names(log: TaskLog) -> TaskLog:
    """The log with bounded names, and with `***` for each secret in its path, the name of its system and its settings.

    The system is a `RedactedText` if its name contained a secret.
    """
    full_name = log.system.original if isinstance(log.system, RedactedText) else log.system
    path, system = redact(log.source.path), redact(str(log.system))
    settings = {name: redact_value(value, name) for name, value in log.facts.settings.items()}
    if path != log.source.path:
        log = replace(log, source=replace(log.source, path=path))
    if settings != log.facts.settings:
        log = replace(log, facts=replace(log.facts, settings=settings))
    if system == full_name:
        return with_bounded_names(log)
    log = with_bounded_names(replace(log, system=system))
    return replace(log, system=RedactedText(log.system, full_name))


def with_system(log: TaskLog, system: str) -> TaskLog:
    """The log with this name of its system."""
    return log if log.system is system else replace(log, system=system)


def _unscored_task(log: TaskLog) -> Message:
    if log.warnings:
        return TASK_LEFT_OUT(task=log.task, reason=" ".join(warning.text for warning in log.warnings))
    return TASKS_WITHOUT_SCORES(n_tasks=1, tasks=[log.task])


def explain_unread(reading: Reading, readers: Mapping[str, Reader]) -> list[tuple[str, Message | None]]:
    """The files from which nothing was read, with the reason.

    Files in folders that are not logs are only explained if their names are those of data files of at most 64 MiB, and
    at most 20 of them; the reason of the others is None.
    """
    failures = [(path, message) for path, message in reading.failures if message.code != NO_LOG_IN_FOLDER.code]
    errors = [(path, message) for path, message in reading.warnings if path in reading.unread]
    candidates = [path for path in reading.skipped if io_paths.name_of(path).lower().endswith(_DATA_SUFFIXES)]
    small = (path for path in candidates if io_paths.size(path) <= _MOST_EXPLAINED_BYTES)
    explained = {path: why_no_run(path, [path], readers) for path in islice(small, _MOST_EXPLAINED)}
    skipped = [(redact(path), explained.get(path)) for path in reading.skipped]
    return [*failures, *errors, *sorted(skipped, key=lambda pair: pair[1] is None)]


def _failures(
    files_by_path: Mapping[str, Sequence[str]],
    claimed: Set[str],
    problems: Mapping[str, Message],
    harnesses: Mapping[str, Reader],
) -> tuple[tuple[str, Message], ...]:
    failures: dict[str, Message] = {}
    for name, files in files_by_path.items():
        if claimed.isdisjoint(files):
            broken = {file: problems[file] for file in files if file in problems}
            failures |= broken or {name: why_no_run(name, files, harnesses)}
    return tuple(failures.items())


def sort_runs(runs: Runs, readers: Mapping[str, Reader]) -> dict[str | None, GivenRuns]:
    """Sort runs by the name of their system; the name is None for runs that are not in a mapping. Raises TypeError if
    no reader accepts an object, and LogError if two readers do.
    """
    sorted_runs: dict[str | None, GivenRuns] = {}
    for name, item in _items(runs, None, readers):
        given = sorted_runs.setdefault(name, GivenRuns())
        if isinstance(item, str):
            given.paths.append(item)
        else:
            given.results.append(item)
    return sorted_runs


def _items(
    runs: object, name: str | None, readers: Mapping[str, Reader]
) -> Iterator[tuple[str | None, str | TaskLog | ResultObject]]:
    if isinstance(runs, str | Path):
        yield name, str(runs)
    elif isinstance(runs, TaskLog):
        yield name, runs
    elif type(runs) not in (list, tuple) and (reader := reader_of(runs, readers)) is not None:
        yield name, ResultObject(reader, runs)
    elif isinstance(runs, Mapping):
        for system, system_runs in runs.items():
            yield from _items(system_runs, str(system), readers)
    elif isinstance(runs, Sequence | Set | ValuesView | Iterator):
        for item in runs:
            yield from _items(item, name, readers)
    else:
        raise TypeError(_unsupported(runs, readers))


def reader_of(result: object, readers: Mapping[str, Reader]) -> ReadsObjects | None:
    """The reader that accepts an object; readers of general types are asked after all others. Raises LogError if two
    readers accept the object.
    """
    accepting = {
        name: reader
        for name, reader in readers.items()
        if isinstance(reader, ReadsObjects) and reader.accepts_object(result)
    }
    own = [name for name, reader in accepting.items() if not isinstance(reader, FallbackReader)]
    if len(own) > 1:
        raise LogError(FILE_CLAIMED_TWICE(path=_type_name(result), first=own[0], second=own[1]))
    return next((accepting[name] for name in (*own, *accepting)), None)


def _unsupported(result: object, readers: Mapping[str, Reader]) -> str:
    types = sorted({name for reader in readers.values() if isinstance(reader, ReadsObjects) for name in reader.objects})
    return (
        f"Cannot read runs from an object of type {_type_name(result)}. Accepted: paths, TaskLog, "
        f"{', '.join(types)}, and lists and mappings of these. For arrays of scores, use estimate_scores, "
        "compare_scores or rank_scores."
    )


def _type_name(result: object) -> str:
    kind = type(result)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
