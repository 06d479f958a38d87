"""What the module of a command declares: its help, its function and its arguments."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_uq.options import Option

METHODS = """\
Methods (--method):
  bayes   Bayesian method that suits the type and the structure of the scores
          (default)
  wilson  Wilson score interval; for clusters or repeated trials, with the
          effective sample size of Korn and Graubard
  t, clt  Student's t or normal interval, with cluster-robust standard errors
  NAME    Any other method, such as beta, clopper-pearson or clustered;
          harness-uq plugins lists all methods
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the module of a command declares.

    `usage`: the arguments after the name. `examples`: pairs of an explanation and a command line. `run`: runs the
    command, and returns its exit code. `arguments`: arguments that only this command has. `details`: text below the
    options. `more`: text below it in `--help-all`. `exit_codes`: meaning of the exit codes, in one line.
    """

    usage: str
    examples: Sequence[tuple[str, str]]
    run: Callable[[argparse.Namespace], int]
    arguments: Sequence[Option] = ()
    details: str = ""
    more: str = ""
    exit_codes: str = "0 success, 1 failure, 2 wrong arguments"


def logs_argument(
    name: str = "logs",
    metavar: str = "LOG",
    *,
    nargs: str | None = "+",
    help: str = "File, folder or glob pattern of logged runs",  # noqa: A002
) -> Option:
    """A positional argument, by default the paths of logs."""
    return Option(name=name, flags=(name,), group="Data", nargs=nargs, metavar=metavar, help=help)


def named_logs(nargs: str = "+", details: str = "") -> Option:
    """The positional argument with logs, which may be `NAME=LOG`."""
    text = f"File, folder or glob pattern of logged runs; NAME=LOG names the system{details}"
    return logs_argument(nargs=nargs, help=text)


def format_argument(*formats: str) -> Option:
    """`--format` of commands with formats of their own; the first format is the default."""
    text = f"Print {' or '.join(formats)} (default: {formats[0]})"
    return Option(name="format", group="Output", choices=formats, default=formats[0], help=text)
