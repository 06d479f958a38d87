"""Scores and differences by groups of questions: classes, columns, headlines and figure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from harness_uq.data.task_log import Source
from harness_uq.messages import HasMessages, Message, with_severity
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.output.declared import Declared
from harness_uq.output.document import Column, Kind, Section, question_columns, table
from harness_uq.output.figures import axes as draw
from harness_uq.output.figures.marks import ends
from harness_uq.output.table_notes import missing_caveat
from harness_uq.output.words import (
    counted,
    decisive_interval,
    interval,
    interval_header,
    join_names,
    metric_name,
    number,
    p_text,
    probability,
)
from harness_uq.results.comparison import VERDICT_COLOURS, Verdict
from harness_uq.results.estimate import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POOLED = (
    "Pooled: estimate that is shrunk towards the other groups, because the highest and lowest of many groups are "
    "extreme partly by chance."
)
_DIFFERENT = 0.05


@dataclass(frozen=True, slots=True)
class GroupScore(Declared):
    """Score of one group of questions.

    `group`: value of the field, or a range of numbers. `n_questions`, `n_clusters`: numbers of scored questions, and of
    their clusters; None without clusters. `value`, `interval`, `std_error`: estimate from the questions of the group
    alone; None if it is not estimable. `pooled_value`, `pooled_interval`: partially pooled estimate, shrunk towards the
    other groups; None if unavailable.
    """

    group: str
    n_questions: int
    n_clusters: int | None = None
    value: float | None = None
    interval: Interval | None = None
    std_error: float | None = None
    pooled_value: float | None = None
    pooled_interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Breakdown(Declared, HasMessages):
    """Scores of one task by groups of questions.

    `groups`: in the order of the field's values. `heterogeneity_p`: p-value of the hypothesis that all groups have the
    same score; None if it cannot be tested. `spread`: posterior median of the standard deviation between the true
    scores of groups; None without pooling.
    """

    record_rows: ClassVar = "groups"

    system: str
    task: str
    metric: str
    filter: str
    field: str
    groups: tuple[GroupScore, ...]
    source: Source
    heterogeneity_p: float | None = None
    spread: float | None = None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupDifference(Declared):
    """Difference between two systems on one group of questions.

    `group`: value of the field, or a range of numbers. `n_questions`: number of questions that both systems answered;
    None if they could not be matched. `n_clusters`: number of their clusters; None without clusters. `value_a`,
    `value_b`: scores of the two systems. `value`, `interval`, `std_error`: difference A minus B from the questions of
    the group alone; None if not estimable. `pooled_value`, `pooled_interval`: partially pooled difference; None if it
    is unavailable. `p_value`: two-sided p-value of the hypothesis that the systems are equal on this group, or that
    they differ by the margin or more if this is what the verdict rejects. `adjusted_p`: the same, adjusted by Holm's
    method over the groups of all fields, metrics and filters of the task. `verdict`: that of the interval.
    `verdict_corrected`: the same, or `undecided` if `adjusted_p` is larger than 1 - level.
    """

    group: str
    n_questions: int | None = None
    n_clusters: int | None = None
    value_a: float | None = None
    value_b: float | None = None
    value: float | None = None
    interval: Interval | None = None
    std_error: float | None = None
    pooled_value: float | None = None
    pooled_interval: Interval | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    verdict: Verdict = "undecided"
    verdict_corrected: Verdict = "undecided"


@dataclass(frozen=True, slots=True)
class DifferenceBreakdown(Declared, HasMessages):
    """Differences between two systems on one task by groups of questions.

    `groups`: first those on which A loses most by the pooled difference, last those without a difference.
    `heterogeneity_p`: p-value of Cochran's Q test of the hypothesis that the difference is the same on all groups.
    `spread`: posterior median of the standard deviation between the true differences of groups; None without pooling.
    `n_tests`: number of groups for which verdicts are corrected, of all fields, metrics and filters of the task.
    `margin`: largest difference that counts as equivalent.
    """

    record_rows: ClassVar = "groups"

    system_a: str
    system_b: str
    task: str
    metric: str
    filter: str
    field: str
    groups: tuple[GroupDifference, ...]
    higher_is_better: bool = True
    heterogeneity_p: float | None = None
    spread: float | None = None
    n_tests: int = 0
    margin: float = 0.0
    messages: tuple[Message, ...] = ()


Groups: TypeAlias = Breakdown | DifferenceBreakdown


def _sections(rows: Sequence[Breakdown], digits: int) -> Iterator[Section]:
    """One table of groups for each breakdown; those of several runs have the time of the run in their title."""
    counts = Counter(map(_title, rows))
    for row in rows:
        run = (row.source.time or "")[:16].replace("T", " ") or row.source.path
        title = f"{_title(row)} (run {run})" if counts[_title(row)] > 1 else _title(row)
        columns = [
            Column(row.field, "group", wraps=True, name="group"),
            Column("Score", "value", number),
            *_interval_columns(row),
            *question_columns(row.groups, "n_questions", clusters=lambda one: f"{one.n_clusters} "),
        ]
        yield table(title, columns, row.groups, digits, answer=breakdown_answer(row), legend={"Pooled": POOLED})


def _title(row: Breakdown) -> str:
    return f"{row.system}: {row.task}, {metric_name(row.metric, row.filter)} by {row.field}"


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


def _interval_columns(row: Groups, spare: int = 1, thresholds: Sequence[float] = ()) -> list[Column]:
    """The columns of the intervals, and of pooled values if there are any; verdicts depend on the thresholds."""
    header = interval_header(one.interval for one in row.groups)
    is_pooled = any(one.pooled_interval is not None for one in row.groups)
    return [
        Column(header, "interval", lambda ends, digits: decisive_interval(ends, thresholds, digits), "interval"),
        Column("Pooled", "pooled_value", number),
        Column("Pooled interval", "pooled_interval", interval, "pooled_interval", spare=spare, is_shown=is_pooled),
    ]


def difference_breakdown_answer(row: DifferenceBreakdown) -> str:
    """The verdicts on groups that hold after correction for their number, and those that do not."""
    held = _verdicts(row, [one for one in row.groups if one.verdict_corrected == one.verdict])
    lost = _verdicts(row, [one for one in row.groups if one.verdict_corrected != one.verdict])
    corrected = f"after correction for {counted(row.n_tests, 'group')}"
    if held:
        outcome = f"{corrected.capitalize()}, {row.system_a} is {held}."
    else:
        outcome = f"No group shows a difference between {row.system_a} and {row.system_b} {corrected}."
    uncorrected = f"Without correction, {row.system_a} is {'also ' if held else ''}{lost}." if lost else ""
    return " ".join(filter(None, [outcome, uncorrected, _caveat(row)]))


def _verdicts(row: DifferenceBreakdown, groups: Sequence[GroupDifference]) -> str:
    """The verdicts on these groups as the end of a sentence; empty if all are undecided."""
    relations = {"worse": "worse than", "equivalent": "equivalent to", "better": "better than"}
    names = {verdict: [one.group for one in groups if one.verdict == verdict] for verdict in relations}
    parts = [f"{relations[verdict]} {row.system_b} on {join_names(them)}" for verdict, them in names.items() if them]
    return " and ".join(parts)


def _caveat(row: DifferenceBreakdown) -> str:
    """A sentence on the groups whose verdicts depend on missing scores; empty if there are none."""
    code = VERDICT_DEPENDS_ON_MISSING.code
    warned = with_severity(row.messages, "warning")
    return missing_caveat(str(message.params["group"]) for message in warned if message.code == code)


def _size(one: GroupDifference) -> str:
    n = "-" if one.n_questions is None else str(one.n_questions)
    return f"{n}/{one.n_clusters}" if one.n_clusters else n


def _difference_sections(rows: Sequence[DifferenceBreakdown], digits: int) -> Iterator[Section]:
    for row in rows:
        has_clusters = any(one.n_clusters for one in row.groups)
        columns = [
            Column(row.field, "group", wraps=True, name="group"),
            Column("A", "value_a", number, spare=2),
            Column("B", "value_b", number, spare=2),
            Column("A − B", "value", number),
            *_interval_columns(row, spare=3, thresholds=(0.0, row.margin, -row.margin)),
            Column("N", _size, is_number=True, legend="questions/clusters." if has_clusters else ""),
            Column("Adjusted p", "adjusted_p", probability, spare=1),
            Column("Verdict", "verdict", styles=VERDICT_COLOURS),
        ]
        name = f"{row.task}, {metric_name(row.metric, row.filter)}"
        lines, p = [], row.heterogeneity_p
        if p is not None:
            lines = [f"Test whether the difference is the same on all groups (Cochran's Q): {p_text(p)}."]
        adjusted = f"Adjusted p: two-sided p-value, corrected for {counted(row.n_tests, 'group')} by Holm's method."
        yield table(
            *(f"{name} by {row.field} (A: {row.system_a}, B: {row.system_b})", columns, row.groups, digits),
            lines=lines,
            answer=difference_breakdown_answer(row),
            legend={"Pooled": POOLED, "Adjusted p": adjusted},
        )


def plot_groups(breakdown: Groups, *, ax: "Axes | None" = None, title: str | None = None) -> "Axes":
    """Draw the partially pooled value of each group, and above it in grey that from its own questions alone.

    Groups are ordered by their pooled value, with the lowest at the bottom.

    Parameters
    ----------
    breakdown : result of `estimate(by=...)` or `compare(by=...)` for one task and metric
    ax : axes to draw in; None for a new figure
    title : title of the axes

    Returns
    -------
    The axes

    Raises
    ------
    DataError : if no group has a value
    MissingDependencyError : if matplotlib is not installed
    """
    groups = sorted((one for one in breakdown.groups if one.value is not None), key=_order)
    draw.need_rows(groups, "groups")
    axes = draw.axes_or_new(ax, 7.0, 1.2 + 0.27 * len(groups))
    draw.tidy(axes)
    alone = [(one.value, ends(one.interval)) for one in groups]
    pooled = [(one.pooled_value, ends(one.pooled_interval)) for one in groups]
    has_pooled = any(value is not None for value, _ in pooled)
    draw.draw_spans(axes, alone, 0.14 if has_pooled else 0.0, draw.GREY, "group alone")
    if has_pooled:
        draw.draw_spans(axes, pooled, -0.14, draw.COLOURS[0], "pooled")
    axes.set_yticks(range(len(groups)), [one.group for one in groups])
    axes.set_ylim(-0.8, len(groups) - 0.2)
    name = breakdown.metric
    if isinstance(breakdown, DifferenceBreakdown):
        axes.axvline(0, color=draw.GREY, linewidth=0.8)
        name = f"{name}: {breakdown.system_a} − {breakdown.system_b}"
    axes.set_xlabel(name, fontsize=draw.SMALL)
    axes.set_title(title or "", fontsize=draw.SMALL + 1)
    axes.legend(fontsize=draw.SMALL, frameon=False, loc="lower right")
    return draw.without_markup(axes)


def _order(one: GroupScore | GroupDifference) -> float:
    value = one.value if one.pooled_value is None else one.pooled_value
    return 0.0 if value is None else value


Breakdown.KIND = Kind("breakdowns", Breakdown, _sections, "Scores by group.")
DifferenceBreakdown.KIND = Kind(
    "difference_breakdowns", DifferenceBreakdown, _difference_sections, "Differences by group."
)
