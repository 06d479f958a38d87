"""Option objects of the Python API from parsed arguments, and checks of names against the logs."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.errors import HarnessUqError, UsageError, unknown_name

if TYPE_CHECKING:
    from harness_uq.data.selection import LogFilter
    from harness_uq.data.task_log import TaskLog
    from harness_uq.io.settings_file import Settings
    from harness_uq.options import Options
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.readers import Reading
    from harness_uq.results.overall import Overall
    from harness_uq.structure.structure import StructureOptions


@contextmanager
def checking_arguments() -> Iterator[None]:
    """Report errors of the block as wrong arguments (exit code 2).

    Raises
    ------
    UsageError : instead of any other HarnessUqError
    """
    try:
        yield
    except HarnessUqError as error:
        raise UsageError(str(error)) from error


def margins(args: argparse.Namespace) -> tuple[float, dict[str, float]]:
    """The margin of all tasks, and those of single tasks; `--margin D` overrides all margins of the settings file."""
    by_task, settings = dict(args.margins), args.settings
    if None in by_task:
        return by_task.pop(None), by_task
    return settings.margin or 0.0, {**settings.margins, **by_task}


def check_margin_tasks(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> None:
    """Check that each task with a margin is in the logs.

    Raises
    ------
    UsageError : if a task is not
    """
    tasks = {"overall", *(log.task for log in logs)}
    if unknown := sorted({name for name, _ in args.margins if name} - tasks):
        raise UsageError(unknown_name("task of --margin", unknown[0], tasks, plural="tasks"))


def effect_options(args: argparse.Namespace) -> "Options":
    """The options of `effects`.

    Raises
    ------
    UsageError : if a factor is not of the form NAME=FIELD
    """
    from harness_uq.options import Options

    factors = dict(args.settings.factors)
    for text in args.factors:
        name, _, field = text.partition("=")
        if not (name and field):
            raise UsageError(f"Invalid --factor: {text!r}. Give NAME=FIELD, such as prompt=description.")
        factors[name] = field
    new = tuple(name.strip() for name in args.generalize_over.split(",")) if args.generalize_over else None
    return Options(generalize_over=new, factor=factors, level=args.level, structure=structure_options(args))


def structure_options(args: argparse.Namespace) -> "StructureOptions":
    """The structure options, with those of the settings file as defaults."""
    from pathlib import Path

    from harness_uq.data.missing_scores import MissingPolicies
    from harness_uq.structure.structure import StructureOptions

    settings: Settings = args.settings
    file_name = Path(settings.path).name if settings.path else ""
    defaults = StructureOptions(settings.cluster, settings.clusters, settings.ranges, origin=file_name)
    parsed = StructureOptions.parse(args.cluster, dict(args.ranges))
    with checking_arguments():
        missing = MissingPolicies.parse(getattr(args, "missing", ()), getattr(args, "treat", ()))
    return replace(parsed, defaults=defaults, use_samples=getattr(args, "use_samples", False), missing=missing)


def estimation_options(args: argparse.Namespace, plugins: "Plugins") -> "Options":
    """The options of `estimate`.

    Raises
    ------
    UsageError : if the method or the estimand does not exist
    """
    from harness_uq.inference.defaults import method_names
    from harness_uq.options import Options

    if args.uq not in (methods := method_names(plugins.estimators)):
        raise UsageError(unknown_name("method", args.uq, methods))
    with checking_arguments():
        return Options(
            method=args.uq,
            level=args.level,
            scope=args.scope,
            estimand=args.estimand,
            interval=args.interval,
            structure=structure_options(args),
            seed=args.seed,
        )


def overall_options(args: argparse.Namespace, *, generalizes_over_tasks: bool = False) -> "Options":
    """The options of the overall result.

    Raises
    ------
    UsageError : if the weights are neither a scheme nor a file of weights
    """
    from harness_uq.options import WEIGHT_SCHEMES, Options

    weights = args.weights or "equal"
    with checking_arguments():
        if weights not in WEIGHT_SCHEMES:
            from harness_uq.overall.read_weights import read_weights

            weights = read_weights(weights)
        return Options(
            weights=weights,
            metric=tuple(text for text in args.metrics if "=" in text),
            normalize=args.normalize,
            chance=dict(args.chances),
            missing_tasks=args.missing_tasks or "common",
            generalize_over=("task",) if generalizes_over_tasks else None,
        )


def with_note_unless_requested(args: argparse.Namespace, result: "Overall | None") -> "Overall | None":
    """The overall result, whose refusal is a note if no option requests an overall result."""
    is_requested = (
        args.weights is not None
        or args.missing_tasks is not None
        or args.normalize != "none"
        or args.chances
        or any("=" in text for text in args.metrics)
        or getattr(args, "overall", False)
    )
    if result is None or result.systems or result.generalizes_over_tasks or is_requested:
        return result
    return replace(result, messages=tuple(replace(message, severity="note") for message in result.messages))


def plugins_of_command(args: argparse.Namespace) -> "Plugins":
    """The installed plugins, whose readers use `--column`, `--resources`, `--prices` and the mappings of the settings.

    Raises
    ------
    UsageError : if a role of `--column` does not exist, a mapping or the file of prices is invalid, or resources are to
        be stored
    """
    from harness_uq.plugins.readers import reading_resources, resource_options
    from harness_uq.tabular.read_table import with_columns

    plugins = _console.load_and_report_plugins()
    with checking_arguments():
        plugins = with_columns(plugins, dict(args.table_columns), args.settings.tables)
        if not has_resources(args):
            return plugins
        if args.store:
            raise UsageError("--store does not contain resources. Remove --store, or --resources and --prices.")
        resources = resource_options(args.resources, args.prices)
    return plugins if resources is None else reading_resources(plugins, resources)


def has_resources(args: argparse.Namespace) -> bool:
    """Whether `--resources` or `--prices` is given, to a command that has these options."""
    return hasattr(args, "resources") and (args.resources or args.prices is not None)


def log_filter(args: argparse.Namespace, label_metrics: Sequence[str] = ()) -> "LogFilter":
    """The filter given by `--task`, `--metric`, `--filter` and `--model`; a `--metric` adds the metrics of labels."""
    from harness_uq.data.selection import LogFilter

    has_overall = hasattr(args, "normalize")  # then `TASK=NAME` belongs to the overall result
    patterns = [text for text in args.metrics if not (has_overall and "=" in text)]
    metrics = (*patterns, *label_metrics) if patterns else ()
    return LogFilter(tuple(args.tasks), metrics, tuple(args.filters), tuple(args.models))


def select_logs(
    args: argparse.Namespace, readings: "Sequence[Reading]", label_metrics: Sequence[str] = ()
) -> "list[TaskLog]":
    """The logs of all readings that the filter selects.

    Raises
    ------
    UsageError : if a pattern matches nothing
    """
    logs = [log for reading in readings for log in reading.logs]
    selection = log_filter(args, label_metrics)
    if logs:
        with checking_arguments():
            selection.check(logs)
    return list(selection.of(logs))


def check_names(options: "StructureOptions", logs: "Sequence[TaskLog]") -> None:
    """Check that the tasks, metrics and cluster fields given as arguments are in the logs.

    Raises
    ------
    UsageError : if a name is in no log
    """
    from harness_uq.structure.clusters import missing_field

    if not logs:
        return  # read errors are reported elsewhere
    with checking_arguments():
        options.check_names(
            (log.task for log in logs if not log.subtasks), (data.metric for log in logs for data in log.data)
        )
    if wrong := missing_field(options, logs):
        raise UsageError(wrong)
