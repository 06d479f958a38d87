"""From the columns of a log to the core's data: the question × epoch matrix, and each logged reduction of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness_uq import Scores, Totals
from harness_uq_inspect.read.columns import Column, Frame, value_at
from harness_uq_inspect.read.reducers import MEAN, mean_of_trials, reducer_named
from harness_uq_inspect.read.reported import finite, is_mean, is_of_cells, printed_value, reported_by
from harness_uq_inspect.read.schema import ScoreTotals
from harness_uq_inspect.read.values import NoNumbers, Numbers, numbers

Matrix: TypeAlias = NDArray[np.float64]
MetricKey: TypeAlias = tuple[str, str]

_KEEP_LEVELS: Final = frozenset({"mode", "max", "majority"})
_TOLERANCE: Final = 1e-9


def data_of(column: Column, frame: Frame) -> Iterator[Scores | Totals]:
    """The column's matrix under the filter `mean` (`none` with one epoch), then every other reducer."""
    if isinstance(column.cells, NoNumbers):
        yield from _without_numbers(column, frame, column.cells.reason)
        return
    plain = frame.epochs.filter
    matrix = None if column.cells is None else frame.matrix(column.cells.values)
    if column.cells is not None and matrix is not None:
        n = matrix.shape[1]
        reduction = MEAN if frame.epochs.n > 1 else None
        yield Scores(column.metric, plain, matrix, levels=column.cells.levels, logged_trials=n, reduction=reduction)
    for reducer in _reducers(column, frame):
        name = frame.epochs.filter_of(reducer)
        if matrix is None or name != plain:
            yield _reduced(column, frame, reducer, name, matrix)


def _without_numbers(column: Column, frame: Frame, reason: str) -> Iterator[Totals]:
    filters = [frame.epochs.filter_of(score.reducer) for score in frame.totals_of(column)]
    for name in dict.fromkeys(filters or [frame.epochs.filter]):
        yield Totals(column.metric, name, None, column.n_questions, reason)


def _reducers(column: Column, frame: Frame) -> list[str]:
    """Reducers that Inspect printed or logged for the column."""
    printed = [score.reducer or frame.epochs.default_reducer for score in frame.totals_of(column)]
    return list(dict.fromkeys([*printed, *(r for scorer, r in frame.reductions if scorer == column.scorer)]))


def _reduced(column: Column, frame: Frame, reducer: str, name: str, matrix: Matrix | None) -> Scores | Totals:
    reduced = _reduced_numbers(column, frame, reducer, matrix)
    if isinstance(reduced, NoNumbers):
        return Totals(column.metric, name, None, column.n_questions, reduced.reason)
    return Scores(
        column.metric,
        name,
        reduced.values[:, None],
        levels=_levels(column, reducer, reduced),
        logged_trials=frame.epochs.n,
        reduction=reducer if frame.epochs.n > 1 or reducer != MEAN else None,
    )


def _reduced_numbers(column: Column, frame: Frame, reducer: str, matrix: Matrix | None) -> Numbers | NoNumbers:
    """Inspect's own reduction where it was logged and no sample was invalidated since, else computed from the cells."""
    logged = frame.reductions.get((column.scorer, reducer))
    if logged is not None and not frame.header.invalidated:
        return numbers([value_at(logged.get(question), column.key) for question in frame.questions])
    compute = reducer_named(reducer)
    if compute is None or matrix is None:
        return NoNumbers(f"the log holds no scores reduced by {reducer!r}, and how to compute them is not known")
    return Numbers(compute(matrix))


def _levels(column: Column, reducer: str, reduced: Numbers) -> tuple[float, ...] | None:
    if reducer.startswith("at_least_"):
        return (0.0, 1.0)
    if reducer in _KEEP_LEVELS and isinstance(column.cells, Numbers):
        return column.cells.levels
    return reduced.levels


# ---------------------------------------------------------------- Inspect's own numbers


def printed_scores(columns: Sequence[Column], frame: Frame) -> dict[MetricKey, ScoreTotals]:
    """Inspect's entries by metric and filter.

    Where metrics on reduced and on unreduced scores were mixed there are two; the reduced one names its reducer.
    """
    found: dict[MetricKey, ScoreTotals] = {}
    for column in columns:
        for score in sorted(frame.totals_of(column), key=lambda score: score.reducer is None):
            found.setdefault((column.metric, frame.epochs.filter_of(score.reducer)), score)
    return found


def totals_alone(columns: Sequence[Column], frame: Frame) -> Iterator[tuple[Totals, ScoreTotals]]:
    """Scores that Inspect printed although the log holds no value of any question."""
    known = {column.scorer for column in columns}
    results = frame.header.results
    for score in results.scores if results else ():
        if (score.scorer or score.name) not in known:
            printed = reported_by(score, frame.header, frame.epochs)
            name = frame.epochs.filter_of(score.reducer)
            yield Totals(score.name, name, printed.value, printed.n, "the log holds no samples with this score"), score


def disagreements(
    data: Iterable[Scores | Totals], printed: Mapping[MetricKey, ScoreTotals], frame: Frame
) -> Iterator[tuple[bool, str]]:
    """Where Inspect's value is not the mean of the logged scores: whether it claims to be, and a sentence."""
    for item in data:
        score = printed.get((item.metric, item.filter))
        metric = None if score is None else printed_value(score)
        value = None if metric is None else finite(metric.value)
        if score is None or metric is None or value is None or isinstance(item, Totals) or not item.is_scored.any():
            continue
        is_pooled = is_of_cells(score, frame.header, frame.epochs)
        mean = float(np.nanmean(item.values if is_pooled else mean_of_trials(item.values)))
        if abs(mean - value) > _TOLERANCE * max(1.0, abs(value)):
            yield (
                is_mean(metric),
                f"{item.metric} ({item.filter}): Inspect reports {metric.bare_name} {value:.6g}, "
                f"the mean of the logged scores is {mean:.6g}",
            )
