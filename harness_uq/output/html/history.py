"""The section of the HTML report about repeated runs: the scores over time, and tables of runs and questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness_uq.output.columns import format_number
from harness_uq.output.history import history_sections
from harness_uq.output.html.headline import FEW, Headline
from harness_uq.output.html.tables import TableView, section_table
from harness_uq.plots.figure_rows import tick_text, ticks
from harness_uq.plots.label_texts import task_title
from harness_uq.results.history import History

HEIGHT = 240  # of a plot, in pixels
_MOST_TICKS = 10


@dataclass(frozen=True, slots=True)
class PlottedRun:
    """A run in a plot: x in percent of the width, y in pixels; `top` and `bottom` are ends of its interval."""

    x: float
    y: float
    top: float
    bottom: float
    is_changed: bool
    description: str


@dataclass(frozen=True, slots=True)
class HistoryView:
    """The scores of one history over time.

    Attributes
    ----------
    title : system, task and metric
    runs : in the order of their times
    levels : left, right and y of the mean score between changes
    shifts : x and text of the changes of the score
    changes : number of each run whose configuration differs from that of the run before, and the differences
    x_ticks, y_ticks : place and text
    tables : runs, changed questions and flaky questions, each with the sentences below it
    height : of the plot in pixels
    """

    title: str
    runs: tuple[PlottedRun, ...]
    levels: tuple[tuple[float, float, float], ...]
    shifts: tuple[tuple[float, str], ...]
    changes: tuple[tuple[int, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    tables: tuple[tuple[TableView, tuple[str, ...]], ...]
    height: int = HEIGHT


def history_view(row: History) -> HistoryView:
    """The plot and the tables of a history with runs."""
    n, values = len(row.runs), [run.value for run in row.runs]
    low, high = min(run.interval.low for run in row.runs), max(run.interval.high for run in row.runs)

    def x_place(number: float) -> float:
        return round(100 * (number - 0.5) / n, 2)

    def y_place(value: float) -> float:
        return round(HEIGHT * (1 - (value - low) / max(high - low, 1e-9)), 1)

    starts = [1, *(shift.first_run for shift in row.shifts), n + 1]
    levels = ((first, end, sum(values[first - 1 : end - 1]) / (end - first)) for first, end in pairwise(starts))
    y_ticks = ticks(low, high) if high > low else (low,)
    return HistoryView(
        title=f"{row.system} on {task_title(row.task, row.metric, row.filter)}",
        runs=tuple(
            PlottedRun(
                x_place(number),
                y_place(run.value),
                y_place(run.interval.high),
                y_place(run.interval.low),
                bool(run.settings_changed),
                _description(row, number),
            )
            for number, run in enumerate(row.runs, 1)
        ),
        levels=tuple((x_place(first - 0.4), x_place(end - 0.6), y_place(level)) for first, end, level in levels),
        shifts=tuple((x_place(shift.first_run - 0.5), f"{shift.value:+.3f}") for shift in row.shifts),
        changes=tuple(
            (number, "; ".join(run.settings_changed)) for number, run in enumerate(row.runs, 1) if run.settings_changed
        ),
        x_ticks=tuple((x_place(number), str(number)) for number in range(1, n + 1, -(-n // _MOST_TICKS))),
        y_ticks=tuple((y_place(tick), tick_text(tick, y_ticks)) for tick in y_ticks),
        tables=tuple(
            (section_table(section), (*section.lines, *filter(None, section.legend.values())))
            for section in history_sections(row)
        ),
    )


def _description(row: History, number: int) -> str:
    run = row.runs[number - 1]
    time = f" of {run.time[:16].replace('T', ' ')}" if run.time else ""
    interval = f"interval from {format_number(run.interval.low)} to {format_number(run.interval.high)}"
    changed = f"; changed: {', '.join(run.settings_changed)}" if run.settings_changed else ""
    return f"Run {number}{time}: {format_number(run.value)}, {interval}{changed}"


def history_headlines(rows: Sequence[History]) -> list[Headline]:
    """Whether each score changed; of many histories, those that changed, and how many did not."""
    listed = rows if len(rows) <= FEW else [row for row in rows if row.shifts]
    lines = [Headline(row.answer, f"{row.system} on {task_title(row.task, row.metric, row.filter)}") for row in listed]
    hidden = sum(1 for row in rows if row not in listed)
    return [*lines, *([Headline(f"{hidden} further histories do not show a change of the score.")] if hidden else [])]
