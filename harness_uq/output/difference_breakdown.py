"""Differences by groups of questions for readers: the groups on which the systems differ, and a table of groups."""

from harness_uq.messages import with_severity
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.output.breakdown import POOLED, interval_cells, p_text
from harness_uq.output.columns import format_number, metric_name
from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.phrases import join_names, missing_caveat, probability
from harness_uq.output.terminal import Cells
from harness_uq.results.breakdown import DifferenceBreakdown

_COLOURS = {"better": "green", "worse": "red", "undecided": "yellow"}


def difference_breakdown_answer(row: DifferenceBreakdown) -> str:
    """The groups on which A is worse and better, after correction for their number."""
    names = {verdict: [one.group for one in row.groups if one.verdict == verdict] for verdict in ("worse", "better")}
    parts = [f"{verdict} than {row.system_b} on {join_names(groups)}" for verdict, groups in names.items() if groups]
    n = row.n_tests
    if not parts:
        systems = f"{row.system_a} and {row.system_b}"
        outcome = f"No group shows a difference between {systems} after correction for {n} groups."
    else:
        outcome = f"After correction for {n} groups, {row.system_a} is {' and '.join(parts)}."
    return f"{outcome} {_caveat(row)}".rstrip()


def _caveat(row: DifferenceBreakdown) -> str:
    """A sentence on the groups whose verdicts depend on missing scores; empty if there are none."""
    code = VERDICT_DEPENDS_ON_MISSING.code
    warned = with_severity(row.messages, "warning")
    return missing_caveat(str(message.params["group"]) for message in warned if message.code == code)


def _section(row: DifferenceBreakdown, digits: int) -> Section:
    groups = row.groups
    columns = [
        Cells(row.field, [one.group for one in groups], is_number=False, wraps=True, name="group"),
        Cells("A", [format_number(one.value_a, digits) for one in groups], spare=2),
        Cells("B", [format_number(one.value_b, digits) for one in groups], spare=2),
        Cells("A − B", [format_number(one.value, digits) for one in groups]),
        *interval_cells(groups, digits, spare=3),
        Cells("N", ["-" if one.n_questions is None else str(one.n_questions) for one in groups]),
        Cells("Adjusted p", [probability(one.adjusted_p) for one in groups], spare=1),
        Cells("Verdict", [one.verdict for one in groups], is_number=False, styles=_COLOURS),
    ]
    title = f"{row.task}, {metric_name(row.metric, row.filter)} by {row.field} (A: {row.system_a}, B: {row.system_b})"
    legend = {
        "Pooled": POOLED,
        "Adjusted p": f"Adjusted p: two-sided p-value, corrected for {row.n_tests} groups by Holm's method.",
    }
    lines = []
    if row.heterogeneity_p is not None:
        lines = [f"Test whether the difference is the same on all groups (Cochran's Q): {p_text(row.heterogeneity_p)}."]
    return Section(title, columns, lines, difference_breakdown_answer(row), legend)


KIND = ResultKind(DifferenceBreakdown, one_section_each(_section, "Differences by group."))
