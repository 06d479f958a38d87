"""Errors if options request a quantity that cannot be computed for any score."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.commands import console as _console
from harness_uq.estimands import parse_estimand
from harness_uq.messages.catalogue.command_line import NOTHING_ESTIMABLE

if TYPE_CHECKING:
    from harness_uq.messages import Message
    from harness_uq.results.comparison import Comparison
    from harness_uq.results.estimate import Estimate
    from harness_uq.results.overall import Overall
    from harness_uq.results.result_set import ReadError

_DEFAULTS = {"method": "bayes", "scope": "population", "estimand": "mean"}
_ONE_TASK = "The logs contain scores of fewer than two tasks"


def nothing_estimable(args: argparse.Namespace, rows: "Sequence[Estimate | Comparison]") -> "Message | None":
    """An error if options request a method, scope or estimand, and no row has such an interval; otherwise None.

    Metrics that are not means of scores, such as f1, have an estimand of their own, whatever the options request.
    """
    given = {"method": args.uq, "scope": args.scope, "estimand": getattr(args, "estimand", "mean")}
    options = [f"--{name} {value}" for name, value in given.items() if value != _DEFAULTS[name]]
    label = None if given["estimand"] == "mean" else parse_estimand(args.estimand, args.scope).label
    is_computed = (_has_interval(row) and label in (None, getattr(row, "estimand", None)) for row in rows)
    if not (options and rows) or any(is_computed):
        return None
    reasons = Counter(row.reason.text for row in rows if row.reason is not None)
    return NOTHING_ESTIMABLE(options=options, reason=reasons.most_common(1)[0][0] if reasons else "unknown")


def new_tasks_not_estimable(overall: "Overall | None") -> "Message | None":
    """An error if there is no overall result for new tasks, although `--generalize-over task` requests one."""
    if overall is not None and overall.systems:
        return None
    reason = overall.messages[0].text if overall is not None and overall.messages else _ONE_TASK
    return NOTHING_ESTIMABLE(options=["--generalize-over task"], reason=reason)


def error_entries(problem: "Message | None") -> "list[ReadError]":
    """The error as an entry of the list `errors` of a document."""
    return [] if problem is None else [{"path": None, **problem.to_dict()}]


def report_problem(problem: "Message | None") -> int:
    """Print the error on standard error; exit code 1 if there is one."""
    if problem is None:
        return 0
    _console.print_message(problem)
    return 1


def _has_interval(row: "Estimate | Comparison") -> bool:
    return (getattr(row, "interval", None) or getattr(row, "difference", None)) is not None
