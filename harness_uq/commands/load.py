"""What a command reads: options, plugins, logs and labels; errors of reading and names that the logs lack."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.messages.catalogue.estimation import UNKNOWN_METHOD
from harness_uq.messages.errors import DataError, UsageError, unknown_name
from harness_uq.options import OPTIONS

if TYPE_CHECKING:
    from harness_uq.analyses.scan.engine import Engine
    from harness_uq.analyses.scan.scan_logs import Scan
    from harness_uq.data.selection import LogFilter
    from harness_uq.data.structure import StructureOptions
    from harness_uq.data.task_log import TaskLog
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.io.readers import Reading
    from harness_uq.options import Options
    from harness_uq.results.estimate import Estimate
    from harness_uq.results.overall import Overall


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
    from harness_uq.analyses.scan.scan_logs import scan

    with _console.progress_bar("Reading") as update:
        found = scan(
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
    return replace(found, reading=found.reading.of_tasks(getattr(args, "task", None) or ()))


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


@dataclass(frozen=True, slots=True)
class Loaded:
    """The selected logs with the options and plugins of a command, and what could not be read."""

    logs: "list[TaskLog]"
    options: "Options"
    plugins: "Plugins"
    failed: int
    errors: "list[Mapping[str, object]]"


def load(
    args: argparse.Namespace,
    read_logs: "Callable[[argparse.Namespace, Plugins], Sequence[Reading]] | None" = None,
    labels: str | None = None,
) -> Loaded:
    """Read `args.logs`, by default each `NAME=PATH` with this name, and report what cannot be read.

    Raises UsageError if an option is invalid or names something that the logs lack.
    """
    options, plugins = options_of(args), plugins_of_command(args)
    if read_logs is None:
        readings: Sequence[Reading] = [scan.reading for scan in scan_all_named(args, args.logs, plugins)]
    else:
        readings = read_logs(args, plugins)
    failed = report_read_errors(*readings)
    logs = select_unlabeled(args, readings, labels)
    check_names(options.structure, logs)
    return Loaded(logs, options, plugins, failed, reading_errors(*readings))


def read_runs_or_store(args: argparse.Namespace, argument: str, plugins: "Plugins") -> "Reading":
    """Read the runs or the store `PATH`, or `NAME=PATH`, which names the system. Raises HarnessUqError if a store
    cannot be read.
    """
    from harness_uq.analyses.store.read import is_store, stored_logs
    from harness_uq.io.readers import Reading

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
    from harness_uq.io.readers import grouped_by_folder

    warnings = _console.marked(reading.warnings)
    for is_unread in (True, False):
        listed = [pair for pair in warnings if (pair[0] in reading.unread) is is_unread]
        for path, message in grouped_by_folder(pair for pair in listed if is_unread or not pair[1].is_ignored):
            _console.print_error(f"{'error' if is_unread else 'warning'}: {path}: {message.text} ({message.code})")
    for path, message in grouped_by_folder(reading.failures):
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
    return [{"path": path, **message.to_dict()} for path, message in _console.marked(messages)]


def _engine(args: argparse.Namespace) -> "Engine":
    """Choose the engine that the options name. Raises UsageError if a scheduler is given without `--engine dask`."""
    from harness_uq.analyses.scan.engine import Engine

    if args.scheduler and args.engine != "dask":
        raise UsageError("--scheduler requires --engine dask.")
    return Engine(args.engine, args.jobs, args.scheduler)


def options_of(args: argparse.Namespace) -> "Options":
    """The options that the arguments and the settings file of a command contain, without those that select logs. Raises
    UsageError if a value is invalid, or the weights are neither a scheme nor a file of weights.
    """
    from harness_uq.options import WEIGHT_SCHEMES, options_from_arguments

    arguments, path = dict(vars(args)), args.settings.path
    with _console.checking_arguments():
        if (weights := arguments.get("weights")) not in (None, *WEIGHT_SCHEMES):
            from harness_uq.analyses.overall.read_weights import read_weights

            arguments["weights"] = read_weights(weights)
        options = options_from_arguments(
            args.command.name, arguments, args.settings.values, Path(path).name if path else ""
        )
    is_scope_given = getattr(args, "scope", None) is not None or "scope" in args.settings.values
    if options.scope == "benchmark" and not is_scope_given:
        _console.print_error(f"The scope is benchmark, which {options.method} requires: exactly these questions.")
    metric = tuple(text for text in args.metric if "=" in text)
    return replace(options, task=(), metric=metric, filter=(), model=(), column={}, resources=False, token_prices=None)


def check_method(options: "Options", plugins: "Plugins") -> None:
    """Check that the method exists. Raises UsageError if it does not."""
    from harness_uq.inference.defaults import method_names

    if options.method not in (methods := method_names(plugins.estimators)):
        raise UsageError(UNKNOWN_METHOD(method=options.method, known=methods))


def check_margin_tasks(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> None:
    """Check that each task with a margin is in the logs. Raises UsageError if a task is not."""
    tasks = {"overall", *(log.task for log in logs)}
    if unknown := sorted({name for name, _ in args.margin if name} - tasks):
        raise UsageError(unknown_name("task of --margin", unknown[0], tasks, plural="tasks"))


def of_logged_tasks(args: argparse.Namespace, options: "Options", logs: "Iterable[TaskLog]") -> "Options":
    """The options without tasks that only the settings file names and the logs lack. With fewer than two tasks left,
    the weights of the file do not apply.
    """
    tasks = {log.task for log in logs}
    given = {name for name, _ in args.chance}
    chance = {name: value for name, value in options.chance.items() if name in tasks | given}
    weights = options.weights
    if args.weights is None and isinstance(weights, Mapping):
        weights = {name: weight for name, weight in weights.items() if name in tasks}
        weights = weights if len(weights) > 1 and any(weights.values()) else OPTIONS["weights"].default
    return replace(options, chance=chance, weights=weights)


def with_note_unless_requested(args: argparse.Namespace, result: "Overall | None") -> "Overall | None":
    """The overall result, whose refusal is a note if no option requests an overall result."""
    is_requested = (
        args.weights is not None
        or args.missing_tasks is not None
        or args.normalize not in (None, "none")
        or args.chance
        or any("=" in text for text in args.metric)
        or getattr(args, "overall", False)
    )
    if result is None or result.systems or result.generalizes_over_tasks or is_requested:
        return result
    return replace(result, messages=tuple(replace(message, severity="note") for message in result.messages))


def plugins_of_command(args: argparse.Namespace) -> "Plugins":
    """The installed plugins, whose readers use `--column`, `--resources`, `--token-prices` and the mappings of the
    settings. Raises UsageError if a role of `--column` does not exist, a mapping or the file of prices is invalid, or
    resources are to be stored.
    """
    from harness_uq.io.readers import reading_resources, resource_options
    from harness_uq.io.tables.read_table import with_columns

    plugins = _console.load_and_report_plugins()
    with _console.checking_arguments():
        plugins = with_columns(plugins, dict(args.column), args.settings.tables)
        if not has_resources(args):
            return plugins
        if args.store:
            raise UsageError("--store does not contain resources. Remove --store, or --resources and --token-prices.")
        resources = resource_options(args.resources, args.token_prices, args.settings.prices)
    return plugins if resources is None else reading_resources(plugins, resources)


def has_resources(args: argparse.Namespace) -> bool:
    """Whether `--resources` or `--token-prices` is given, to a command that has these options."""
    return hasattr(args, "resources") and (args.resources or args.token_prices is not None)


def log_filter(args: argparse.Namespace, label_metrics: Sequence[str] = ()) -> "LogFilter":
    """The filter given by `--task`, `--metric`, `--filter` and `--model`; a `--metric` adds the metrics of labels."""
    from harness_uq.data.selection import LogFilter

    has_overall = hasattr(args, "normalize")  # then `TASK=NAME` belongs to the overall result
    patterns = [text for text in args.metric if not (has_overall and "=" in text)]
    metrics = (*patterns, *label_metrics) if patterns else ()
    return LogFilter(tuple(args.task), metrics, tuple(args.filter), tuple(args.model))


def select_logs(
    args: argparse.Namespace, readings: "Sequence[Reading]", label_metrics: Sequence[str] = ()
) -> "list[TaskLog]":
    """The logs of all readings that the filter selects. Raises UsageError if a pattern matches nothing."""
    logs = [log for reading in readings for log in reading.logs]
    selection = log_filter(args, label_metrics)
    if logs:
        with _console.checking_arguments():
            selection.check(logs)
    return list(selection.of(logs))


def select_unlabeled(args: argparse.Namespace, readings: "Sequence[Reading]", labels: str | None) -> "list[TaskLog]":
    """The selected logs of the readings, without a file of labels among them."""
    from harness_uq.io.human_labels import without_labels

    logs = select_logs(args, readings, label_metrics(labels))
    return without_labels(logs, labels) if labels else logs


def check_names(options: "StructureOptions", logs: "Sequence[TaskLog]") -> None:
    """Check that the tasks, metrics and cluster fields given as arguments are in the logs. Raises UsageError if a name
    is in no log.
    """
    from harness_uq.data.clusters import missing_field

    if not logs:
        return  # read errors are reported elsewhere
    with _console.checking_arguments():
        options.check_names(
            (log.task for log in logs if not log.subtasks), (data.metric for log in logs for data in log.data)
        )
    if wrong := missing_field(options, logs):
        raise UsageError(wrong)


def label_metrics(labels: str | None) -> tuple[str, ...]:
    """The metric with human labels, if they are not in a file."""
    if not labels:
        return ()
    from harness_uq.io.human_labels import is_labels_file

    return () if is_labels_file(labels) else (labels,)


@dataclass(frozen=True, slots=True)
class AuxiliaryPaths:
    """Data besides the logs that make an estimate more accurate.

    `labels`: file of human labels, or the metric of the logs that contains them. `reference_runs`: paths of runs of
    other systems on the whole benchmark. `inclusion_probabilities`: file that `harness-uq subset` wrote, or column of
    the file of labels.
    """

    labels: str | None = None
    reference_runs: tuple[str, ...] = ()
    inclusion_probabilities: str | None = None

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> "AuxiliaryPaths":
        """The auxiliary data given by the arguments. Raises UsageError if reference runs are given without `--scope
        full`.
        """
        data = cls(args.labels, tuple(args.reference_runs or ()), args.inclusion_probabilities)
        if data.reference_runs and args.scope != "full":
            raise UsageError("--reference-runs requires --scope full.")
        return data

    def __bool__(self) -> bool:
        return bool(self.labels or self.reference_runs)

    @property
    def label_metrics(self) -> tuple[str, ...]:
        """The metric with human labels, which has to be read even if `--metric` does not select it."""
        return label_metrics(self.labels)

    def select_logs(self, logs: "Sequence[TaskLog]") -> "list[TaskLog]":
        """The logs without those of the tables of labels or reference runs."""
        from harness_uq.io.human_labels import without_labels

        paths = {Path(path).absolute() for path in self.reference_runs}
        others = [log for log in logs if Path(log.source.path).absolute() not in paths]
        return without_labels(others, self.labels or ())

    def estimate(
        self,
        logs: "Sequence[TaskLog]",
        options: "Options",
        plugins: "Plugins",
        read: "Callable[[Sequence[str]], Reading]",
    ) -> "list[Estimate]":
        """Estimates corrected by the labels, or of the whole benchmark with the reference runs, which `read` reads.
        Raises UsageError if there is no such file or metric of labels, or the combination of options is not supported.
        """
        if self.labels:
            from harness_uq.inference.labels import estimate_with_labels

            try:
                return estimate_with_labels(logs, self.labels, options, plugins, self.inclusion_probabilities)
            except DataError as error:
                raise UsageError(str(error)) from error
        from harness_uq.inference.subset import estimate_whole, read_probabilities

        probabilities = read_probabilities(self.inclusion_probabilities) if self.inclusion_probabilities else None
        reference = read(self.reference_runs)
        report_read_errors(reference)
        with _console.checking_arguments():
            return estimate_whole(logs, reference.logs, options, drawn=probabilities, plugins=plugins)
