"""Detected structure for readers: a paragraph per task as text, a table in formats for documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.data.task_log import AggregateScore, TaskLog
from harness_uq.messages import Message, distinct, with_severity
from harness_uq.output.columns import metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import text_with_code
from harness_uq.output.phrases import join_names
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted
from harness_uq.results.structure import StructureSummary

if TYPE_CHECKING:
    from harness_uq.estimation.detect_structure import TaskStructure

_HEADERS = {
    "system": "System",
    "task": "Task",
    "metric": "Metric",
    "filter": "Filter",
    "n_questions": "Questions",
    "n_trials": "Trials",
    "n_scores": "Scores",
    "n_clusters": "Clusters",
    "cluster_key": "Cluster field",
    "cluster_evidence": "Evidence for clusters",
    "score_type": "Score type",
    "score_evidence": "Evidence for score type",
    "group_fields": "Fields for groups",
}
_IN_PAPER = {"task", "metric", "n_questions", "n_trials", "n_clusters", "cluster_key", "score_type"}


def structures_document(structures: "Sequence[TaskStructure]", _: int = 4) -> Document:
    """A paragraph for each task, and a table with a row for each task, metric and filter."""
    records = [one.to_dict() for structure in structures for one in structure.summaries()]
    columns = [
        Cells(
            header,
            [_cell(record[name]) for record in records],
            name.startswith("n_"),
            name=name.removeprefix("n_").replace("_", "-"),
            in_paper=name in _IN_PAPER,
            wraps=name == "task",
        )
        for name, header in _HEADERS.items()
    ]
    messages = [message for structure in structures for message in _messages(structure)]
    notes = [text_with_code(message) for message in with_severity(messages, "note")]
    warnings = [text_with_code(message) for message in with_severity(messages, "warning", "refusal")]
    without_scores = [
        f"{structure.log.task} of {structure.log.system}: {_without_scores(structure.log)}."
        for structure in structures
        if not structure.metrics
    ]
    footnotes = {"Warnings": warnings, "Notes": notes, "Tasks without scores per question": without_scores}
    return Document([Section("Structure", columns)], footnotes, caption="Structure of the tasks.")


def _cell(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


def structures_text(structures: "Sequence[TaskStructure]") -> Document:
    """A document with a section of lines for each task."""
    return Document([_paragraph(structure) for structure in structures])


def _paragraph(structure: "TaskStructure") -> Section:
    log = structure.log
    title = f"{log.task} of {log.system} ({log.source.path})"
    if not structure.metrics:
        return Section(title, [], [f"  {_without_scores(log)}"])
    clusters = structure.clusters.fact
    lines = [f"  questions    {len(log.questions)}", f"  clusters     {clusters.value} ({clusters.evidence})"]
    for (metric, filter_name), found in structure.metrics.items():
        facts = {fact.name: fact for fact in found.facts}
        score, trials = facts["score type"], facts["trials"]
        lines.append(
            f"  {metric_name(metric, filter_name)}: {score.value} ({score.evidence}); {trials.value}; "
            f"{counted(found.n_scores, 'score')}"
        )
    lines += [
        f"  {metric_name(data.metric, data.filter)}: no scores per question ({data.reason})"
        for data in log.data
        if isinstance(data, AggregateScore)
    ]
    messages = [message for message in _messages(structure) if not message.is_ignored]
    lines += [f"  {message.severity}: {text_with_code(message)}" for message in messages]
    return Section(title, [], lines)


def _messages(structure: "TaskStructure") -> tuple[Message, ...]:
    return distinct(
        (*structure.clusters.messages, *(message for found in structure.metrics.values() for message in found.messages))
    )


def _without_scores(log: TaskLog) -> str:
    if log.subtasks:
        return f"a group of {counted(len(log.subtasks), 'task')}: {join_names(log.subtasks)}"
    reasons = dict.fromkeys(data.reason for data in log.data if isinstance(data, AggregateScore))
    return f"no scores per question: {'; '.join(reasons) or 'the log has none'}"


KIND = ResultKind(
    StructureSummary, structures_document, declared=lambda structure: structure.summaries(), text=structures_text
)
