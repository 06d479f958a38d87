"""`harness-uq compare`: test whether one system is better than another."""

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands import argument_values as _argument_values
from harness_uq.commands import console as _console
from harness_uq.commands import emit_results as _emit_results
from harness_uq.commands import loading as _loading
from harness_uq.commands import output_files as _output_files
from harness_uq.commands import shared_options as _shared_options
from harness_uq.commands.parser import CommandParser
from harness_uq.errors import UsageError

if TYPE_CHECKING:
    from harness_uq.comparison.compare import CompareOptions
    from harness_uq.data.task_log import TaskLog
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.readers import Reading

WORSE = 3


USAGE = "RUN [RUN ...] [options]"
EXAMPLES = (
    ("Whether the first system is better than the second", "harness-uq compare new=runs/b old=runs/a"),
    ("Two systems in one folder, on some tasks", "harness-uq compare results/ --task 'mmlu*'"),
    ("Differences below 1 point do not matter", "harness-uq compare runs/b runs/a --margin 0.01"),
)
DETAILS = """\
Verdicts:
  better      A is better than B: the interval of the difference is above 0.
  worse       A is worse than B: the interval of the difference is below 0.
  equivalent  The difference is smaller than the margin.
  undecided   The data are insufficient; the output estimates what suffices.

Exit codes: 0 success, 1 a log could not be read or a comparison failed,
2 wrong arguments, 3 A is worse than B (with --fail-if-worse)
"""


def add_arguments(parser: CommandParser) -> None:
    """Declare the arguments."""
    parser.groups["Data"].add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="Runs of systems A and B, or any runs of two systems; NAME=RUN sets the name of a system",
    )
    _shared_options.add_structure(parser)
    _shared_options.add_use_samples(parser)
    parser.groups["Method"].add_argument(
        "--uq",
        "--method",
        type=lambda text: text.replace("_", "-"),
        choices=["bayes", "dirichlet", "latent-normal", "t", "independent"],
        default="bayes",
        metavar="METHOD",
        help="Use this method; t is paired and cluster-robust, and independent is unpaired (default: %(default)s)",
    )
    _shared_options.add_margin(parser)
    _shared_options.add_scope(parser)
    _shared_options.add_level(parser)
    _shared_options.add_seed(parser)
    output = parser.groups["Output"]
    output.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="Exit with code 3 if A is worse by more than the margin, overall or on any task (Holm)",
    )
    output.add_argument(
        "--disagreements",
        type=_argument_types.count,
        metavar="N",
        help="List up to N questions per task that differ most, starting with those on which A is worse",
    )
    _emit_results.add_output(parser)
    _output_files.add_plot(parser, "the differences")
    _loading.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, compare, print."""
    from harness_uq.comparison.compare import compare, worse_rows
    from harness_uq.comparison.disagreements import disagreements
    from harness_uq.output.comparison_headline import row_name

    _output_files.try_plot(args)
    names = ("comparisons", "disagreements") if args.disagreements else ("comparisons",)
    with _emit_results.emitting(args, *names) as emitter:
        plugins = _argument_values.plugins_of_command(args)
        readings, a, b = _sides(args, plugins)
        failed = max(_loading.report_read_errors(reading) for reading in readings)
        errors = [error for reading in readings for error in _loading.reading_errors(reading)]
        if not (a and b):
            emitter.emit(dict.fromkeys(names, ()), errors)
            return 1
        options = _compare_options(args, [*a, *b])
        rows = compare(a, b, options, plugins=plugins)
        lists: dict[str, Sequence[object]] = {"comparisons": rows}
        if args.disagreements:
            lists["disagreements"] = disagreements(a, b, args.disagreements, options, plugins=plugins)
        emitter.emit(lists, errors)
    _output_files.draw_forest(args, rows)
    if args.fail_if_worse and (worse := worse_rows(rows, args.level)):
        for row in worse:
            _console.print_error(f"worse: {row_name(row, rows)}: {row.verdict_text}")
        return WORSE
    return max(failed, _console.report_failures(rows))


def _compare_options(args: argparse.Namespace, logs: "Sequence[TaskLog]") -> "CompareOptions":
    from harness_uq.comparison.compare import CompareOptions

    structure = _argument_values.structure_options(args)
    _argument_values.check_names(structure, logs)
    _argument_values.check_margin_tasks(args, logs)
    margin, margins = _argument_values.margins(args)
    return CompareOptions(
        method=args.uq,
        level=args.level,
        margin=margin,
        margins=margins,
        scope=args.scope,
        structure=structure,
        seed=args.seed,
    )


def _sides(args: argparse.Namespace, plugins: "Plugins") -> "tuple[list[Reading], list[TaskLog], list[TaskLog]]":
    """The readings, and the logs of A and of B: of two arguments, or of the two systems in any number of arguments."""
    if len(args.runs) == 2 and len(args.models) != 2:
        sides = [_loading.scan_named(args, argument, plugins).reading for argument in args.runs]
        a, b = (_argument_values.select_logs(args, [side]) for side in sides)
        return sides, a, b
    readings = [scan.reading for scan in _loading.scan_all_named(args, args.runs, plugins)]
    logs = _argument_values.select_logs(args, readings)
    if not logs:
        return readings, [], []
    first, second = _two(_in_order(logs, args.models))
    return readings, [log for log in logs if log.system == first], [log for log in logs if log.system == second]


def _in_order(logs: "Sequence[TaskLog]", models: Sequence[str]) -> list[str]:
    """The systems in the order of the patterns of `--model`, or else of the logs."""
    from harness_uq.data.score_selection import matches

    systems = list(dict.fromkeys(log.system for log in logs))
    return list(dict.fromkeys(system for model in models or ["*"] for system in systems if matches(system, [model])))


def _two(systems: Sequence[str]) -> tuple[str, str]:
    """The two systems to compare.

    Raises
    ------
    UsageError : if there are not exactly two
    """
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(systems) == 1:
        raise UsageError(
            f"The logs contain one system: {systems[0]}. Give runs of two systems, or two "
            "files to compare two runs of one system."
        )
    two = " ".join(f"--model {shlex.quote(name)}" for name in systems[:2])
    raise UsageError(
        f"The logs contain {len(systems)} systems: {', '.join(systems)}. Select two, such as {two}, or rank all with "
        "harness-uq rank."
    )
