"""Arguments and steps that several commands share."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from harness_uq.commands import arguments as _arguments
from harness_uq.errors import HarnessUqError

if TYPE_CHECKING:
    from harness_uq.commands.settings import Settings
    from harness_uq.effects.analysis import EffectOptions
    from harness_uq.estimating.analysis import Options
    from harness_uq.logs.data import TaskLog
    from harness_uq.logs.selection import Selection
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.protocols import Reader, Run
    from harness_uq.plugins.reading import Reading
    from harness_uq.report.latex_table import Paper
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate
    from harness_uq.structure.facts import StructureOptions

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

METHODS = """\
methods (--uq):
  bayes     a posterior chosen by the structure of the scores (default)
  wilson    Wilson's score interval; with clusters or trials by Korn and Graubard's effective sample size
  t, clt    mean and standard error; with clusters or trials the cluster-robust ones
  NAME      one estimator by name, such as beta, clopper-pearson, clustered, clustered-gamma or dirichlet-process;
            a wrong name lists them all
"""


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


def add_command(commands: Commands, name: str, summary: str, *, epilog: str = "") -> argparse.ArgumentParser:
    """A sub-parser whose help opens with `summary`."""
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_logs(parser: argparse.ArgumentParser) -> None:
    """The logs to read."""
    parser.add_argument("logs", nargs="+", metavar="LOG", help="file, folder or glob pattern of logged runs")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Which parts of the logs are asked for."""
    group = parser.add_argument_group("parts of the logs", "names or glob patterns; each may be repeated")
    for name, text in (
        ("--task", "tasks; a group brings its members"),
        ("--metric", "metrics"),
        ("--filter", "filters, such as strict-match; none is that of scores without one"),
        ("--model", "systems, by the names under which they are shown"),
    ):
        group.add_argument(name, action="append", default=[], metavar="NAME", dest=f"{name[2:]}s", help=text)


def add_structure(parser: argparse.ArgumentParser) -> None:
    """What the user says about clusters and ranges, and which parts of the logs count."""
    add_selection(parser)
    parser.add_argument(
        "--cluster",
        action="append",
        default=[],
        metavar="[TASK=]FIELD",
        help="field of the questions' documents that groups them, none, or auto; for one task with TASK=; may be "
        "repeated (default: auto)",
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        type=_arguments.metric_range,
        metavar="[TASK:]METRIC=LO,HI",
        dest="ranges",
        help="smallest and largest possible score of a metric, or of one task's; may be repeated",
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        type=_arguments.column,
        metavar="ROLE=NAME",
        dest="columns",
        help="column of a table (CSV, TSV, JSON Lines, Parquet) that holds its question, score, system, task, metric, "
        "filter, trial, cluster or higher_is_better, where its name does not say; may be repeated",
    )


def add_estimation(parser: argparse.ArgumentParser) -> None:
    """How scores are estimated."""
    add_structure(parser)
    parser.add_argument(
        "--uq", "--method", default="bayes", metavar="METHOD", help="method, see below (default: %(default)s)"
    )
    add_level(parser)
    parser.add_argument(
        "--scope",
        choices=["population", "benchmark", "full"],
        default="population",
        help="score on new questions of the kind (population), on exactly these questions tried again and again "
        "(benchmark), or on the whole benchmark of a run with --limit (full) (default: %(default)s)",
    )
    parser.add_argument(
        "--estimand",
        default="mean",
        help="mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K over repeated trials (default: %(default)s)",
    )
    parser.add_argument(
        "--interval",
        choices=["hdi", "quantile"],
        help="credible interval: highest density or equal tails (default: the method's own, hdi for one score)",
    )
    add_seed(parser)


def add_margin(parser: argparse.ArgumentParser) -> None:
    """The smallest difference that matters."""
    parser.add_argument(
        "--margin",
        action="append",
        default=[],
        type=_arguments.task_margin,
        metavar="[TASK=]D",
        dest="margins",
        help="smallest difference that matters, on the scale of the score, such as 0.01; for one task with TASK=; may "
        "be repeated (default: 0)",
    )


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


def add_scope_of_difference(parser: argparse.ArgumentParser) -> None:
    """Which questions a difference is about."""
    parser.add_argument(
        "--scope",
        choices=["population", "benchmark"],
        default="population",
        help="difference on new questions of the kind, or on exactly these, tried again and again (default: "
        "%(default)s)",
    )


def add_level(parser: argparse.ArgumentParser) -> None:
    """Coverage of the intervals."""
    parser.add_argument(
        "--level", type=_arguments.level, default=0.95, help="coverage of the intervals (default: %(default)s)"
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Seed of what is sampled."""
    parser.add_argument("--seed", type=_arguments.seed, default=0, help="of methods that sample (default: %(default)s)")


def add_factors(parser: argparse.ArgumentParser, default: str) -> None:
    """What else than questions the scores depend on."""
    parser.add_argument(
        "--new",
        metavar="NAME[,NAME]",
        help="factors of which new levels are to come, such as question,seed: the logs of a model are put together "
        f"(default: {default})",
    )
    parser.add_argument(
        "--factor",
        action="append",
        default=[],
        metavar="NAME=FIELD",
        dest="factors",
        help="call a setting of the logs a factor: FIELD is as logged, or task, path or run; may be repeated",
    )


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


def add_format(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Form of the output; the first is the default."""
    parser.add_argument("--format", choices=formats, default=formats[0], help="(default: %(default)s)")


def add_paper(parser: argparse.ArgumentParser, *, grid: bool = False) -> None:
    """How LaTeX tables are set."""
    group = parser.add_argument_group("with --format latex")
    if grid:
        group.add_argument(
            "--layout",
            choices=["rows", "grid"],
            default="rows",
            help="a row a score, or systems by tasks (default: rows)",
        )
    group.add_argument("--columns", metavar="NAME[,NAME]", help="columns in this order; a wrong name lists them")
    group.add_argument("--digits", type=int, default=3, metavar="N", help="decimals of scores (default: %(default)s)")
    group.add_argument("--caption", metavar="TEXT", help="of the table, plain text")
    group.add_argument("--label", metavar="NAME", help="name for references to it")


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
        complain(f"warning: {warning}")
    for path, message in reading.warnings:
        complain(f"{'error' if path in reading.unread else 'warning'}: {path}: {message}")
    for path, message in reading.failures:
        complain(f"error: {path}: {message}")
    for sentence in reading.trouble:
        complain(f"error: {sentence}")
    if n := reading.n_skipped:
        print(f"{n} file{'s' if n > 1 else ''} skipped: no logs of a known harness", file=sys.stderr)
    return 1 if reading.failures or reading.unread or reading.trouble else 0


def complain(text: str) -> None:
    """Say it on standard error, in one line that cannot move the cursor."""
    from harness_uq.logs.refusals import shown
    from harness_uq.report.clean import plain

    print(plain(shown(text)), file=sys.stderr)


def say_failures(rows: "Iterable[Estimate | Comparison]") -> int:
    """Say on standard error what failed of these results; exit code 1 where something did."""
    failed = [row for row in rows if row.failure]
    for row in failed:
        complain(f"error: {row.task} {row.metric}: {row.failure}")
    return 1 if failed else 0


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


def command_line(args: argparse.Namespace) -> str:
    """The command as it was given, without the folders of absolute paths."""
    import shlex

    from harness_uq.report.clean import file_name

    return shlex.join(["harness-uq", *map(file_name, args.words)])


def now() -> str:
    """Date and time, to the minute."""
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
