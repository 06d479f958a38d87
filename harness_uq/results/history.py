"""Scores of repeated runs over time, and of a run in progress: classes, columns and figure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from harness_uq.messages import Message
from harness_uq.messages.control_characters import escape_control
from harness_uq.messages.errors import DataError
from harness_uq.output.declared import Declared, Result
from harness_uq.output.document import Column, Kind, Section, table
from harness_uq.output.figures import axes as draw
from harness_uq.output.short_names import shorten
from harness_uq.output.words import (
    counted,
    fixed_decimals,
    interval,
    interval_header,
    join_names,
    metric_name,
    number,
    percent,
    time_text,
)
from harness_uq.results.estimate import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_QUESTIONS = 20  # in each list of questions
_MOST_RUNS = 30
_MOST_CHANGES = 5  # in a figure
_WIDEST = 100


@dataclass(frozen=True, slots=True)
class HistoryRun(Declared):
    """One run.

    `time`: when the run started, as logged; None if the log has no time. `value`, `interval`: mean score on the common
    questions, and an interval for the level of the score on these questions, which allows for the noise of trials and
    between runs. `evidence`: evidence for a change since the level before was reached; 1 is neutral.
    `settings_changed`: what differs in the configuration from the run before: settings, model, version of the harness,
    questions and prompts.
    """

    time: str | None
    path: str
    value: float
    interval: Interval
    evidence: float
    settings_changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelShift(Declared):
    """A change of the score that the runs show.

    `first_run`: number of the first run with the new level, from 1. `reported_after`: number of the run after which the
    evidence sufficed. `time`: time of the first run with the new level. `before`, `after`: mean scores of the runs
    before and after the change. `value`, `interval`: difference after minus before.
    """

    first_run: int
    reported_after: int
    time: str | None
    before: float
    after: float
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class ChangedQuestion(Declared):
    """A question whose answers changed.

    `share_before`, `share_after`: shares of right answers before and after. `probability`: posterior probability that
    its probability of a right answer changed.
    """

    question: str
    share_before: float
    share_after: float
    probability: float


@dataclass(frozen=True, slots=True)
class FlakyQuestion(Declared):
    """A question that is answered correctly in some runs and incorrectly in others without a change.

    `share`: share of right answers. `flakiness`: posterior mean of the probability that two runs differ, at most 0.5.
    """

    question: str
    share: float
    flakiness: float


@dataclass(frozen=True, slots=True)
class History(Result):
    """Scores of the runs of one system over time, for one task, metric and filter.

    `n_questions`: number of questions that all runs have in common. `runs`: in the order of their times. `shifts`:
    changes of the score, in order. `changed_questions`: questions whose answers changed at the last shift, or in the
    last run if there is none; those with the highest probability first. `flaky_questions`: the flakiest questions
    first. `trial_sd`, `run_sd`: standard deviation of the mean score of a run due to its trials, and due to differences
    between runs; None if they are unknown.
    """

    needed: ClassVar = "runs"
    record_rows: ClassVar = "runs"
    not_in_records: ClassVar = ("shifts", "changed_questions", "flaky_questions")

    system: str
    task: str
    metric: str
    filter: str
    level: float
    n_questions: int = 0
    runs: tuple[HistoryRun, ...] = ()
    shifts: tuple[LevelShift, ...] = ()
    changed_questions: tuple[ChangedQuestion, ...] = ()
    flaky_questions: tuple[FlakyQuestion, ...] = ()
    trial_sd: float | None = None
    run_sd: float | None = None
    answer: str = ""
    messages: tuple[Message, ...] = ()

    @property
    def levels(self) -> list[tuple[int, int, float]]:
        """First run, the run after the last one, and mean score of each level between changes."""
        starts = [1, *(shift.first_run for shift in self.shifts), len(self.runs) + 1]
        values = [run.value for run in self.runs]
        return [(first, end, sum(values[first - 1 : end - 1]) / (end - first)) for first, end in pairwise(starts)]

    @property
    def changes(self) -> list[tuple[int, str]]:
        """Number of each run whose configuration differs from that of the run before, and the differences."""
        return [
            (number, "; ".join(run.settings_changed)) for number, run in enumerate(self.runs, 1) if run.settings_changed
        ]


@dataclass(frozen=True, slots=True)
class Snapshot(Result):
    """Estimate of one score at one moment of a run.

    `n_scored`: questions with a score. `n_used`: questions that are used: those before the first question without a
    score, in the order of the run. `n_planned`: number of questions of the whole run. `value`: mean score of the
    questions that are used; None without any. `low`, `high`: limits of an anytime-valid interval: all intervals of the
    run contain the score with probability `level`; None if there is no interval.
    """

    needed: ClassVar = "low"

    system: str
    task: str
    metric: str
    filter: str
    n_scored: int
    n_used: int
    n_planned: int
    value: float | None
    low: float | None
    high: float | None
    level: float
    messages: tuple[Message, ...] = ()


def look_text(look: Snapshot) -> str:
    """System, task, metric, progress, score and interval."""
    name = look.metric if look.filter == "none" else f"{look.metric},{look.filter}"
    ahead = f" ({look.n_scored - look.n_used} more finished out of order)" if look.n_scored > look.n_used else ""
    value = "" if look.value is None else f"  {look.value:.4f}"
    interval = "" if look.low is None or look.high is None else f"  {look.level:.0%} [{look.low:.4f}, {look.high:.4f}]"
    messages = "".join(f"  {message.text}" for message in look.messages if not message.is_ignored)
    return escape_control(
        f"{look.system}  {look.task}  {name}  {look.n_used} of {look.n_planned}{ahead}{value}{interval}{messages}"
    )


_CHANGED = (
    Column("Question", "question", wraps=True),
    Column("Before", "share_before", percent),
    Column("After", "share_after", percent),
    Column(
        *("P(changed)", "probability", fixed_decimals, "probability"),
        legend="posterior probability that the question's share of right answers changed.",
    ),
)
_FLAKY = (
    Column("Question", "question", wraps=True),
    Column("Right", "share", percent),
    Column(
        *("Flakiness", "flakiness", fixed_decimals),
        legend="probability that two runs without a change answer differently, at most 0.5.",
    ),
)


def _sections(rows: Sequence[History], digits: int) -> Iterator[Section]:
    """Tables of the runs, the changed questions and the flaky questions of each history, and why some have none."""
    refused: dict[str, list[str]] = {}
    for row in rows:
        if not row.runs:
            refused.setdefault(row.reason.text if row.reason else "no runs", []).append(_title(row))
    for reason, names in refused.items():
        yield Section("", lines=[f"No history of {join_names(names)}: {reason}"])
    for row in rows:
        if row.runs:
            yield _runs(row, digits)
        where = f"{row.system} on {row.task}"
        since = "with the new level" if row.shifts else "in the last run"
        for title, columns, questions in (
            (f"Questions that changed {since}: {where}", _CHANGED, row.changed_questions),
            (f"Flaky questions: {where}", _FLAKY, row.flaky_questions),
        ):
            is_full = len(questions) == MOST_QUESTIONS
            lines = [f"At most {MOST_QUESTIONS} questions are listed."] if is_full else []
            if questions:
                yield table(title, columns, questions, digits, lines=lines, is_optional=True)


def _runs(row: History, digits: int) -> Section:
    numbered = list(enumerate(row.runs, 1))[-_MOST_RUNS:]
    firsts = {shift.first_run for shift in row.shifts}
    alarms = {shift.reported_after for shift in row.shifts}
    header = interval_header(run.interval for _, run in numbered)

    def event(one: tuple[int, HistoryRun]) -> str:
        events = ["new level"] * (one[0] in firsts) + ["change reported"] * (one[0] in alarms)
        return "; ".join([*events, *one[1].settings_changed]) or "-"

    columns = [
        Column("Run", lambda one: one[0], is_number=True),
        Column("Time", lambda one: one[1].time, time_text, is_number=False, spare=2),
        Column("Score", lambda one: one[1].value, number),
        Column(
            *(header, lambda one: one[1].interval, interval, "interval"),
            spare=1,
            legend="interval of the score on exactly these questions.",
        ),
        Column(
            *("Evidence", lambda one: f"{one[1].evidence:#.3g}".rstrip(".")),
            is_number=True,
            spare=3,
            legend="for a change of the score since the last new level. If nothing changes, a change is reported in "
            f"any of the series with a probability of at most {100 * (1 - row.level):.3g} %.",
        ),
        Column("Event", event, wraps=True),
    ]
    hidden = len(row.runs) - len(numbered)
    lines = [f"{hidden} earlier runs are not shown."] if hidden else []
    title = f"{_title(row)}: {counted(row.n_questions, 'common question')}"
    return table(title, columns, numbered, digits, lines=lines, answer=row.answer)


def _title(row: History) -> str:
    return f"{row.system} on {row.task}, {metric_name(row.metric, row.filter)}"


def plot_history(histories: Sequence[History]) -> "Figure":
    """Draw the scores of runs over time, one panel for each history.

    Each run has its score with an interval. Horizontal lines show the mean score between changes, and dashed vertical
    lines the first run with a new level. Triangles and dotted lines mark the runs whose configuration differs from that
    of the run before. The text below each panel lists the latest of these changes.

    Parameters
    ----------
    histories : results of `history` with runs

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if there are no histories with runs
    MissingDependencyError : if matplotlib is not installed
    """
    shown = [row for row in histories if row.runs]
    if not shown:
        raise DataError("there are no results to draw")
    notes = [_changes_below(row.changes) for row in shown]
    figure = draw.new_figure(7.5, sum(2.6 + 0.17 * len(lines) for lines in notes))
    panels = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
    for axes, row, lines in zip(panels, shown, notes, strict=True):
        _draw(draw.tidy(axes), row)
        axes.set_xlabel("\n".join(["run", *lines]), fontsize=draw.SMALL, color=draw.INK, loc="left")
    return draw.without_markup(figure)


def _changes_below(changes: Sequence[tuple[int, str]]) -> list[str]:
    """A line for each of the latest runs whose configuration differs from that of the run before."""
    hidden = len(changes) - _MOST_CHANGES
    lines = [shorten(f"▲ run {number}: {text}", _WIDEST) for number, text in changes[-_MOST_CHANGES:]]
    return [*([f"▲ {hidden} earlier runs with changes"] if hidden > 0 else []), *lines]


def _draw(axes: "Axes", row: History) -> None:
    numbers = list(range(1, len(row.runs) + 1))
    axes.vlines(
        numbers,
        [run.interval.low for run in row.runs],
        [run.interval.high for run in row.runs],
        color=draw.COLOURS[0],
        linewidth=1.2,
        alpha=0.5,
    )
    axes.plot(numbers, [run.value for run in row.runs], "o", color=draw.COLOURS[0], markersize=4)
    for first, end, level in row.levels:
        axes.hlines(level, first - 0.4, end - 0.6, color=draw.INK, linewidth=1.2)
    for shift in row.shifts:
        axes.axvline(shift.first_run - 0.5, color=draw.COLOURS[1], linewidth=1.2, linestyle="--")
        axes.annotate(
            f"{shift.value:+.3f}",
            (shift.first_run - 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -9),
            textcoords="offset points",
            fontsize=draw.SMALL,
            color=draw.INK,
        )
    changed = [k for k, _ in row.changes]
    for k in changed:
        axes.axvline(k, color=draw.GREY, linewidth=0.8, linestyle=":", zorder=0.5)
    axes.plot(changed, [0.03] * len(changed), "^", transform=axes.get_xaxis_transform(), color=draw.INK, markersize=5)
    axes.locator_params(axis="x", integer=True)
    axes.set_ylabel("score", fontsize=draw.TEXT, color=draw.INK)
    axes.set_title(
        shorten(f"{row.system} on {row.task}, {row.metric}", 90), fontsize=draw.TEXT, color=draw.INK, loc="left"
    )


History.KIND = Kind("histories", History, _sections, "Scores over time.", figure=plot_history)
