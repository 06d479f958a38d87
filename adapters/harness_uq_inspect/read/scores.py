"""Convert the columns of a log to scores: the question × epoch matrix, and each logged reduction of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import AggregateScore, Message, Scores
from harness_uq_inspect.messages import MEAN_NOT_REPORTED, MEAN_NOT_REPRODUCED, METRICS_WITHOUT_INTERVAL
from harness_uq_inspect.read.harness_results import (
    finite,
    is_mean,
    is_of_cells,
    n_questions,
    other_quantities,
    printed_value,
    reported_by,
)
from harness_uq_inspect.read.parse_scores import NoNumbers, Numbers, numbers
from harness_uq_inspect.read.reducers import MEAN, mean_of_trials, reducer_named
from harness_uq_inspect.read.schema import Metric, ScoreTotals
from harness_uq_inspect.read.score_columns import Frame, ScoreColumn, value_at

Matrix: TypeAlias = NDArray[np.float64]
MetricKey: TypeAlias = tuple[str, str]

_KEEP_LEVELS: Final = frozenset({"mode", "max", "majority"})
_TOLERANCE: Final = 1e-9


def data_of(column: ScoreColumn, frame: Frame) -> Iterator[Scores | AggregateScore]:
    """The column's matrix with filter `mean` (`none` for one epoch), then the scores of all other reducers."""
    if isinstance(column.cells, NoNumbers):
        yield from _without_numbers(column, frame, column.cells.reason)
        return
    plain = frame.epochs.filter
    matrix = None if column.cells is None else frame.matrix(column.cells.values)
    if column.cells is not None and matrix is not None:
        stopped_early = frame.header.results is not None and frame.header.results.early_stopping is not None
        yield Scores(
            column.metric,
            plain,
            matrix,
            levels=column.cells.levels,
            logged_trials=matrix.shape[1],
            reduction=MEAN if frame.epochs.n > 1 else None,
            # trials that a stopping rule skipped are not in the log, unlike trials without a score
            is_complete=stopped_early and bool(np.isfinite(column.cells.values).all()),
        )
    for reducer in _reducers(column, frame):
        name = frame.epochs.filter_of(reducer)
        if matrix is None or name != plain:
            yield _reduced_scores(column, frame, reducer, name, matrix)


def _without_numbers(column: ScoreColumn, frame: Frame, reason: str) -> Iterator[AggregateScore]:
    filters = [frame.epochs.filter_of(score.reducer) for score in frame.totals_of(column)]
    for name in dict.fromkeys(filters or [frame.epochs.filter]):
        yield AggregateScore(column.metric, name, None, column.n_questions, reason)


def _reducers(column: ScoreColumn, frame: Frame) -> list[str]:
    """Reducers that Inspect printed or logged for the column."""
    printed = [score.reducer or frame.epochs.default_reducer for score in frame.totals_of(column)]
    return list(dict.fromkeys([*printed, *(r for scorer, r in frame.reductions if scorer == column.scorer)]))


def _reduced_scores(
    column: ScoreColumn, frame: Frame, reducer: str, name: str, matrix: Matrix | None
) -> Scores | AggregateScore:
    reduced = _reduced_numbers(column, frame, reducer, matrix)
    if isinstance(reduced, NoNumbers):
        return AggregateScore(column.metric, name, None, column.n_questions, reduced.reason)
    return Scores(
        column.metric,
        name,
        reduced.values[:, None],
        levels=_levels(column, reducer, reduced),
        logged_trials=frame.epochs.n,
        reduction=reducer if frame.epochs.n > 1 or reducer != MEAN else None,
    )


def _reduced_numbers(column: ScoreColumn, frame: Frame, reducer: str, matrix: Matrix | None) -> Numbers | NoNumbers:
    """Inspect's own reduction if it was logged and no sample was invalidated since, else computed from the samples."""
    logged = frame.reductions.get((column.scorer, reducer))
    if logged is not None and not frame.header.invalidated:
        return numbers([value_at(logged.get(question), column.key) for question in frame.questions])
    compute = reducer_named(reducer)
    if compute is None or matrix is None:
        return NoNumbers(f"the log holds no scores reduced by {reducer!r}, and how to compute them is not known")
    return Numbers(compute(matrix))


def _levels(column: ScoreColumn, reducer: str, reduced: Numbers) -> tuple[float, ...] | None:
    if reducer.startswith("at_least_"):
        return (0.0, 1.0)
    if reducer in _KEEP_LEVELS and isinstance(column.cells, Numbers):
        return column.cells.levels
    return reduced.levels


# ---------------------------------------------------------------- Inspect's own numbers


def printed_scores(columns: Sequence[ScoreColumn], frame: Frame) -> dict[MetricKey, ScoreTotals]:
    """Entries in Inspect's results by metric and filter.

    If there are metrics of reduced and of unreduced scores, there are two entries; that with a reducer is returned.
    """
    entries: dict[MetricKey, ScoreTotals] = {}
    for column in columns:
        for score in sorted(frame.totals_of(column), key=lambda score: score.reducer is None):
            entries.setdefault((column.metric, frame.epochs.filter_of(score.reducer)), score)
    return entries


def totals_alone(columns: Sequence[ScoreColumn], frame: Frame) -> Iterator[tuple[AggregateScore, ScoreTotals]]:
    """Scores in Inspect's results for which the log contains no values of questions."""
    known = {column.scorer for column in columns}
    results = frame.header.results
    for score in results.scores if results else ():
        if (score.scorer or score.name) not in known:
            printed = reported_by(score, frame.header, frame.epochs)
            name = frame.epochs.filter_of(score.reducer)
            yield (
                AggregateScore(
                    score.name, name, printed.value, printed.n, "The log contains no samples with this score"
                ),
                score,
            )


def disagreements(
    data: Iterable[Scores | AggregateScore], printed: Mapping[MetricKey, ScoreTotals], frame: Frame
) -> Iterator[Message]:
    """A warning for each mean that the logged scores do not reproduce, and a note on metrics that are not the mean."""
    for item in data:
        score = printed.get((item.metric, item.filter))
        if score is None or isinstance(item, AggregateScore) or not item.is_scored.any():
            continue
        names = {"metric": item.metric, "filter": item.filter, "mean": _mean_of(item, score, frame)}
        others = other_quantities(score)
        reports_mean = any(map(is_mean, score.metrics.values()))
        difference = _difference(item, printed, frame)
        if reports_mean and difference is not None:
            metric, reported, _ = difference
            yield MEAN_NOT_REPRODUCED(**names, function=metric.bare_name, reported=reported)
        elif others:
            kind = METRICS_WITHOUT_INTERVAL if reports_mean else MEAN_NOT_REPORTED
            yield kind(**names, reported=others, n_reported=len(others))


def without_other_quantities(
    data: Iterable[Scores | AggregateScore], printed: Mapping[MetricKey, ScoreTotals], frame: Frame
) -> Iterator[Scores | AggregateScore]:
    """The data, but only the printed value of a mean whose parameters change what it measures.

    A log records that `accuracy(to_float=...)` has a function as its parameter, but not the function, so the scores do
    not give the quantity that Inspect prints.
    """
    for item in data:
        difference = _difference(item, printed, frame)
        if difference is None or not is_mean(difference[0]) or not difference[0].parameters:
            yield item
            continue
        metric, value, mean = difference
        n = n_questions(printed[item.metric, item.filter], frame.header, frame.epochs)
        names = ", ".join(sorted(metric.parameters))
        reason = (
            f"Parameters of {metric.bare_name} ({names}) change what it measures: the mean of the logged scores is "
            f"{mean:.6g}"
        )
        yield AggregateScore(item.metric, item.filter, value, n, reason, is_contradicted=True)


def _difference(
    item: Scores | AggregateScore, printed: Mapping[MetricKey, ScoreTotals], frame: Frame
) -> tuple[Metric, float, float] | None:
    """Inspect's metric, its value and the mean of the logged scores, if the value is not this mean."""
    score = printed.get((item.metric, item.filter))
    metric = None if score is None else printed_value(score)
    value = None if metric is None else finite(metric.value)
    if score is None or metric is None or value is None or isinstance(item, AggregateScore):
        return None
    if not item.is_scored.any():
        return None
    mean = _mean_of(item, score, frame)
    return (metric, value, mean) if abs(mean - value) > _TOLERANCE * max(1.0, abs(value)) else None


def _mean_of(item: Scores, score: ScoreTotals, frame: Frame) -> float:
    """The mean of the logged scores: of all trials, or of the questions, as Inspect computes it for this score."""
    is_pooled = is_of_cells(score, frame.header, frame.epochs)
    return float(np.nanmean(item.values if is_pooled else mean_of_trials(item.values)))
