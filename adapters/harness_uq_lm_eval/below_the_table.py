"""What is printed below lm-eval's tables: the warnings of the estimates, and the comparison with a logged run."""

import textwrap
from collections.abc import Iterator, Sequence

from harness_uq import Estimate
from harness_uq_lm_eval.comparison_table import comparison_table
from harness_uq_lm_eval.runtime import Session

_WIDTH = 100
_NAMED = 3


def below_the_table(session: Session) -> str:
    """Lines on the last evaluation, none where there is nothing to say."""
    return "".join(f"{part.rstrip()}\n\n" for part in _parts(session))


def _parts(session: Session) -> Iterator[str]:
    if any(row.warnings for row in session.estimates):
        yield warnings_text(session.estimates)
    if session.no_comparison is not None:
        path = str(session.asked.values.get("compare"))
        yield f"no comparison with {path}: {session.no_comparison.removeprefix(f'{path}: ')}"
    if session.comparisons:
        yield comparison_table(session.comparisons)


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
