"""Whether the parts of a log agree that say the same thing twice: samples, their reduction, and the counts of both."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from harness_uq_inspect.read.columns import Column, Frame, value_at
from harness_uq_inspect.read.reducers import MEAN, mean_of_trials
from harness_uq_inspect.read.remarks import is_short, n_planned
from harness_uq_inspect.read.reported import is_of_cells
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.values import Numbers, numbers

_TOLERANCE: Final = 1e-6


def contradictions(log: Log, frame: Frame, columns: Sequence[Column]) -> Iterator[str]:
    """A sentence for each; none where the log says itself that parts of it are missing or were taken out."""
    if log.header.invalidated or log.damaged or not log.cells or log.header.results is None:
        return
    planned = n_planned(log)
    if 0 < planned < len(log.cells):
        yield f"contradictory counts: the log holds {len(log.cells)} trials, and Inspect's results are of {planned}"
    for column in columns:
        if isinstance(column.cells, Numbers):
            matrix = frame.matrix(column.cells.values)
            yield from _of_reduction(column, frame, mean_of_trials(matrix))
            if not is_short(log):
                yield from _of_count(column, frame, int(np.isfinite(matrix).any(axis=1).sum()))


def _of_reduction(column: Column, frame: Frame, means: NDArray[np.float64]) -> Iterator[str]:
    logged = frame.reductions.get((column.scorer, MEAN))
    if logged is None:
        return
    reduced = numbers([value_at(logged.get(question), column.key) for question in frame.questions])
    if not isinstance(reduced, Numbers):
        return
    both = np.isfinite(means) & np.isfinite(reduced.values)
    n = int(np.sum(~np.isclose(means[both], reduced.values[both], rtol=_TOLERANCE, atol=_TOLERANCE)))
    if n:
        yield (
            f"contradictory scores: {column.metric}: on {n} of {len(means)} questions the mean of the logged trials is "
            "not what Inspect logged as such; the trials count"
        )


def _of_count(column: Column, frame: Frame, n_scored: int) -> Iterator[str]:
    for score in frame.totals_of(column):
        if score.scored_samples is None or frame.epochs.filter_of(score.reducer) != frame.epochs.filter:
            continue
        if not is_of_cells(score, frame.header, frame.epochs) and score.scored_samples != n_scored:
            yield (
                f"contradictory counts: {column.metric}: {n_scored} questions have a score, and Inspect reports "
                f"{score.scored_samples}"
            )
