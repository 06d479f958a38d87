"""Options that several commands declare; the text of each is the same in every command."""

from typing import Any

from harness_uq.commands import argument_types as _argument_types
from harness_uq.commands.parser import CommandParser

METHODS = """\
Methods (--method):
  bayes   Bayesian method that suits the type and the structure of the scores
          (default)
  wilson  Wilson score interval; for clusters or repeated trials, with the
          effective sample size of Korn and Graubard
  t, clt  Student's t or normal interval, with cluster-robust standard errors
  NAME    Any other method, such as beta, clopper-pearson or clustered; an
          unknown name prints a list of all methods
"""


_OPTIONS: dict[str, dict[str, Any]] = {
    "--by": {
        "group": "Data",
        "action": "append",
        "default": [],
        "metavar": "FIELD",
        "help": "Also print results for each value of FIELD of the questions, such as category (repeatable)",
    },
    "--use-samples": {
        "group": "Data",
        "action": "store_true",
        "help": "Use the logged samples even if the logged totals are based on more questions",
    },
    "--missing": {
        "group": "Data",
        "action": "append",
        "default": [],
        "metavar": "[CAUSE=]POLICY",
        "help": "Set the policy for trials without a score: drop, zero, bounds or error (repeatable, default: drop)",
    },
    "--treat": {
        "group": "Data",
        "action": "append",
        "default": [],
        "metavar": "CAUSE=POLICY",
        "help": "Apply POLICY to trials that ended with CAUSE, such as 'limit', even if they have a score (repeatable)",
    },
    "--resources": {
        "group": "Data",
        "action": "store_true",
        "help": "Also analyze tokens, cost, time, messages and turns, and the cost per solved question",
    },
    "--prices": {
        "group": "Data",
        "metavar": "FILE",
        "help": "Use the token prices in this TOML file if the log contains no costs; implies --resources",
    },
    "--follow-links": {
        "group": "Output",
        "action": "store_true",
        "help": "Also change logs outside the given folders if links in these folders point to them",
    },
    "--margin": {
        "group": "Method",
        "action": "append",
        "default": [],
        "type": _argument_types.task_margin,
        "metavar": "[TASK=]D",
        "dest": "margins",
        "help": "Set the smallest difference that matters to you, in units of the score (default: 0, repeatable)",
    },
    "--scope": {
        "group": "Method",
        "choices": ["population", "benchmark"],
        "default": "population",
        "help": "Draw conclusions about similar new questions, or only about these questions (default: %(default)s)",
    },
    "--level": {
        "group": "Method",
        "type": _argument_types.level,
        "default": 0.95,
        "metavar": "P",
        "help": "Set the nominal coverage of the intervals (default: %(default)s)",
    },
    "--seed": {
        "group": "Method",
        "type": _argument_types.seed,
        "default": 0,
        "metavar": "N",
        "help": "Set the seed for methods that use random numbers (default: %(default)s)",
    },
    "--percent": {
        "group": "Output",
        "action": "store_true",
        "help": "Print scores from 0 to 1 as percentages (in the formats table, markdown and latex)",
    },
}
"""The group of each option, and its keywords of `add_argument`."""


def add_options(parser: CommandParser, *names: str) -> None:
    """Declare options by their names, such as `--level`."""
    for name in names:
        keywords = dict(_OPTIONS[name])
        parser.groups[keywords.pop("group")].add_argument(name, **keywords)


def add_logs(parser: CommandParser) -> None:
    """`LOG`: the logs to read."""
    text = "File, folder or glob pattern of logged runs"
    parser.groups["Data"].add_argument("logs", nargs="+", metavar="LOG", help=text)


def add_named_logs(parser: CommandParser, *, nargs: str = "+", details: str = "") -> None:
    """`LOG` or `NAME=LOG`: logs to read, and the name of the system in them."""
    text = f"File, folder or glob pattern of logged runs; NAME=LOG names the system{details}"
    parser.groups["Data"].add_argument("logs", nargs=nargs, metavar="LOG", help=text)


def add_selection(parser: CommandParser) -> None:
    """`--task`, `--metric`, `--filter` and `--model`: parts of the logs to use."""
    data = parser.groups["Data"]
    for name, text in (
        ("task", "Use only tasks whose names match PATTERN; the name of a group selects all of its tasks (repeatable)"),
        ("metric", "Use only metrics whose names match PATTERN (repeatable)"),
        (
            "filter",
            "Use only scores whose filter matches PATTERN; 'none' selects scores without a filter (repeatable)",
        ),
        ("model", "Use only systems whose displayed names match PATTERN (repeatable)"),
    ):
        data.add_argument(f"--{name}", action="append", default=[], metavar="PATTERN", dest=f"{name}s", help=text)


def add_structure(parser: CommandParser) -> None:
    """`--cluster` and the options of `add_scores`: which scores, and how they depend."""
    add_scores(parser)
    data = parser.groups["Data"]
    data.add_argument(
        "--cluster",
        action="append",
        default=[],
        metavar="[TASK=]FIELD",
        help="Cluster questions by FIELD; 'auto' detects FIELD, 'none' ignores clusters (default: auto, repeatable)",
    )


def add_scores(parser: CommandParser) -> None:
    """`--range`, `--column` and the options of `add_selection`, of commands that do not use clusters."""
    add_selection(parser)
    parser.set_defaults(cluster=[])
    data = parser.groups["Data"]
    data.add_argument(
        "--range",
        action="append",
        default=[],
        type=_argument_types.metric_range,
        metavar="[TASK:]METRIC=LO,HI",
        dest="ranges",
        help="Set the smallest and largest possible score of a metric (repeatable)",
    )
    data.add_argument(
        "--column",
        action="append",
        default=[],
        type=_argument_types.column,
        metavar="ROLE=NAME",
        dest="table_columns",
        help="Read ROLE, such as score, question or system, from the column NAME of a table (repeatable)",
    )


def add_estimation(parser: CommandParser) -> None:
    """The options of `add_structure` and `--use-samples`, and how scores are estimated."""
    add_structure(parser)
    add_options(parser, "--use-samples")
    method = parser.groups["Method"]
    method.add_argument(
        "--uq",
        "--method",
        default="bayes",
        metavar="METHOD",
        help="Compute the intervals with this method; see the list below (default: %(default)s)",
    )
    add_options(parser, "--level")
    method.add_argument(
        "--scope",
        choices=["population", "benchmark", "full"],
        default="population",
        help="Estimate the score on new questions, these questions or the whole benchmark (default: %(default)s)",
    )
    method.add_argument(
        "--estimand",
        default="mean",
        help="Estimate this quantity: mean, pass@K, pass^K, G-pass@K:TAU, mG-pass@K or maj@K (default: %(default)s)",
    )
    method.add_argument(
        "--interval",
        choices=["hdi", "quantile"],
        help="Compute highest-density or equal-tailed credible intervals (default: depends on the method)",
    )
    add_options(parser, "--seed")


def add_factors(parser: CommandParser, default: str) -> None:
    """`--factor` and `--generalize-over`: what scores depend on besides questions."""
    parser.groups["Method"].add_argument(
        "--generalize-over",
        metavar="NAME[,NAME]",
        help=f"Estimate the score for new values of these factors, such as question,seed (default: {default})",
    )
    parser.groups["Data"].add_argument(
        "--factor",
        action="append",
        default=[],
        metavar="NAME=FIELD",
        dest="factors",
        help="Define the factor NAME by the run setting FIELD, or by 'task', 'path' or 'run' (repeatable)",
    )


def add_overall(parser: CommandParser) -> None:
    """Options of the overall result of several tasks; `--metric` also chooses the metric of a task in it."""
    overall = parser.groups["Overall result"]
    parser.replace_help(
        "--metric",
        "Use only metrics that match PATTERN; TASK=NAME sets the metric of TASK in the overall score (repeatable)",
    )
    overall.add_argument(
        "--weights",
        metavar="WEIGHTS",
        help="Set the weights of tasks: equal, questions, group, subtasks or a FILE of weights (default: equal)",
    )
    overall.add_argument(
        "--normalize",
        choices=["none", "chance"],
        default="none",
        help="Rescale scores so that random answers score 0 (chance), or do not rescale them (default: %(default)s)",
    )
    overall.add_argument(
        "--chance",
        action="append",
        default=[],
        type=_argument_types.task_chance,
        metavar="TASK=P",
        dest="chances",
        help="Set the expected score of random answers on TASK, such as 0.25 (repeatable)",
    )
    overall.add_argument(
        "--missing-tasks",
        choices=["common", "drop-system", "error"],
        help="If a system lacks a task, use common tasks only, drop the system, or stop (default: common)",
    )


def add_format(parser: CommandParser, formats: list[str]) -> None:
    """`--format`; the first format is the default."""
    parser.groups["Output"].add_argument(
        "--format", choices=formats, default=formats[0], help=f"Print {' or '.join(formats)} (default: %(default)s)"
    )
