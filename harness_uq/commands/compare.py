"""`harness-uq compare`: test whether one system is better than another."""

import argparse
import shlex
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.commands import emit as _emit
from harness_uq.commands import load as _load
from harness_uq.commands.page import Page, logs_argument
from harness_uq.messages.errors import UsageError, unknown_name
from harness_uq.options import COUNT, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from harness_uq.data.task_log import TaskLog
    from harness_uq.inference.compared_runs import Side
    from harness_uq.io.plugins.manager import Plugins
    from harness_uq.io.readers import Reading
    from harness_uq.options import Options
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.overall import Overall

    _CompareSides = Callable[[tuple[Side, Side], Options, Plugins], Iterable[object]]

WORSE = 3


USAGE = "RUN [RUN ...] [options]"
_BRIEF = ("table", "markdown")  # formats that show single tasks of several systems only on request
EXAMPLES = (
    ("Test whether the first system is better than the second", "harness-uq compare new=runs/b old=runs/a"),
    ("Compare the two systems in a folder on some of the tasks", "harness-uq compare results/ --task 'mmlu*'"),
    ("Compare every other system with the system 'old'", "harness-uq compare runs/* --baseline old"),
)
DETAILS = """\
Verdicts:
  better      A is better than B: the interval of the difference is above 0.
  worse       A is worse than B: the interval of the difference is below 0.
  equivalent  The interval of the difference lies within the margin.
  undecided   The data are insufficient for a verdict; the output estimates how
              many more questions are needed.
"""
EXIT_CODES = "0 success, 1 failure, 2 wrong arguments, 3 worse (on request)"


_ARGUMENTS = (
    logs_argument(
        "runs",
        "RUN",
        help="Runs of system A, then of B, or a folder of both; NAME=RUN names a system",
    ),
    Option(
        name="baseline",
        group="Data",
        metavar="NAME",
        help="Compare all others with system NAME; required for three or more systems",
    ),
    Option(
        name="fail_if_worse",
        group="Output",
        is_flag=True,
        help="Exit with code 3 if A is worse by more than the margin; overall or on any task after Holm's correction",
    ),
    Option(
        name="disagreements",
        group="Output",
        rule=COUNT,
        metavar="N",
        help="List up to N questions whose scores differ most; per task, beginning with those on which A is worse",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Read, compare, print."""
    from harness_uq.analyses.overall.compare import worse_overall
    from harness_uq.inference.compared_runs import Side
    from harness_uq.inference.decisions import worse_rows
    from harness_uq.results.comparison import Comparison, row_name
    from harness_uq.results.result_list import ResultList

    _emit.try_plot(args)
    names = ("overall", "comparisons", *_requested(args))
    with _emit.emitting(args, *names) as emitter:
        plugins = _load.plugins_of_command(args)
        readings, sides, b = _sides(args, plugins)
        failed = _load.report_read_errors(*readings)
        errors = _load.reading_errors(*readings)
        logs = [log for a in sides for log in a]
        if not (logs and b):
            return emitter.emit_errors(errors)
        options = _load.of_logged_tasks(args, _load.options_of(args), [*logs, *b])
        _load.check_names(options.structure, [*logs, *b])
        _load.check_margin_tasks(args, [*logs, *b])
        side_b = Side.read(b, "B", plugins, options.structure)
        pairs = [(Side.read(a, "A", plugins, options.structure), side_b) for a in sides]
        rows = ResultList[Comparison](row for pair in pairs for row in _compared(args, pair, options, plugins))
        overall = _overall(args, pairs, options, plugins)
        lists: dict[str, Sequence[object]] = {"overall": overall, "comparisons": rows}
        if overall and emitter.output_format.name in _BRIEF and len(sides) > 1 and not args.per_task:
            lists |= {"comparisons": []}
        for name, compare_sides in _requested(args).items():
            lists[name] = [row for pair in pairs for row in compare_sides(pair, options, plugins)]
        has_difference = any(result.differences for result in overall)
        problem = None if has_difference else _emit.nothing_estimable(options, rows)
        emitter.emit(lists, [*errors, *_emit.error_entries(problem)])
    failed = max(failed, _emit.report_problem(problem))
    _emit.draw_results(args, overall, rows)
    if args.fail_if_worse:
        if args.overall and not overall:
            raise UsageError("--overall requires at least two tasks that all systems share. Remove --overall.")
        systems = [one for result in overall for one in worse_overall(result, options.margin_of("overall"))]
        tasks = [] if args.overall else worse_rows(rows, options.level)
        for one in systems:
            _console.print_error(f"worse: overall: {one.verdict_text}")
        for row in tasks:
            _console.print_error(f"worse: {row_name(row, rows)}: {row.verdict_text}")
        if systems or tasks:
            return WORSE
    return max(failed, _console.report_failures(rows))


def _compared(
    args: argparse.Namespace, pair: "tuple[Side, Side]", options: "Options", plugins: "Plugins"
) -> "list[Comparison]":
    from harness_uq.analyses.comparison.compare_sides import compare_sides
    from harness_uq.inference.labels import HumanLabels, compare_with_labels
    from harness_uq.io.human_labels import human_labels

    if not args.labels:
        return compare_sides(*pair, options, plugins)[0]
    with _console.checking_arguments():
        labels = human_labels(args.labels, [*pair[0].logs, *pair[1].logs], args.inclusion_probabilities)
    return compare_with_labels(pair, HumanLabels(labels, args.grader_shift), options, plugins)


def _requested(args: argparse.Namespace) -> "dict[str, _CompareSides]":
    """The lists of results that options request, and the function that compares two sides for each."""
    from harness_uq.analyses.breakdown import compare_groups
    from harness_uq.analyses.comparison.questions import disagreements
    from harness_uq.analyses.resources import compare_resource_use

    functions: dict[str, _CompareSides] = {}
    if args.by:
        functions["difference_breakdowns"] = lambda pair, options, plugins: compare_groups(
            pair, args.by, options, plugins
        )
    if args.disagreements:
        functions["disagreements"] = lambda pair, options, plugins: disagreements(
            pair[0].logged, pair[1].logged, args.disagreements, options, plugins=plugins
        )
    if _load.has_resources(args):
        functions["resource_use"] = lambda pair, options, plugins: compare_resource_use(
            pair[0].logged, pair[1].logged, options.estimation, plugins
        )
    return functions


def _overall(
    args: argparse.Namespace, pairs: "Sequence[tuple[Side, Side]]", options: "Options", plugins: "Plugins"
) -> "list[Overall]":
    """The overall result with the differences from the second system or the baseline, if there are common tasks."""
    from harness_uq.analyses.overall.compare import compare_overall
    from harness_uq.messages.catalogue.overall import OVERALL_TOO_FEW_TASKS

    with _console.checking_arguments():
        result = compare_overall(
            [log for side_a, _ in pairs for log in side_a.logged],
            pairs[0][1].logged,
            options,
            plugins,
            labels=args.labels,
            inclusion_probabilities=args.inclusion_probabilities,
        )
    result = _load.with_note_unless_requested(args, result)
    is_empty = result is None or any(message.code == OVERALL_TOO_FEW_TASKS.code for message in result.messages)
    return [] if result is None or is_empty else [result]


def _sides(args: argparse.Namespace, plugins: "Plugins") -> "tuple[list[Reading], list[list[TaskLog]], list[TaskLog]]":
    """The readings, the logs of each system to compare, and those of the baseline.

    Without `--baseline` these are the systems of two arguments, or the two systems in any number of arguments.
    """
    from harness_uq.data.selection import systems_in_order
    from harness_uq.inference.compared_runs import named_alike, tables_named_alike

    if len(args.runs) == 2 and len(args.model) != 2 and args.baseline is None:
        parts = [_load.scan_named(args, argument, plugins).reading for argument in args.runs]
        a, b = named_alike([_load.select_unlabeled(args, [part], args.labels) for part in parts])
        return parts, [a] if a else [], b
    readings = [scan.reading for scan in _load.scan_all_named(args, args.runs, plugins)]
    logs = tables_named_alike(_load.select_unlabeled(args, readings, args.labels))
    if not logs:
        return readings, [], []
    systems = systems_in_order(logs, args.model)
    if args.baseline is None:
        first, baseline = _two(systems, logs)
        others = [first]
    else:
        baseline = args.baseline
        if baseline not in systems:
            raise UsageError(unknown_name("system of --baseline", baseline, systems, plural="systems"))
        others = [system for system in systems if system != baseline]
    by_system = {system: [log for log in logs if log.system == system] for system in systems}
    return readings, [by_system[system] for system in others], by_system[baseline]


def _two(systems: "Sequence[str]", logs: "Sequence[TaskLog]") -> tuple[str, str]:
    """The two systems to compare. Raises UsageError if there are not exactly two."""
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(systems) == 1:
        raise UsageError(
            f"The logs contain one system: {systems[0]}. Give runs of two systems, or two "
            "files to compare two runs of one system."
        )
    if len(harnesses := {log.source.harness: _folder_of(log.source.harness, logs) for log in logs}) > 1:
        listed = ", ".join(f"{folder} ({name})" for name, folder in harnesses.items())
        raise UsageError(
            f"The logs contain {len(systems)} systems of {len(harnesses)} harnesses. Give the folder of one harness: "
            f"{listed}. Or select two systems with --model: {', '.join(systems)}."
        )
    two = " ".join(f"--model {shlex.quote(name)}" for name in systems[:2])
    raise UsageError(
        f"The logs contain {len(systems)} systems: {', '.join(systems)}. Select two, such as {two}, compare all with "
        f"one by --baseline {shlex.quote(systems[0])}, or rank all with harness-uq rank."
    )


def _folder_of(harness: str, logs: "Sequence[TaskLog]") -> str:
    """The folder that contains all logs of a harness."""
    folders = [log.source.path.rpartition("/")[0].split("/") for log in logs if log.source.harness == harness]
    shared = takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
    return "/".join(names[0] for names in shared) or "."


PAGES = {
    "compare": Page(
        usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS, exit_codes=EXIT_CODES
    )
}
