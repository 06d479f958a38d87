"""Agreement of graders with people, their differences, panels and self-preference: classes, columns and sentences."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Literal, TypeAlias

from harness_uq.messages import Message
from harness_uq.output.declared import Declared, Result
from harness_uq.output.document import Column, Kind, Section, table
from harness_uq.output.words import (
    count,
    counted,
    decisive_interval,
    interval,
    interval_header,
    interval_or_dash,
    join_names,
    metric_name,
    number,
    percent,
    probability,
)
from harness_uq.results.estimate import Interval

AgreementMeasure: TypeAlias = Literal["agreement", "sensitivity", "specificity", "kappa", "ac1", "mean error"]
GraderVerdict: TypeAlias = Literal["higher", "lower", "undecided"]

_COLOURS = {"higher": "red", "lower": "red", "undecided": "yellow"}
_MEASURES = {
    "agreement": "agreement: share of labeled answers to which the grader gives the same score as people.",
    "sensitivity": "sensitivity: share of the answers that people score as right that the grader scores as right.",
    "specificity": "specificity: share of the answers that people score as wrong that the grader scores as wrong.",
    "kappa": "kappa (Cohen), ac1 (Gwet): agreement beyond chance; 1 is perfect, 0 is that of independent scores.",
    "mean error": "mean error: mean of the grader's score minus the label.",
}


@dataclass(frozen=True, slots=True)
class MeasuredAgreement(Declared):
    """One measure of the agreement between a grader and people.

    `measure`: `agreement` (share of equal grades), `sensitivity`, `specificity`, Cohen's `kappa`, Gwet's `ac1`, or
    `mean error` (mean of the grader's score minus the label). `value`: value on the labeled answers. `interval`:
    interval for new answers.
    """

    measure: AgreementMeasure
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class GraderAgreement(Result):
    """Agreement of a grader with human labels.

    `grader`: metric with the grader's scores; in rescored logs, with the model of the grader or a number. `task`,
    `filter`: the scores that are analyzed. `system`: system whose answers were graded; None for the answers of all
    systems together. `field`, `group`: field of the questions and its value, if the questions are divided into groups;
    otherwise None. `n_labels`, `n_questions`: numbers of labeled answers and of their questions. `n_clusters`: number
    of clusters of these questions; None without clusters. `measures`: measures that these scores and labels allow.
    """

    needed: ClassVar = "measures"
    record_rows: ClassVar = "measures"

    grader: str
    task: str
    filter: str
    system: str | None
    field: str | None
    group: str | None
    n_labels: int
    n_questions: int
    n_clusters: int | None
    measures: tuple[MeasuredAgreement, ...] = ()
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class GraderDifference(Result):
    """Difference between the mean scores that two graders give to the same answers.

    `grader_a`, `grader_b`: metrics with the scores of the two graders; in rescored logs, with the model or a number.
    `n_questions`: number of questions whose answers both graders scored. `n_clusters`: number of their clusters; None
    without clusters. `value`, `interval`: difference A - B of the mean scores; None if it is not estimable.
    `share_different`: share of the answers to which the graders give different scores. `p_value`: two-sided p-value of
    the hypothesis of equal mean scores. `adjusted_p`: the same, adjusted by Holm's method over all differences.
    `verdict`: `higher` or `lower` if the interval excludes 0, otherwise `undecided`. `verdict_corrected`: the same, or
    `undecided` if `adjusted_p` is larger than 1 - level.
    """

    needed: ClassVar = "interval"

    grader_a: str
    grader_b: str
    task: str
    filter: str
    system: str
    n_questions: int
    n_clusters: int | None = None
    value: float | None = None
    interval: Interval | None = None
    share_different: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    verdict: GraderVerdict = "undecided"
    verdict_corrected: GraderVerdict = "undecided"
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class SelfPreference(Result):
    """How much more a grader overrates systems of its own family than other systems, compared with human labels.

    `grader`, `task`, `filter`: the scores that are analyzed. `own`, `others`: systems of the grader's family, and the
    other systems. `value`, `interval`: mean error (score minus label) on the answers of its own family, minus that on
    the answers of other systems to the same questions; None if it is not estimable. `n_questions`, `n_clusters`:
    numbers of questions with labels of both groups of systems, and of their clusters, None without clusters. `p_value`,
    `adjusted_p`: two-sided p-value of the hypothesis of equal mean errors, and the same adjusted by Holm's method over
    all graders and tasks. `verdict`: `higher` if the interval shows that the grader overrates its own family more,
    `lower` if it overrates the others more. `verdict_corrected`: the same, or `undecided` if `adjusted_p` is larger
    than 1 - level.
    """

    needed: ClassVar = "interval"

    grader: str
    task: str
    filter: str
    own: tuple[str, ...]
    others: tuple[str, ...]
    value: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    n_questions: int = 0
    n_clusters: int | None = None
    verdict: GraderVerdict = "undecided"
    verdict_corrected: GraderVerdict = "undecided"
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class GraderPanel(Result):
    """Mean score of several graders of the same answers, and how many independent graders they are worth.

    `graders`: the graders whose scores are averaged for each answer. `n_questions`, `n_clusters`: numbers of questions
    that all graders scored, and of their clusters, None without clusters. `value`, `interval`: mean score of the
    graders; None if it is not estimable. `corrected`, `corrected_interval`: the score that people would give, estimated
    from the mean scores and the labels; None without enough labels. `effective_graders`, `effective_interval`: number
    of graders with independent errors whose mean is as precise; None without labels, because errors that all graders
    share are then invisible. `error_correlation`: correlation of the errors of two graders, as a mean over pairs; None
    without labels.
    """

    needed: ClassVar = "interval"

    graders: tuple[str, ...]
    task: str
    filter: str
    system: str
    n_questions: int = 0
    n_clusters: int | None = None
    value: float | None = None
    interval: Interval | None = None
    n_labels: int = 0
    corrected: float | None = None
    corrected_interval: Interval | None = None
    effective_graders: float | None = None
    effective_interval: Interval | None = None
    error_correlation: float | None = None
    messages: tuple[Message, ...] = ()


def _agreements(rows: Sequence[GraderAgreement], digits: int) -> Iterator[Section]:
    """One table for each grader, task and field of groups; the last one has a legend of its measures."""
    parts = [list(part) for _, part in groupby(rows, lambda row: (row.grader, row.task, row.filter, row.field or ""))]
    for part in parts:
        first, lines = part[0], list(_lines(part))
        columns = [
            Column(first.field or "System", lambda one: one[0], wraps=True, name="group" if first.field else "system"),
            Column("Labels", lambda one: one[1], is_number=True),
            Column("Measure", lambda one: one[2] and one[2].measure),
            Column("Value", lambda one: one[2] and one[2].value, number),
            Column(
                *(interval_header(one.interval if one else None for *_, one in lines), _line_interval, interval),
                name="interval",
            ),
        ]
        shown = {one.measure for row in part for one in row.measures} if part is parts[-1] else set()
        yield table(
            f"{first.grader} and people on {metric_name(first.task, first.filter)}"
            + (f" by {first.field}" if first.field else ""),
            columns,
            lines,
            digits,
            answer="" if first.field else agreement_answer(first),
            legend={"Measure": " ".join(text for measure, text in _MEASURES.items() if measure in shown)},
        )


def agreement_answer(row: GraderAgreement) -> str:
    """How often the grader and people agree, as a sentence."""
    measures = {one.measure: one for one in row.measures}
    whose = "all systems" if row.system is None else row.system
    if (agreement := measures.get("agreement")) is not None:
        low, high = agreement.interval.low, agreement.interval.high
        return (
            f"The grader {row.grader!r} gives the same score as people to {agreement.value:.1%} [{low:.1%}, "
            f"{high:.1%}] of the answers of {whose}{_direction(measures['mean error'])}."
        ).replace("%", " %")
    if (error := measures.get("mean error")) is not None:
        limits = interval(error.interval, 3)
        return f"The scores of {row.grader} differ from those of people by {error.value:.3f} {limits} on average."
    return ""


def _direction(error: MeasuredAgreement) -> str:
    if error.interval.low > 0:
        return ", and overrates them on average"
    return ", and underrates them on average" if error.interval.high < 0 else ""


def _lines(rows: Sequence[GraderAgreement]) -> Iterator[tuple[str, str, MeasuredAgreement | None]]:
    """Name and labels, in the first line of each row only, and a measure."""
    for row in rows:
        name, labels = row.group or row.system or "all systems", str(row.n_labels)
        for measure in row.measures or (None,):
            yield name, labels, measure
            name = labels = ""


def _line_interval(line: tuple[str, str, MeasuredAgreement | None]) -> Interval | None:
    return None if line[2] is None else line[2].interval


def _interval_column(rows: Sequence[Any]) -> Column:
    header = interval_header(row.interval for row in rows)
    return Column(header, "interval", lambda ends, digits: decisive_interval(ends, (0.0,), digits), "interval")


def _unless_constant(rows: Sequence[Any], name: str) -> Callable[[Any], str]:
    """The value of an attribute, or a dash if all rows have the same, so that the column is not shown."""
    differ = len({getattr(row, name) for row in rows}) > 1
    return lambda row: getattr(row, name) if differ else "-"


def _differences(rows: Sequence[GraderDifference], digits: int) -> Iterator[Section]:
    columns = [
        Column("A", "grader_a", wraps=True, name="grader-a"),
        Column("B", "grader_b", wraps=True, name="grader-b"),
        Column("Task", _unless_constant(rows, "task"), wraps=True),
        Column("System", _unless_constant(rows, "system"), wraps=True),
        Column("A − B", "value", number, "difference"),
        _interval_column(rows),
        Column(
            *("Different", "share_different", percent),
            spare=1,
            legend="share of the answers to which the graders give different scores.",
        ),
        Column("Questions", "n_questions", is_number=True, spare=2),
        Column(
            *("Adjusted p", "adjusted_p", probability),
            spare=3,
            legend="two-sided p-value, corrected by Holm's method for the number of differences.",
        ),
        Column("Verdict", "verdict", styles=_COLOURS),
    ]
    yield table("Graders of the same answers", columns, rows, digits, answer=difference_answer(rows))


def difference_answer(rows: Sequence[GraderDifference]) -> str:
    """Which graders score the same answers higher or lower than others, after correction for the number of rows."""
    sentences = [
        f"{row.grader_a} scores the answers of {row.system} to {row.task} {row.verdict} than {row.grader_b}."
        for row in rows
        if row.verdict_corrected != "undecided"
    ]
    nothing = "The data show no difference between the mean scores of graders of the same answers."
    return _with_lost_verdicts(sentences, rows, nothing)


def _with_lost_verdicts(
    sentences: Sequence[str], rows: Sequence[GraderDifference | SelfPreference], nothing: str
) -> str:
    """The sentences, or `nothing` without any, and how many verdicts do not hold after correction."""
    lost = sum(row.verdict != row.verdict_corrected for row in rows)
    what = counted(lost, "other verdict" if sentences else "verdict")
    verb = "does" if lost == 1 else "do"
    correction = f"{what} {verb} not hold after correction for {counted(len(rows), 'row')}."
    return " ".join([*(sentences or [nothing]), *([correction] if lost else [])])


def _self_preferences(rows: Sequence[SelfPreference], digits: int) -> Iterator[Section]:
    columns = [
        Column("Grader", "grader", wraps=True),
        Column("Task", "task", wraps=True),
        Column(
            *("Own − others", "value", number, "difference"),
            legend="mean error (score minus label) on the answers of the grader's family, minus that on the answers of "
            "the other systems to the same questions.",
        ),
        _interval_column(rows),
        Column("Questions", "n_questions", is_number=True, spare=1),
        Column(
            *("Adjusted p", "adjusted_p", probability),
            spare=2,
            legend="two-sided p-value, corrected by Holm's method for the number of lines.",
        ),
        Column("Verdict", "verdict", styles=_COLOURS),
    ]
    first = rows[0]
    title = f"Self-preference (own family: {join_names(first.own)}; others: {join_names(first.others)})"
    yield table(title, columns, rows, digits, answer=preference_answer(rows))


def preference_answer(rows: Sequence[SelfPreference]) -> str:
    """Which graders overrate their own family, or the other systems."""
    sentences = [
        f"{row.grader} overrates {'its own family' if row.verdict == 'higher' else 'the other systems'} more on "
        f"{row.task}, by {abs(row.value or 0.0):.3f}."
        for row in rows
        if row.verdict_corrected != "undecided"
    ]
    nothing = "The labels show no preference of the grader for systems of its own family."
    return _with_lost_verdicts(sentences, rows, nothing)


def _panels(rows: Sequence[GraderPanel], digits: int) -> Iterator[Section]:
    columns = [
        Column("Task", "task", wraps=True),
        Column("System", "system", wraps=True),
        Column("Mean", "value", number, legend="mean score of the graders."),
        _interval_column(rows),
        Column(
            *("Corrected", "corrected", number),
            legend="score that people would give, estimated from the mean scores and the labels.",
        ),
        Column(
            *("Corrected interval", lambda row: None if row.corrected is None else row.corrected_interval),
            show=interval_or_dash,
            name="corrected-interval",
        ),
        Column("Labels", "n_labels", count, spare=1),
        Column("Questions", "n_questions", is_number=True, spare=2),
    ]
    graders = dict.fromkeys(", ".join(row.graders) for row in rows)
    yield table(f"Mean of {'; '.join(graders)}", columns, rows, digits, answer=panels_answer(rows))


def panels_answer(rows: Sequence[GraderPanel]) -> str:
    """The effective number of graders of each panel, as sentences."""
    return " ".join(
        f"On {row.system}'s answers to {row.task}, the {len(row.graders)} graders are as precise as "
        f"{row.effective_graders:.1f} {interval(row.effective_interval, 1)} graders with independent errors."
        for row in rows
        if row.effective_graders is not None
    )


GraderAgreement.KIND = Kind("agreements", GraderAgreement, _agreements, "Agreement of graders with people.")
GraderDifference.KIND = Kind("grader_differences", GraderDifference, _differences, "Differences between graders.")
SelfPreference.KIND = Kind("self_preferences", SelfPreference, _self_preferences, "Self-preference of graders.")
GraderPanel.KIND = Kind("panels", GraderPanel, _panels, "Panels of graders.")
