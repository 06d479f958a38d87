"""Text printed below lm-eval's tables: scores of single trials, warnings, and the comparison with a logged run."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from harness_uq.plugin_api import Estimate, with_severity
from harness_uq_lm_eval.live.comparison_table import NONE, TableColumn, comparison_table, interval_text, table_lines
from harness_uq_lm_eval.live.runtime import Session
from harness_uq_lm_eval.live.settings import with_live_options
from harness_uq_lm_eval.read.replay import is_of_trials

_WIDTH = 100
_MAX_NAMED = 3
_LISTED: Final = ("refusal", "error", "warning")


def report_text(session: Session) -> str:
    """Report on the last evaluation of the session; empty if there is nothing to report."""
    return "".join(f"{part.rstrip()}\n\n" for part in _parts(session))


def _parts(session: Session) -> Iterator[str]:
    if trials := [row for row in session.estimates if is_of_trials(row.filter)]:
        yield trials_table(trials)
    if any(with_severity(row.messages, *_LISTED) for row in session.estimates):
        yield warnings_text(session.estimates)
    if session.no_comparison is not None:
        yield f"No comparison with {session.requested.values.get('compare')}: {session.no_comparison}"
    if session.comparisons:
        yield comparison_table(session.comparisons)


def trials_table(rows: Sequence[Estimate]) -> str:
    """Table of the scores of single trials, which lm-eval's tables do not contain."""
    level = next((row.interval.level for row in rows if row.interval), 0.95)
    columns = [
        TableColumn("Tasks", [row.task for row in rows], is_number=False),
        TableColumn("Trials of", [_name(row) for row in rows], is_number=False),
        TableColumn("Estimand", [row.estimand for row in rows], is_number=False),
        TableColumn("n", [str(row.n_trials or NONE) for row in rows]),
        TableColumn("Value", [NONE if row.value is None else f"{row.value:.4f}" for row in rows]),
        TableColumn(f"{100 * level:g}% CI", [interval_text(row.interval) for row in rows], is_number=False),
    ]
    return "\n".join(["Single trials", *table_lines(columns)])


def _name(row: Estimate) -> str:
    _, slash, filter_name = row.filter.partition("/")
    return f"{row.metric}, {filter_name}" if slash else row.metric


def warnings_text(rows: Sequence[Estimate]) -> str:
    """The warnings of the estimates, each once, with the tasks that it applies to."""
    tasks_of: dict[str, dict[str, None]] = {}
    for row in rows:
        for warning in with_severity(row.messages, *_LISTED):
            tasks_of.setdefault(f"{with_live_options(warning.text)} ({warning.code})", {})[row.task] = None
    n_tasks = len({row.task for row in rows})
    lines = [f"- {_task_list(list(tasks), n_tasks)}: {warning}" for warning, tasks in tasks_of.items()]
    return "\n".join(["Warnings", *(textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in lines)])


def _task_list(tasks: Sequence[str], n_all: int) -> str:
    if 1 < n_all == len(tasks):
        return "all tasks"
    n_more = len(tasks) - _MAX_NAMED
    return ", ".join(tasks[:_MAX_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
