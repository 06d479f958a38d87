"""Check that the redundant parts of a log agree: samples, their reductions, and the counts of both."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import Message
from harness_uq_inspect.messages import CONTRADICTORY_COUNTS, CONTRADICTORY_SCORES, CONTRADICTORY_TRIALS
from harness_uq_inspect.read.harness_results import is_of_cells
from harness_uq_inspect.read.log_notes import is_short, n_planned
from harness_uq_inspect.read.parse_scores import Numbers, numbers
from harness_uq_inspect.read.reducers import MEAN, mean_of_trials
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.score_columns import Frame, ScoreColumn, value_at

_TOLERANCE: Final = 1e-6


def contradictions(log: Log, frame: Frame, columns: Sequence[ScoreColumn]) -> Iterator[Message]:
    """A warning for each contradiction; none if the log itself states that parts of it are missing or invalidated."""
    if log.header.invalidated or log.damaged or not log.cells or log.header.results is None:
        return
    planned = n_planned(log)
    if 0 < planned < len(log.cells):
        yield CONTRADICTORY_TRIALS(n_logged=len(log.cells), n_planned=planned)
    for column in columns:
        if isinstance(column.cells, Numbers):
            matrix = frame.matrix(column.cells.values)
            if not is_short(log):
                yield from _of_reduction(column, frame, mean_of_trials(matrix))
                yield from _of_count(column, frame, int(np.isfinite(matrix).any(axis=1).sum()))


def _of_reduction(column: ScoreColumn, frame: Frame, means: NDArray[np.float64]) -> Iterator[Message]:
    logged = frame.reductions.get((column.scorer, MEAN))
    if logged is None:
        return
    reduced = numbers([value_at(logged.get(question), column.key) for question in frame.questions])
    if not isinstance(reduced, Numbers):
        return
    both = np.isfinite(means) & np.isfinite(reduced.values)
    n = int(np.sum(~np.isclose(means[both], reduced.values[both], rtol=_TOLERANCE, atol=_TOLERANCE)))
    if n:
        yield CONTRADICTORY_SCORES(metric=column.metric, n_different=n, n_questions=len(means))


def _of_count(column: ScoreColumn, frame: Frame, n_scored: int) -> Iterator[Message]:
    for score in frame.totals_of(column):
        if score.scored_samples is None or frame.epochs.filter_of(score.reducer) != frame.epochs.filter:
            continue
        if not is_of_cells(score, frame.header, frame.epochs) and score.scored_samples != n_scored:
            yield CONTRADICTORY_COUNTS(metric=column.metric, n_scored=n_scored, n_reported=score.scored_samples)
