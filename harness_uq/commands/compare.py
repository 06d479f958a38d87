"""`harness-uq compare`: whether A is better than B."""

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import asked as _asked
from harness_uq.commands import options as _options
from harness_uq.commands import output as _output
from harness_uq.commands import reading as _reading
from harness_uq.commands import saying as _saying
from harness_uq.commands import scale as _scale

if TYPE_CHECKING:
    from harness_uq.logs.data import TaskLog
    from harness_uq.plugins.manager import Plugins
    from harness_uq.plugins.reading import Reading

WORSE = 3

_EPILOG = """\
verdicts:
  better      A is better than B: the whole interval of the difference lies above 0
  worse       B is: the whole interval lies below 0
  equivalent  whatever difference there is, it is smaller than the margin
  undecided   the data are too few; the answer says which difference they would have shown and what it takes to decide

exit code: 0 done, 1 something could not be read or done, 2 wrong arguments, 3 with --fail-if-worse where A is worse
"""


def add(commands: _options.Commands) -> None:
    """Declare the arguments."""
    parser = _options.add_command(
        commands, "compare", "whether A is better than B: paired differences with a verdict", epilog=_EPILOG
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="file, folder or glob pattern: one of A's runs and one of B's, or any that hold two systems; NAME=PATH "
        "calls the system NAME. Of more than two, --model A --model B names two",
    )
    _options.add_structure(parser)
    parser.add_argument(
        "--uq",
        "--method",
        type=_arguments.hyphenated,
        choices=["bayes", "dirichlet", "latent-normal", "t", "independent"],
        default="bayes",
        metavar="METHOD",
        help="bayes: posterior of the paired difference in the form that fits clusters, trials and score type "
        "(Dirichlet); latent-normal: for independent questions right or wrong once; t: paired, cluster-robust; "
        "independent: questions not matched (default: %(default)s)",
    )
    _options.add_margin(parser)
    _options.add_scope_of_difference(parser)
    _options.add_level(parser)
    _options.add_seed(parser)
    parser.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit with code 3 where A is shown to be worse than B by more than the margin, over all tasks or, "
        "allowing for their number, on a single one",
    )
    parser.add_argument(
        "--disagreements",
        type=_arguments.count,
        metavar="N",
        help="list up to N questions a task on which the two differ most, those first on which A is worse",
    )
    _options.add_format(parser, ["table", "json", "csv", "markdown", "latex"])
    _options.add_paper(parser)
    _output.add_plot(parser, "the differences")
    _scale.add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Read, compare, print."""
    from harness_uq.comparing.analysis import CompareOptions, compare, worse_rows
    from harness_uq.comparing.disagreements import disagreements
    from harness_uq.report.answers import row_name
    from harness_uq.report.comparison_text import comparisons_as
    from harness_uq.report.latex import comparisons_latex

    if args.disagreements and args.format in ("csv", "latex"):
        raise _asked.UsageError("--disagreements goes with --format table, markdown or json")
    _output.try_plot(args)
    plugins = _asked.load_plugins(args)
    readings, a, b = _sides(args, plugins)
    failed = max(_reading.say_reading(reading, plugins) for reading in readings)
    if not (a and b):
        return 1
    structure = _asked.structure_options(args)
    _asked.check_names(structure, [*a, *b])
    _asked.check_margins(args, [*a, *b])
    margin, margins = _asked.margins_of(args)
    options = CompareOptions(
        method="dirichlet" if args.uq == "bayes" else args.uq.replace("-", "_"),
        level=args.level,
        margin=margin,
        margins=margins,
        scope=args.scope,
        structure=structure,
        seed=args.seed,
    )
    rows = compare(a, b, options, plugins=plugins)
    apart = disagreements(a, b, args.disagreements, options, plugins=plugins) if args.disagreements else ()
    errors = [error for reading in readings for error in _reading.reading_errors(reading)]
    if args.format == "latex":
        with _asked.checking_arguments():
            print(comparisons_latex(rows, _asked.paper_of(args)).strip("\n"))
    else:
        print(comparisons_as(rows, args.format, errors=errors, disagreements=apart))
    _output.draw_forest(args, rows)
    if args.fail_if_worse and (worse := worse_rows(rows, args.level)):
        for row in worse:
            _saying.complain(f"worse: {row_name(row, rows)}: {row.verdict_text}")
        return WORSE
    return max(failed, _saying.say_failures(rows))


def _sides(args: argparse.Namespace, plugins: "Plugins") -> "tuple[list[Reading], list[TaskLog], list[TaskLog]]":
    """What was read, and the logs of A and of B: those of two arguments, or of the two systems under any number."""
    if len(args.runs) == 2 and len(args.models) != 2:
        sides = [_scale.scan_named(args, argument, plugins).reading for argument in args.runs]
        a, b = (_asked.selected(args, [side]) for side in sides)
        return sides, a, b
    readings = [found.reading for found in _scale.scan_all_named(args, args.runs, plugins)]
    logs = _asked.selected(args, readings)
    if not logs:
        return readings, [], []
    first, second = _two(_in_order(logs, args.models))
    return readings, [log for log in logs if log.system == first], [log for log in logs if log.system == second]


def _in_order(logs: "Sequence[TaskLog]", models: Sequence[str]) -> list[str]:
    """The systems, in the order of the patterns that name them, else of the logs."""
    from harness_uq.logs.selection import matches

    systems = list(dict.fromkeys(log.system for log in logs))
    return list(dict.fromkeys(system for model in models or ["*"] for system in systems if matches(system, [model])))


def _two(systems: Sequence[str]) -> tuple[str, str]:
    """The first two, of two.

    Raises
    ------
    UsageError : of any other number
    """
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(systems) == 1:
        raise _asked.UsageError(
            f"a comparison takes two systems, and these logs hold one, {systems[0]}; compare FILE FILE takes two runs "
            "of one system"
        )
    two = " ".join(f"--model {shlex.quote(name)}" for name in systems[:2])
    raise _asked.UsageError(
        f"these logs hold {len(systems)} systems: {', '.join(systems)}. Name two, such as {two}, or order them all "
        "with harness-uq rank"
    )
