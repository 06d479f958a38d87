"""The summary of data for readers: what they are, the next commands, what is missing and which files were not read."""

from collections.abc import Iterator, Sequence

from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import text_with_code
from harness_uq.plots.label_texts import counted
from harness_uq.results.data_summary import DataSummary
from harness_uq.structure.question_groups import tasks_by_fields


def summary_document(summaries: Sequence[DataSummary], _: int = 4) -> Document:
    """Sections of lines: what can be done, what is missing for more, and which files were not recognized."""
    return Document([section for summary in summaries for section in _sections(summary)])


def _sections(summary: DataSummary) -> Iterator[Section]:
    commands = [f"  {one.purpose}: {one.command}" for one in summary.commands]
    yield Section(f"Data: {_description(summary)}", [], commands)
    if missing := [f"  {text_with_code(message)}" for message in summary.missing if not message.is_ignored]:
        yield Section("Required for further analyses", [], missing)
    if summary.breakdown_fields:
        yield Section("Fields for --by", [], list(_fields(summary)))
    if summary.n_unrecognized:
        lines = [f"  {one.path}: {text_with_code(one.message)}" for one in summary.unrecognized]
        if n_more := summary.n_unrecognized - len(summary.unrecognized):
            lines.append(f"  {counted(n_more, 'other file')} without scores")
        yield Section(f"Not recognized: {counted(summary.n_unrecognized, 'file')}", [], lines)


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


KIND = ResultKind(DataSummary, summary_document, is_single=True)
