"""`harness-uq compare`: whether A is better than B."""

import argparse

from harness_uq.commands import arguments as _arguments
from harness_uq.commands import shared as _shared

WORSE = 3

_EPILOG = """\
verdicts:
  better      A is better than B: the whole interval of the difference lies above 0
  worse       B is: the whole interval lies below 0
  equivalent  whatever difference there is, it is smaller than the margin
  undecided   the data are too few; the answer says which difference they would have shown and what it takes to decide

exit code: 0 done, 1 something could not be read or done, 2 wrong arguments, 3 with --fail-if-worse where A is worse
"""


def add(commands: _shared.Commands) -> None:
    """Declare the arguments."""
    parser = _shared.add_command(
        commands, "compare", "whether A is better than B: paired differences with a verdict", epilog=_EPILOG
    )
    help_text = "file, folder or glob pattern of one system's runs; NAME=PATH calls it NAME"
    parser.add_argument("a", metavar="A", help=help_text)
    parser.add_argument("b", metavar="B", help="the same of the system to compare with")
    _shared.add_structure(parser)
    parser.add_argument(
        "--method",
        type=_arguments.hyphenated,
        choices=["dirichlet", "latent-normal", "t", "independent"],
        default="dirichlet",
        help="dirichlet: posterior of the paired difference in the form that fits clusters, trials and score type; "
        "latent-normal: for independent questions right or wrong once; t: paired, cluster-robust; independent: "
        "questions not matched (default: %(default)s)",
    )
    parser.add_argument(
        "--margin",
        type=_arguments.margin,
        default=0.0,
        help="smallest difference that matters, on the scale of the score, such as 0.01 (default: %(default)s)",
    )
    parser.add_argument(
        "--scope",
        choices=["population", "benchmark"],
        default="population",
        help="difference on new questions of the kind, or on exactly these, tried again and again (default: "
        "%(default)s)",
    )
    _shared.add_level(parser)
    _shared.add_seed(parser)
    parser.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit with code 3 where A is shown to be worse than B by more than the margin, over all tasks or, "
        "allowing for their number, on a single one",
    )
    _shared.add_format(parser, ["table", "json", "csv", "markdown", "latex"])


def run(args: argparse.Namespace) -> int:
    """Read, compare, print."""
    from harness_uq.comparing.analysis import CompareOptions, compare, worse_rows
    from harness_uq.report.comparison_text import comparisons_as

    plugins = _shared.load_plugins(args)
    readings = [_shared.read_named(argument, plugins) for argument in (args.a, args.b)]
    failed = max(_shared.say_reading(reading, plugins) for reading in readings)
    if not all(reading.logs for reading in readings):
        return 1
    structure = _shared.structure_options(args)
    _shared.check_names(structure, [log for reading in readings for log in reading.logs])
    options = CompareOptions(
        method=args.method.replace("-", "_"),
        level=args.level,
        margin=args.margin,
        scope=args.scope,
        structure=structure,
        seed=args.seed,
    )
    rows = compare(readings[0].logs, readings[1].logs, options, plugins=plugins)
    print(comparisons_as(rows, args.format, errors=[e for r in readings for e in _shared.reading_errors(r)]))
    if args.fail_if_worse and worse_rows(rows, args.level):
        return WORSE
    return max(failed, _shared.say_failures(rows))
