"""Totals and ratios of resources for readers: one table."""

from collections.abc import Sequence

from harness_uq.messages import distinct, with_severity
from harness_uq.output.columns import metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import text_with_code
from harness_uq.output.terminal import Cells
from harness_uq.results.resource_use import ResourceUse

_NAMES = {
    "total_cost": "total cost ($)",
    "total_tokens": "total tokens",
    "total_time": "total time (s)",
    "cost": "cost per question",
    "tokens": "tokens per question",
    "time": "time per question",
    "cost_per_solved": "cost per solved question",
    "tokens_per_solved": "tokens per solved question",
    "score_per_dollar": "score per dollar",
}
CERTAINTY = 0.95  # probability from which a system is called dominated
_COMPARED = {"cost": ("costs", "as much"), "tokens": ("uses", "as many tokens"), "time": ("takes", "as long")}


def resource_use_document(rows: Sequence[ResourceUse], digits: int = 4) -> Document:
    """A table for each task, after a sentence for each ratio of two systems and each dominated system."""
    messages = distinct(message for row in rows for message in row.messages)
    notes = [text_with_code(message) for message in with_severity(messages, "note")]
    warnings = [text_with_code(message) for message in with_severity(messages, "warning", "refusal", "error")]
    tasks = dict.fromkeys(row.task for row in rows if row.value is not None or row.low is not None)
    sections = [_section(task, [row for row in rows if row.task == task], digits) for task in tasks]
    return Document(sections, {"Warnings": warnings, "Notes": notes}, caption="Resources of the systems.")


def _section(task: str, rows: Sequence[ResourceUse], digits: int) -> Section:
    has_metrics = len({(row.metric, row.filter) for row in rows if row.metric}) > 1
    systems = [row.system if row.baseline is None else f"{row.system} / {row.baseline}" for row in rows]
    columns = [
        Cells("System", systems, is_number=False),
        Cells("Resource", [_quantity(row, has_metrics=has_metrics) for row in rows], is_number=False, wraps=True),
        Cells("Value", [_number(row.value, digits, row.is_unbounded) for row in rows]),
        Cells("Interval", [_interval(row, digits) for row in rows]),
        Cells("Questions", [str(row.n_questions or "-") for row in rows], in_paper=False),
    ]
    sentences = [_sentence(row, digits) for row in rows if row.baseline is not None and row.value is not None]
    answer = "\n".join([*sentences, *dominated_systems(rows)])
    return Section(f"{task}: resources", columns, answer=answer, group="Task")


def _quantity(row: ResourceUse, *, has_metrics: bool) -> str:
    unit = " ($)" if row.quantity == "cost_per_solved" and row.baseline is None else ""
    metric = f", {metric_name(row.metric, row.filter)}" if has_metrics and row.metric else ""
    return f"{_NAMES[row.quantity]}{unit}{metric}"


def _number(value: float | None, digits: int, is_infinite: bool = False) -> str:
    """The number with significant digits, because costs and tokens differ by orders of magnitude."""
    if value is None:
        return "∞" if is_infinite else "-"
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"


def _interval(row: ResourceUse, digits: int) -> str:
    if row.low is None:
        return "-"
    return f"[{_number(row.low, digits)}, {_number(row.high, digits, row.is_unbounded)}]"


def _sentence(row: ResourceUse, digits: int) -> str:
    """The ratio of two systems as a sentence."""
    digits = min(digits, 3)
    resource, _, per_solved = row.quantity.partition("_per_")
    verb, as_much = _COMPARED[resource]
    unit = f"solved question ({metric_name(row.metric, row.filter)})" if per_solved else "question"
    limits = f"{_number(row.low, digits)} to {_number(row.high, digits, row.is_unbounded)}"
    ratio = f"{_number(row.value, digits)} times {as_much} as {row.baseline} per {unit} ({limits})"
    return f"{row.task}: {row.system} {verb} {ratio}."


def dominated_systems(rows: Sequence[ResourceUse]) -> list[str]:
    """A sentence for each system that is dominated with a probability of more than 0.95."""
    return [
        f"{row.task}, {metric_name(row.metric, row.filter)}: {row.system} is dominated with probability "
        f"{min(row.prob_dominated, 0.999):.3f}; {row.dominated_by} has a better score and costs less."
        for row in rows
        if row.prob_dominated is not None and row.prob_dominated > CERTAINTY
    ]


KIND = ResultKind(ResourceUse, resource_use_document)
