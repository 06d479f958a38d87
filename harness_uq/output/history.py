"""Histories for readers: whether the score changed, a table of runs, and changed and flaky questions."""

from collections.abc import Iterator, Sequence

from harness_uq.output.columns import format_interval, format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import interval_header, percent
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted
from harness_uq.results.history import MOST_QUESTIONS, History

_MOST_RUNS = 30


def histories_document(rows: Sequence[History], digits: int = 4) -> Document:
    """Tables of runs and questions for each history."""
    sections = [section for row in rows for section in history_sections(row, digits)]
    return Document(sections, message_lists(rows), caption="Scores over time.")


def history_sections(row: History, digits: int = 4) -> Iterator[Section]:
    """Tables of the runs, the changed questions and the flaky questions."""
    yield _runs(row, digits)
    title = f"{row.system} on {row.task}"
    changed, flaky = row.changed_questions, row.flaky_questions
    if changed:
        columns = [
            Cells("Question", [one.question for one in changed], is_number=False, wraps=True),
            Cells("Before", [percent(one.share_before) for one in changed]),
            Cells("After", [percent(one.share_after) for one in changed]),
            Cells("P(changed)", [f"{one.probability:.3f}" for one in changed], name="probability"),
        ]
        since = "with the new level" if row.shifts else "in the last run"
        legend = {"P(changed)": "P(changed): posterior probability that the question's share of right answers changed."}
        yield Section(
            f"Questions that changed {since}: {title}", columns, _limit(changed), "", legend, is_optional=True
        )
    if flaky:
        columns = [
            Cells("Question", [one.question for one in flaky], is_number=False, wraps=True),
            Cells("Right", [percent(one.share) for one in flaky]),
            Cells("Flakiness", [f"{one.flakiness:.3f}" for one in flaky]),
        ]
        legend = {"Flakiness": "Flakiness: probability that two runs without a change answer differently, at most 0.5."}
        yield Section(f"Flaky questions: {title}", columns, _limit(flaky), "", legend, is_optional=True)


def _limit(questions: Sequence[object]) -> list[str]:
    """A sentence if there may be further questions."""
    return [f"At most {MOST_QUESTIONS} questions are listed."] if len(questions) == MOST_QUESTIONS else []


def _runs(row: History, digits: int) -> Section:
    numbered = list(enumerate(row.runs, 1))[-_MOST_RUNS:]
    firsts = {shift.first_run: shift for shift in row.shifts}
    alarms = {shift.reported_after for shift in row.shifts}
    events = [
        "; ".join(
            [
                *(["new level"] if number in firsts else []),
                *(["change reported"] if number in alarms else []),
                *run.settings_changed,
            ]
        )
        for number, run in numbered
    ]
    intervals = [run.interval for _, run in numbered]
    header = interval_header(intervals)
    columns = [
        Cells("Run", [str(number) for number, _ in numbered]),
        Cells("Time", [(run.time or "-")[:16].replace("T", " ") for _, run in numbered], is_number=False, spare=2),
        Cells("Score", [format_number(run.value, digits) for _, run in numbered]),
        Cells(header, [format_interval(one, digits) for one in intervals], name="interval", spare=1),
        Cells("Evidence", [f"{run.evidence:#.3g}".rstrip(".") for _, run in numbered], spare=3),
        Cells("Event", [event or "-" for event in events], is_number=False, wraps=True),
    ]
    legend = {
        header: f"{header}: interval of the score on exactly these questions.",
        "Evidence": "Evidence: for a change of the score since the last new level. If nothing changes, a change is "
        f"reported in any of the series with a probability of at most {100 * (1 - row.level):.3g} %.",
    }
    hidden = len(row.runs) - len(numbered)
    lines = [f"{hidden} earlier runs are not shown."] if hidden else []
    count = f": {counted(row.n_questions, 'common question')}" if row.runs else ""
    title = f"{row.system} on {row.task}, {metric_name(row.metric, row.filter)}{count}"
    return Section(title, columns, lines, row.answer, legend)


KIND = ResultKind(History, histories_document)
