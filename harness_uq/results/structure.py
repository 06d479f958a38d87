"""The detected structure of tasks, and what can be done with some data: classes, columns and paragraphs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from harness_uq.data.question_groups import tasks_by_fields, usable_fields
from harness_uq.data.structure import Clusters, Structure
from harness_uq.data.task_log import AggregateScore, TaskLog
from harness_uq.messages import Message, distinct
from harness_uq.output.declared import Declared, Record
from harness_uq.output.document import Column, Kind, Section, table
from harness_uq.output.notebook import Displayed
from harness_uq.output.table_notes import text_with_code, texts_with_code
from harness_uq.output.words import counted, join_names, metric_name

ScoreType: TypeAlias = Literal["binary", "graded", "bounded", "real", "record"]


@dataclass(frozen=True, slots=True)
class StructureSummary(Declared):
    """Clusters, trials and score type of one task, metric and filter, with the evidence.

    `n_questions`, `n_trials`, `n_scores`: scored questions, largest number of trials per question, scores.
    `n_clusters`, `cluster_key`, `cluster_evidence`: clusters, the field that defines them, and how that is known.
    `score_type`, `score_evidence`: type of the scores, and how that is known. `group_fields`: fields by which `--by`
    can divide the questions into groups.
    """

    system: str
    task: str
    metric: str
    filter: str
    n_questions: int
    n_trials: int
    n_scores: int
    n_clusters: int | None
    cluster_key: str | None
    cluster_evidence: str
    score_type: ScoreType
    score_evidence: str
    path: str
    group_fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return repr(self)


@dataclass(frozen=True, slots=True)
class TaskStructure(Displayed):
    """The structure of one task in one run.

    `clusters`: the clusters that were found. `metrics`: structure of each metric's data, by (metric, filter).
    """

    KIND: ClassVar[Any]

    log: TaskLog
    clusters: Clusters
    metrics: Mapping[tuple[str, str], Structure]

    @property
    def system(self) -> str:
        """The system that the run evaluated."""
        return self.log.system

    @property
    def task(self) -> str:
        """The task."""
        return self.log.task

    def summaries(self) -> list[StructureSummary]:
        """One summary for each metric and filter of the task."""
        summaries, group_fields = [], tuple(usable_fields(self.log))
        for (metric, filter_name), detected in self.metrics.items():
            facts = {fact.name: fact for fact in detected.facts}
            summaries.append(
                StructureSummary(
                    system=self.log.system,
                    task=self.log.task,
                    metric=metric,
                    filter=filter_name,
                    n_questions=detected.n_questions,
                    n_trials=detected.max_trials,
                    n_scores=detected.n_scores,
                    n_clusters=detected.n_clusters,
                    cluster_key=detected.cluster_key,
                    cluster_evidence=facts["clusters"].evidence,
                    score_type=detected.score_type,
                    score_evidence=facts["score type"].evidence,
                    path=self.log.source.path,
                    group_fields=group_fields,
                )
            )
        return summaries

    def to_dict(self) -> dict[str, object]:
        """The summaries as plain values."""
        return {"structures": [summary.to_dict() for summary in self.summaries()]}

    def to_records(self) -> list[Record]:
        """One flat record for each metric and filter."""
        return [record for summary in self.summaries() for record in summary.to_records()]


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command that these data support.

    `purpose`: what the command does.
    """

    purpose: str
    command: str


@dataclass(frozen=True, slots=True)
class UnrecognizedFile:
    """A file from which nothing was read, and the reason."""

    path: str
    message: Message


@dataclass(frozen=True, slots=True)
class DataSummary(Declared):
    """What can be done with the data under some paths, and what they lack for more.

    `n_systems`, `n_tasks`, `n_questions`, `n_scores`: systems, tasks, different questions, and scored trials of all
    systems. `is_identified`: whether the questions and trials of all tasks are identified. `commands`: commands for
    these data, the most useful first. `missing`: what further analyses require. `breakdown_fields`: fields of the
    questions with few values, by which scores can be broken down, by task. `unrecognized`: files from which nothing was
    read, with the reason; the first ones if there are many. `n_unrecognized`: number of these files.
    """

    n_systems: int
    n_tasks: int
    n_questions: int
    n_scores: int
    is_identified: bool
    commands: tuple[NextCommand, ...] = ()
    missing: tuple[Message, ...] = ()
    breakdown_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unrecognized: tuple[UnrecognizedFile, ...] = ()
    n_unrecognized: int = 0


_COLUMNS = (
    Column("System", "system", in_paper=False),
    Column("Task", "task", wraps=True),
    Column("Metric", "metric"),
    Column("Filter", "filter", in_paper=False),
    Column("Questions", "n_questions", is_number=True),
    Column("Trials", "n_trials", is_number=True),
    Column("Scores", "n_scores", is_number=True, in_paper=False),
    Column("Clusters", "n_clusters", is_number=True),
    Column("Cluster field", "cluster_key", name="cluster-key"),
    Column("Evidence for clusters", "cluster_evidence", name="cluster-evidence", in_paper=False),
    Column("Score type", "score_type"),
    Column("Evidence for score type", "score_evidence", name="score-evidence", in_paper=False),
    Column("Fields for groups", lambda row: ", ".join(row.group_fields) or None, name="group-fields", in_paper=False),
)


def _sections(structures: Sequence[TaskStructure], digits: int) -> list[Section]:
    """A table with a row for each task, metric and filter."""
    return [table("Structure", _COLUMNS, [one for structure in structures for one in structure.summaries()], digits)]


def _footnotes(structures: Sequence[TaskStructure]) -> dict[str, list[str]]:
    messages = [message for structure in structures for message in _messages(structure)]
    return {
        "Warnings": texts_with_code(messages, "warning", "refusal"),
        "Notes": texts_with_code(messages, "note"),
        "Tasks without scores per question": [
            f"{structure.log.task} of {structure.log.system}: {_without_scores(structure.log)}."
            for structure in structures
            if not structure.metrics
        ],
    }


def _paragraph(structure: TaskStructure) -> Section:
    log = structure.log
    title = f"{log.task} of {log.system} ({log.source.path})"
    if not structure.metrics:
        return Section(title, lines=[f"  {_without_scores(log)}"])
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
    return Section(title, lines=lines)


def _messages(structure: TaskStructure) -> tuple[Message, ...]:
    return distinct(
        (*structure.clusters.messages, *(message for found in structure.metrics.values() for message in found.messages))
    )


def _without_scores(log: TaskLog) -> str:
    if log.subtasks:
        return f"a group of {counted(len(log.subtasks), 'task')}: {join_names(log.subtasks)}"
    reasons = dict.fromkeys(data.reason for data in log.data if isinstance(data, AggregateScore))
    return f"no scores per question: {'; '.join(reasons) or 'the log has none'}"


def _summary_sections(summaries: Sequence[DataSummary], _: int) -> Iterator[Section]:
    """What can be done, what is missing for more, and which files were not recognized."""
    for summary in summaries:
        commands = [f"  {one.purpose}: {one.command}" for one in summary.commands]
        yield Section(f"Data: {_description(summary)}", lines=commands)
        if missing := [f"  {text_with_code(message)}" for message in summary.missing if not message.is_ignored]:
            yield Section("Required for further analyses", lines=missing)
        if summary.breakdown_fields:
            yield Section("Fields for --by", lines=list(_fields(summary)))
        if summary.n_unrecognized:
            lines = [f"  {one.path}: {text_with_code(one.message)}" for one in summary.unrecognized]
            if n_more := summary.n_unrecognized - len(summary.unrecognized):
                lines.append(f"  {counted(n_more, 'other file')} without scores")
            yield Section(f"Not recognized: {counted(summary.n_unrecognized, 'file')}", lines=lines)


def _fields(summary: DataSummary) -> Iterator[str]:
    """The fields of each task; without names of tasks if all of them have the same fields."""
    found = tasks_by_fields(summary.breakdown_fields)
    has_all = len(found) == 1 and len(summary.breakdown_fields) == summary.n_tasks
    for fields, tasks in found.items():
        yield f"  {', '.join(fields)}" if has_all else f"  {tasks}: {', '.join(fields)}"


def _description(summary: DataSummary) -> str:
    if not summary.n_tasks:
        return "no scores were read"
    systems = counted(summary.n_systems, "system")
    place = f"{counted(summary.n_tasks, 'task')}, {systems}"
    if not summary.n_scores:
        return f"totals without scores per question ({place})"
    n_questions = counted(summary.n_questions, "question")
    return f"{counted(summary.n_scores, 'scored trial')} of {n_questions} ({place})"


StructureSummary.KIND = TaskStructure.KIND = Kind(
    "structures",
    StructureSummary,
    _sections,
    "Structure of the tasks.",
    _footnotes,
    declared=lambda structure: structure.summaries(),
    as_text=lambda structures: map(_paragraph, structures),
)
DataSummary.KIND = Kind("summary", DataSummary, _summary_sections, is_single=True)
