"""What the arguments ask for, as the values that the rooms below take; wrong arguments that only these can tell."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from harness_uq.commands.settings import Settings
    from harness_uq.effects.analysis import EffectOptions
    from harness_uq.estimating.analysis import Options
    from harness_uq.logs.data import TaskLog
    from harness_uq.logs.selection import Selection
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.reading import Reading
    from harness_uq.report.latex_table import Paper
    from harness_uq.structure.facts import StructureOptions


class UsageError(HarnessUqError):
    """Arguments that cannot be used, found only after they were parsed."""


@contextmanager
def checking_arguments() -> Iterator[None]:
    """What is wrong within is wrong with the arguments: exit code 2.

    Raises
    ------
    UsageError : instead of any other error raised on purpose
    """
    try:
        yield
    except HarnessUqError as error:
        raise UsageError(str(error)) from error


def margins_of(args: argparse.Namespace) -> tuple[float, dict[str, float]]:
    """The margin of every task, and those of single ones: one named for every task leaves none of the file's."""
    given, settings = dict(args.margins), args.settings
    if None in given:
        return given.pop(None), given
    return settings.margin or 0.0, {**settings.margins, **given}


def check_margins(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> None:
    """Make sure that the tasks for which the arguments name a margin are in the logs.

    Raises
    ------
    UsageError : if one is not
    """
    tasks = {"overall", *(log.task for log in logs)}
    if unknown := sorted({name for name, _ in args.margins if name} - tasks):
        there = ", ".join(sorted(tasks))
        raise UsageError(f"--margin {unknown[0]}=…: no task is called {unknown[0]!r}; there are {there}")


def effect_options(args: argparse.Namespace) -> "EffectOptions":
    """The options of crossed effects that the arguments name.

    Raises
    ------
    UsageError : if a factor is not of the form NAME=FIELD
    """
    from harness_uq.effects.analysis import EffectOptions

    factors = dict(args.settings.factors)
    for text in args.factors:
        name, _, field = text.partition("=")
        if not (name and field):
            raise UsageError(f"--factor must look like NAME=FIELD, such as prompt=description; got {text!r}")
        factors[name] = field
    new = tuple(name.strip() for name in args.new.split(",")) if args.new else None
    return EffectOptions(new, factors, args.level, structure_options(args))


def paper_of(args: argparse.Namespace) -> "Paper":
    """How LaTeX tables are set.

    Raises
    ------
    UsageError : digits that there are not
    """
    from harness_uq.report.latex_table import Paper

    columns = tuple(name.strip() for name in args.columns.split(",")) if args.columns else None
    with checking_arguments():
        return Paper(columns, args.digits, args.caption, args.label)


def structure_options(args: argparse.Namespace) -> "StructureOptions":
    """The structure options that the arguments name, and below them the settings file."""
    from dataclasses import replace
    from pathlib import Path

    from harness_uq.structure.facts import StructureOptions

    settings: Settings = args.settings
    said = Path(settings.path).name if settings.path else ""
    defaults = StructureOptions(settings.cluster, settings.clusters, settings.ranges, origin=said)
    return replace(StructureOptions.parse(args.cluster, dict(args.ranges)), defaults=defaults)


def estimation_options(args: argparse.Namespace, plugins: "Plugins") -> "Options":
    """The options that the arguments name.

    Raises
    ------
    UsageError : if no method or estimand has the name asked for
    """
    from harness_uq.estimating.analysis import Options
    from harness_uq.estimating.selection import method_names

    if args.uq not in (known := method_names(plugins.estimators)):
        raise UsageError(f"no method is called {args.uq!r}; there are {', '.join(known)}")
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


def load_plugins(args: argparse.Namespace) -> "Plugins":
    """The installed plugins, with a reader of tables that takes the columns which the arguments name.

    Raises
    ------
    UsageError : if they name a column for a part that there is not
    """
    from harness_uq.plugins import manager
    from harness_uq.tables.reader import with_columns

    plugins = manager.load_plugins()
    with checking_arguments():
        return with_columns(plugins, dict(args.columns))


def selection_of(args: argparse.Namespace) -> "Selection":
    """The parts of the logs that the arguments name."""
    from harness_uq.logs.selection import Selection

    return Selection(tuple(args.tasks), tuple(args.metrics), tuple(args.filters), tuple(args.models))


def selected(args: argparse.Namespace, readings: "Sequence[Reading]") -> "list[TaskLog]":
    """The logs of all readings, as far as the arguments ask for them.

    Raises
    ------
    UsageError : if a pattern matches nothing
    """
    logs = [log for reading in readings for log in reading.logs]
    asked = selection_of(args)
    if logs:
        with checking_arguments():
            asked.check(logs)
    return list(asked.of(logs))


def check_names(options: "StructureOptions", logs: "Sequence[TaskLog]") -> None:
    """Make sure that the tasks, metrics and fields which the arguments name are in the logs.

    Raises
    ------
    UsageError : if a name is in none of them
    """
    from harness_uq.structure.clusters import missing_field

    if not logs:
        return  # nothing could be read, which is said elsewhere
    with checking_arguments():
        options.check_names(
            (log.task for log in logs if not log.subtasks), (data.metric for log in logs for data in log.data)
        )
    if wrong := missing_field(options, logs):
        raise UsageError(wrong)
