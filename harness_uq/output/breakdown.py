"""Scores by groups of questions for readers: whether the groups differ, and a table of groups."""

from collections import Counter
from collections.abc import Sequence

from harness_uq.output.columns import format_interval, format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section, count_cells
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import interval_header
from harness_uq.output.terminal import Cells
from harness_uq.results.breakdown import Breakdown, GroupDifference, GroupScore

_DIFFERENT = 0.05
POOLED = (
    "Pooled: estimate that is shrunk towards the other groups, because the highest and lowest of many groups are "
    "extreme partly by chance."
)


def breakdowns_document(rows: Sequence[Breakdown], digits: int = 4) -> Document:
    """One table of groups for each breakdown."""
    counts = Counter(map(_title, rows))
    titles = [f"{_title(row)} (run {_run(row)})" if counts[_title(row)] > 1 else _title(row) for row in rows]
    sections = [_section(row, digits, title) for row, title in zip(rows, titles, strict=True)]
    return Document(sections, message_lists(rows), caption="Scores by group.")


def _title(row: Breakdown) -> str:
    return f"{row.system}: {row.task}, {metric_name(row.metric, row.filter)} by {row.field}"


def _run(row: Breakdown) -> str:
    """When the run was logged, or else where."""
    return (row.source.time or "")[:16].replace("T", " ") or row.source.path


def breakdown_answer(row: Breakdown) -> str:
    """Whether the groups differ, and the lowest and highest group."""
    p = row.heterogeneity_p
    if p is None:
        return ""
    n = sum(one.n_questions > 0 for one in row.groups)
    if p > _DIFFERENT:
        return f"The data do not show that the scores of the {n} groups differ ({p_text(p)})."
    known = sorted((one.pooled_value, one.group) for one in row.groups if one.pooled_value is not None)
    ends = [f"{value:.4g} ({group})" for value, group in (known[0], known[-1])] if known else []
    extremes = f" The pooled scores range from {' to '.join(ends)}." if ends else ""
    return f"The scores of the {n} groups differ ({p_text(p)}).{extremes}"


def p_text(p: float) -> str:
    """A p-value, such as `p = 0.012` or `p < 0.001`.

    >>> p_text(0.0123), p_text(1e-9)
    ('p = 0.012', 'p < 0.001')
    """
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def _section(row: Breakdown, digits: int, title: str) -> Section:
    groups = row.groups
    columns = [
        Cells(row.field, [one.group for one in groups], is_number=False, wraps=True, name="group"),
        Cells("Score", [format_number(one.value, digits) for one in groups]),
        *interval_cells(groups, digits),
        *count_cells(
            [str(one.n_questions) for one in groups],
            [one.n_clusters for one in groups],
            ["" for _ in groups],
        ),
    ]
    return Section(title, columns, (), breakdown_answer(row), {"Pooled": POOLED})


def interval_cells(groups: Sequence[GroupScore | GroupDifference], digits: int, spare: int = 1) -> list[Cells]:
    """The columns of the intervals, the pooled values and their intervals."""
    return [
        Cells(
            interval_header(one.interval for one in groups),
            [format_interval(one.interval, digits) for one in groups],
            name="interval",
        ),
        Cells("Pooled", [format_number(one.pooled_value, digits) for one in groups]),
        Cells(
            "Pooled interval",
            [format_interval(one.pooled_interval, digits) for one in groups],
            name="pooled_interval",
            spare=spare,
        ),
    ]


KIND = ResultKind(Breakdown, breakdowns_document)
