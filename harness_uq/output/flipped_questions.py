"""Questions that broke, for readers of a gate that failed: tables of those that the new system answers worse."""

from collections.abc import Iterator, Sequence

from harness_uq.output.columns import format_number, metric_name
from harness_uq.output.document import Section
from harness_uq.output.phrases import percent
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted, task_title
from harness_uq.results.flipped_questions import FlippedQuestions
from harness_uq.results.gate import Gate

_MOST_QUESTIONS, _MOST_NAMED, _MOST_TASKS = 10, 5, 3


def flipped_sections(gate: Gate) -> Iterator[Section]:
    """Tables of the tasks that fail; if only the overall score fails, of all tasks."""
    failed = {(row.comparison.task, row.comparison.metric) for row in gate.rows if row.decision == "fail"}
    of_tasks = [one for one in gate.flipped if (one.task, one.metric) in failed]
    shown = of_tasks or [one for one in gate.flipped if ("overall", one.metric) in failed]
    worst = sorted((one for one in shown if one.n_worse), key=lambda one: one.n_better - one.n_worse)
    if unknown := [one for one in worst if one.worse[0].probability is None]:
        yield _named(unknown)
    for one in [one for one in worst if one.worse[0].probability is not None][:_MOST_TASKS]:
        yield _worse(one)
        if one.flaky:
            yield _flaky(one)


def _named(tasks: Sequence[FlippedQuestions]) -> Section:
    """One table of all tasks, whose questions have one answer of the baseline each."""
    names = [
        ", ".join(row.question for row in one.worse[:_MOST_NAMED]) + _and_more(one.n_worse - _MOST_NAMED)
        for one in tasks
    ]
    columns = [
        Cells("Task", [one.task for one in tasks], is_number=False, wraps=True),
        Cells("Metric", [metric_name(one.metric, one.filter) for one in tasks], is_number=False),
        Cells("Worse", [str(one.n_worse) for one in tasks]),
        Cells("Better", [str(one.n_better) for one in tasks]),
        Cells("Questions that are worse", names, is_number=False, wraps=True),
    ]
    legend = (
        "Several baseline runs, or further runs (`--history`), separate regressions from questions whose answers vary "
        "between identical runs."
    )
    return Section("What broke", columns, legend={"": legend}, is_optional=True)


def _and_more(n: int) -> str:
    return f" and {n} more" if n > 0 else ""


def _worse(one: FlippedQuestions) -> Section:
    rows = one.worse[:_MOST_QUESTIONS]
    columns = [
        Cells("Question", [row.question for row in rows], is_number=False, wraps=True),
        Cells("Baseline", [percent(row.share_baseline) for row in rows]),
        Cells("New", [percent(row.share_new) for row in rows]),
        Cells("P(changed)", [format_number(row.probability, 3) for row in rows]),
    ]
    legend = {"": "P(changed): posterior probability that the question's probability of a right answer changed."}
    name = task_title(one.task, one.metric, one.filter)
    listed = f", the first {_MOST_QUESTIONS}" if one.n_worse > _MOST_QUESTIONS else ""
    title = f"What broke on {name}: {counted(one.n_worse, 'question')} worse{listed} ({one.n_better} better)"
    return Section(title, columns, legend=legend, is_optional=True)


def _flaky(one: FlippedQuestions) -> Section:
    rows = one.flaky[:_MOST_QUESTIONS]
    listed = f", the first {_MOST_QUESTIONS}" if one.n_flaky > _MOST_QUESTIONS else ""
    columns = [
        Cells("Question", [row.question for row in rows], is_number=False, wraps=True),
        Cells("Right", [percent(row.share) for row in rows]),
        Cells("Flakiness", [format_number(row.flakiness, 3) for row in rows]),
    ]
    legend = {"": "Flakiness: probability that two runs of the baseline answer differently, at most 0.5."}
    name = task_title(one.task, one.metric, one.filter)
    title = f"{counted(one.n_flaky, 'flaky question')} of {name}{listed}"
    return Section(title, columns, legend=legend, is_optional=True)
