"""Text printed below lm-eval's tables: scores of single trials, messages, and the comparison with a logged run."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from shutil import get_terminal_size
from typing import Final

from harness_uq.plugin_api import (
    Comparison,
    Estimate,
    Interval,
    RenderOptions,
    escape_control,
    footnotes,
    render_results,
    with_run_names,
)
from harness_uq_lm_eval.live.runtime import Session
from harness_uq_lm_eval.live.settings import LmEvalSettings
from harness_uq_lm_eval.read.replay import is_of_trials

_WIDTH: Final = 100
_STDERR: Final = (
    "Stderr: standard error of harness-uq, which belongs to the interval. --uq-keep-stderr keeps that of lm-eval."
)
_SAVED: Final = "All numbers of the comparison: uq.comparisons in the results file"


def report_text(session: Session, *, is_saved: bool = True) -> str:
    """Report on the last evaluation of the session; empty if there is nothing to report.

    `is_saved`: whether the results are in a file.
    """
    return "".join(f"{part.rstrip()}\n\n" for part in _parts(session, is_saved))


def _parts(session: Session, is_saved: bool) -> Iterator[str]:
    settings = session.requested.settings()
    if session.estimates and settings is not None and not settings.keep_stderr:
        yield _filled(_STDERR)
    if trials := [row for row in session.estimates if is_of_trials(row.filter)]:
        yield trials_table(trials)
    if messages := messages_text(session.estimates):
        yield messages
    if session.no_comparison is not None:
        yield _filled(f"No comparison with {session.requested.values.get('compare')}: {session.no_comparison}")
    if session.comparisons:
        yield comparison_text(session.comparisons, str(session.requested.values.get("compare")), session.estimates)
        if is_saved:
            yield _filled(_SAVED)


def trials_table(rows: Sequence[Estimate]) -> str:
    """Table of the scores of single trials, which lm-eval's tables do not contain."""
    level = next((row.interval.level for row in rows if row.interval), 0.95)
    columns = [
        TableColumn("Tasks", [row.task for row in rows], is_number=False),
        TableColumn("Trials of", [_name(row) for row in rows], is_number=False),
        TableColumn("Estimand", [row.estimand for row in rows], is_number=False),
        TableColumn("n", [str(row.n_trials or NONE) for row in rows]),
        TableColumn("Value", [NONE if row.value is None else f"{row.value:.4f}" for row in rows]),
        TableColumn(f"{100 * level:g}% interval", [interval_text(row.interval) for row in rows], is_number=False),
    ]
    return "\n".join(["Single trials", *table_lines(columns)])


def _name(row: Estimate) -> str:
    _, slash, filter_name = row.filter.partition("/")
    return f"{row.metric}, {filter_name}" if slash else row.metric


def messages_text(rows: Sequence[Estimate | Comparison], known: Sequence[Estimate] = ()) -> str:
    """The messages of the results, each once, with the tasks that it applies to; those of `known` are left out."""
    printed = {message for row in known for message in row.messages}
    others = [replace(row, messages=tuple(one for one in row.messages if one not in printed)) for row in rows]
    lines: list[str] = []
    for heading, texts in footnotes(others).items():
        lines += [*([""] if lines else []), heading] if texts else []
        live = map(LmEvalSettings.with_live_options, dict.fromkeys(texts))
        lines += [_filled(f"- {escape_control(text)}", indent="  ") for text in live]
    return "\n".join(lines)


def comparison_text(rows: Sequence[Comparison], compared_with: str, known: Sequence[Estimate] = ()) -> str:
    """The differences as a table with its headline, and the messages that the estimates do not have.

    `rows`: from `harness_uq.compare`, at least one. `compared_with`: path of the other run.
    """
    table = str(render_results(with_run_names(rows, compared_with), options=RenderOptions(detail="quiet"))).strip("\n")
    return "\n\n".join(filter(None, [table, messages_text(rows, known)]))


def _filled(text: str, indent: str = "") -> str:
    """The text in lines of the width of the terminal or of `COLUMNS`, at most 100."""
    width = min(_WIDTH, get_terminal_size((_WIDTH, 0)).columns)
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


NONE = "-"


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


def table_lines(columns: Sequence[TableColumn]) -> list[str]:
    """The lines of a table with these columns."""
    return [f"|{'|'.join(line)}|" for line in zip(*(column.lines() for column in columns), strict=True)]


def interval_text(interval: Interval | None) -> str:
    """The interval with four digits after the decimal point; a dash if there is none."""
    return f"[{interval.low:.4f}, {interval.high:.4f}]" if interval else NONE
