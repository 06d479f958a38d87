"""Agreement of graders with people for readers: a sentence and a table of measures for each grader and task."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from harness_uq.output.columns import format_interval, format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import interval_header
from harness_uq.output.terminal import Cells
from harness_uq.results.grader import GraderAgreement, MeasuredAgreement

_ALL = "all systems"
_LEGEND = {
    "agreement": "agreement: share of labeled answers to which the grader gives the same score as people.",
    "sensitivity": "sensitivity: share of the answers that people score as right that the grader scores as right.",
    "specificity": "specificity: share of the answers that people score as wrong that the grader scores as wrong.",
    "kappa": "kappa (Cohen), ac1 (Gwet): agreement beyond chance; 1 is perfect, 0 is that of independent scores.",
    "mean error": "mean error: mean of the grader's score minus the label.",
}


def agreements_document(rows: Sequence[GraderAgreement], digits: int = 3) -> Document:
    """One table for each grader, task and field of groups."""
    parts = [list(part) for _, part in groupby(rows, _key)]
    sections = [_section(part, digits, rows if part is parts[-1] else ()) for part in parts]
    return Document(sections, message_lists(rows), caption="Agreement of graders with people.")


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
        interval = format_interval(error.interval, 3)
        return f"The scores of {row.grader} differ from those of people by {error.value:.3f} {interval} on average."
    return ""


def _direction(error: MeasuredAgreement) -> str:
    if error.interval.low > 0:
        return ", and overrates them on average"
    return ", and underrates them on average" if error.interval.high < 0 else ""


def _key(row: GraderAgreement) -> tuple[str, str, str, str]:
    return row.grader, row.task, row.filter, row.field or ""


def _section(rows: Sequence[GraderAgreement], digits: int, explained: Sequence[GraderAgreement]) -> Section:
    """The table of these rows, with a legend of the measures of the rows in `explained`."""
    first = rows[0]
    lines = list(_lines(rows))
    subject = first.field or "System"
    intervals = [None if one is None else one.interval for _, _, one in lines]
    columns = [
        Cells(
            subject,
            [name for name, _, _ in lines],
            is_number=False,
            wraps=True,
            name="group" if first.field else "system",
        ),
        Cells("Labels", [labels for _, labels, _ in lines]),
        Cells("Measure", ["-" if one is None else one.measure for _, _, one in lines], is_number=False),
        Cells("Value", ["-" if one is None else format_number(one.value, digits) for _, _, one in lines]),
        Cells(interval_header(intervals), [format_interval(one, digits) for one in intervals], name="interval"),
    ]
    title = f"{first.grader} and people on {metric_name(first.task, first.filter)}"
    shown = {one.measure for row in explained for one in row.measures}
    legend = {"Measure": " ".join(text for measure, text in _LEGEND.items() if measure in shown)}
    answer = "" if first.field else agreement_answer(first)
    return Section(title + (f" by {first.field}" if first.field else ""), columns, (), answer, legend)


def _lines(rows: Iterable[GraderAgreement]) -> Iterator[tuple[str, str, MeasuredAgreement | None]]:
    """Name and labels, in the first line of each row only, and a measure."""
    for row in rows:
        name, labels = row.group or row.system or _ALL, str(row.n_labels)
        for measure in row.measures or (None,):
            yield name, labels, measure
            name = labels = ""


KIND = ResultKind(GraderAgreement, agreements_document)
