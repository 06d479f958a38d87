"""Text printed below lm-eval's tables: scores of single trials, warnings, and the comparison with a logged run."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness_uq.plugin_api import Comparison, Estimate, Interval, with_severity
from harness_uq_lm_eval.live.runtime import Session
from harness_uq_lm_eval.live.settings import LmEvalSettings
from harness_uq_lm_eval.read.replay import is_of_trials

_WIDTH = 100
_with_live_options = LmEvalSettings.with_live_options
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
            tasks_of.setdefault(f"{_with_live_options(warning.text)} ({warning.code})", {})[row.task] = None
    n_tasks = len({row.task for row in rows})
    lines = [f"- {_task_list(list(tasks), n_tasks)}: {warning}" for warning, tasks in tasks_of.items()]
    return "\n".join(["Warnings", *(textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in lines)])


def _task_list(tasks: Sequence[str], n_all: int) -> str:
    if 1 < n_all == len(tasks):
        return "all tasks"
    n_more = len(tasks) - _MAX_NAMED
    return ", ".join(tasks[:_MAX_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")


NONE = "-"
_LEGEND = "P(A > B): probability that A's score is higher; uq.comparisons in the results file says more."


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a text table.

    `is_number`: whether the cells are aligned to the right.
    """

    header: str
    cells: Sequence[str]
    is_number: bool = True

    def lines(self) -> list[str]:
        """The header, the rule and the cells, padded to the same width."""
        width = max(1 + self.is_number, *map(len, (self.header, *self.cells)))  # Markdown needs a dash in the rule
        rule = "-" * (width - 1) + ":" if self.is_number else "-" * width
        cells = [cell.rjust(width) if self.is_number else cell.ljust(width) for cell in self.cells]
        return [self.header.center(width), rule, *cells]


def comparison_table(rows: Sequence[Comparison]) -> str:
    """The differences as a table, and a sentence about the task if there is only one.

    `rows`: from `harness_uq.compare`, at least one.
    """
    systems = f"A: {rows[0].system_a}   B: {rows[0].system_b}"
    paragraphs = [_with_live_options(row.answer) for row in rows if len(rows) == 1]
    unmatched = dict.fromkeys(row.task for row in rows if row.n_matched is None)
    if unmatched:
        paragraphs += [f"Not matched question by question, which is less precise: {', '.join(unmatched)}."]
    lines = [systems, *table_lines(_columns(rows)), ""]
    return "\n".join([*lines, *(textwrap.fill(text, _WIDTH) for text in (*paragraphs, _LEGEND))]) + "\n"


def table_lines(columns: Sequence[TableColumn]) -> list[str]:
    """The lines of a table with these columns."""
    return [f"|{'|'.join(line)}|" for line in zip(*(column.lines() for column in columns), strict=True)]


def interval_text(interval: Interval | None) -> str:
    """The interval with four digits after the decimal point; a dash if there is none."""
    return f"[{interval.low:.4f}, {interval.high:.4f}]" if interval else NONE


def _columns(rows: Sequence[Comparison]) -> list[TableColumn]:
    has_filters = any(row.filter != "none" for row in rows)
    intervals = [row.difference.interval if row.difference else None for row in rows]
    level = next((interval.level for interval in intervals if interval), None)
    return [
        TableColumn("Tasks", [row.task for row in rows], is_number=False),
        *([TableColumn("Filter", [row.filter for row in rows], is_number=False)] if has_filters else []),
        TableColumn("Metric", [row.metric for row in rows], is_number=False),
        TableColumn("", ["↑" if row.higher_is_better else "↓" for row in rows], is_number=False),
        TableColumn("A", [_number(row.value_a) for row in rows]),
        TableColumn("B", [_number(row.value_b) for row in rows]),
        TableColumn("A - B", [_number(row.difference.value if row.difference else None) for row in rows]),
        TableColumn(
            f"{100 * level:g}% CI" if level else "CI",
            [interval_text(interval) for interval in intervals],
            is_number=False,
        ),
        TableColumn("P(A > B)", [_probability(row.prob_positive) for row in rows]),
        TableColumn("Verdict", [row.verdict for row in rows], is_number=False),
    ]


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.4f}"


def _probability(value: float | None) -> str:
    """The probability with three digits, `<0.001` or `>0.999`."""
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else ">0.999" if value > 0.999 else f"{value:.3f}"
