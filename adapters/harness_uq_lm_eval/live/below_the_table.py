"""What is printed below lm-eval's tables: the warnings of the estimates, and the comparison with a logged run."""

import textwrap
from collections.abc import Iterator, Sequence

from harness_uq import Estimate
from harness_uq_lm_eval.live.comparison_table import NONE, Column, comparison_table, interval_text, joined
from harness_uq_lm_eval.live.runtime import Session
from harness_uq_lm_eval.read.replay import is_of_trials

_WIDTH = 100
_NAMED = 3


def below_the_table(session: Session) -> str:
    """Lines on the last evaluation, none where there is nothing to say."""
    return "".join(f"{part.rstrip()}\n\n" for part in _parts(session))


def _parts(session: Session) -> Iterator[str]:
    if trials := [row for row in session.estimates if is_of_trials(row.filter)]:
        yield trials_table(trials)
    if any(row.warnings for row in session.estimates):
        yield warnings_text(session.estimates)
    if session.no_comparison is not None:
        path = str(session.asked.values.get("compare"))
        yield f"no comparison with {path}: {session.no_comparison.removeprefix(f'{path}: ')}"
    if session.comparisons:
        yield comparison_table(session.comparisons)


def trials_table(rows: Sequence[Estimate]) -> str:
    """Scores of single trials, which have no row in lm-eval's tables."""
    level = next((row.interval.level for row in rows if row.interval), 0.95)
    columns = [
        Column("Tasks", [row.task for row in rows], is_number=False),
        Column("Trials of", [_name(row) for row in rows], is_number=False),
        Column("Estimand", [row.estimand for row in rows], is_number=False),
        Column("n", [str(row.n_trials or NONE) for row in rows]),
        Column("Value", [NONE if row.value is None else f"{row.value:.4f}" for row in rows]),
        Column(f"{100 * level:g}% CI", [interval_text(row.interval) for row in rows], is_number=False),
    ]
    return "\n".join(["Single trials", *joined(columns)])


def _name(row: Estimate) -> str:
    _, slash, filter_name = row.filter.partition("/")
    return f"{row.metric}, {filter_name}" if slash else row.metric


def warnings_text(rows: Sequence[Estimate]) -> str:
    """The warnings of estimates, each once with the tasks that it is about."""
    owners: dict[str, dict[str, None]] = {}
    for row in rows:
        for warning in row.warnings:
            owners.setdefault(warning, {})[row.task] = None
    n_tasks = len({row.task for row in rows})
    lines = [f"- {_whose(list(tasks), n_tasks)}: {warning}" for warning, tasks in owners.items()]
    return "\n".join(["Warnings", *(textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in lines)])


def _whose(tasks: Sequence[str], n_all: int) -> str:
    if 1 < n_all == len(tasks):
        return "all tasks"
    more = len(tasks) - _NAMED
    return ", ".join(tasks[:_NAMED]) + (f" and {more} more" if more > 0 else "")
