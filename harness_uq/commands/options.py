"""Options that several commands declare."""

import argparse
from collections.abc import Sequence
from typing import TypeAlias

from harness_uq.commands import arguments as _arguments

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

METHODS = """\
methods (--uq):
  bayes     a posterior chosen by the structure of the scores (default)
  wilson    Wilson's score interval; with clusters or trials by Korn and Graubard's effective sample size
  t, clt    mean and standard error; with clusters or trials the cluster-robust ones
  NAME      one estimator by name, such as beta, clopper-pearson, clustered, clustered-gamma or dirichlet-process;
            a wrong name lists them all
"""


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
