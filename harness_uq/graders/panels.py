"""Mean score of several graders of the same answers, and the effective number of independent graders."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.estimation.estimate import estimate_scores
from harness_uq.estimation.judge_correction import METHOD
from harness_uq.graders.graded_answers import GradedAnswers
from harness_uq.messages import Message
from harness_uq.messages.catalogue.estimation import RANGE_REQUIRED
from harness_uq.messages.catalogue.graders import (
    EFFECTIVE_GRADERS_UNKNOWN,
    GRADERS_OF_DIFFERENT_RANGES,
    NO_COMMON_ANSWERS_OF_PANEL,
)
from harness_uq.results.estimate import Interval
from harness_uq.results.grader import GraderPanel
from harness_uq.stats.labels.effective_graders import effective_graders
from harness_uq.stats.labels.effective_labels import assess_judge
from harness_uq.stats.labels.judge import judge_corrected_posterior
from harness_uq.stats.labels.validate_labels import mean_of_trials

_FEWEST = 3


def grader_panels(entries: Sequence[GradedAnswers], level: float) -> list[GraderPanel]:
    """The mean score of all graders of the same answers, for each set of answers with several graders."""
    return [_panel(graders, level) for graders in graders_of_same_answers(entries)]


def graders_of_same_answers(entries: Sequence[GradedAnswers]) -> list[list[GradedAnswers]]:
    """The graders of each set of answers that several graders scored."""
    by_answers: dict[tuple[str, ...], list[GradedAnswers]] = {}
    for entry in entries:
        by_answers.setdefault(entry.answers, []).append(entry)
    return [graders for graders in by_answers.values() if len(graders) > 1]


def scores_of_graders(graders: Sequence[GradedAnswers]) -> FloatArray:
    """Mean scores of the questions of the first log by all graders, (n_questions, n_graders); NaN without a score."""
    by_question = [
        dict(zip(entry.log.questions.ids, mean_of_trials(entry.data.values).tolist(), strict=True)) for entry in graders
    ]
    ids = graders[0].log.questions.ids
    table = np.array([[scores.get(question, np.nan) for scores in by_question] for question in ids], float)
    return table.reshape(len(ids), len(graders))


def _panel(graders: Sequence[GradedAnswers], level: float) -> GraderPanel:
    first = graders[0]
    row = GraderPanel(tuple(entry.grader for entry in graders), first.log.task, first.data.filter, first.log.system)
    try:
        bounds = {entry.bounds for entry in graders}
        if len(bounds) > 1:
            raise NotEstimableError(GRADERS_OF_DIFFERENT_RANGES(graders=row.graders))
        scores, rows = _common_scores(graders)
        if len(rows) < _FEWEST:
            raise NotEstimableError(NO_COMMON_ANSWERS_OF_PANEL(graders=row.graders))
        units = None if first.clusters is None else np.unique(first.clusters[rows], return_inverse=True)[1]
        if first.bounds is None:
            raise NotEstimableError(RANGE_REQUIRED(method="mean of graders"))
        combined = estimate_scores(scores.mean(axis=1), clusters=units, level=level, range=first.bounds)
        row = replace(
            row,
            n_questions=len(rows),
            n_clusters=None if units is None else int(units.max()) + 1,
            value=combined.value,
            interval=combined.interval,
        )
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        return replace(row, messages=(refusal_of(error),))
    return _with_labels(row, first, scores, rows, units, level)


def _common_scores(graders: Sequence[GradedAnswers]) -> tuple[FloatArray, IntArray]:
    """Scores (n_questions, n_graders) of the questions that all graders scored, and their rows in the first log."""
    table = scores_of_graders(graders)
    rows = np.flatnonzero(np.isfinite(table).all(axis=1))
    return table[rows], rows


def _with_labels(
    row: GraderPanel, entry: GradedAnswers, scores: FloatArray, rows: IntArray, units: IntArray | None, level: float
) -> GraderPanel:
    """The panel with the corrected score and the effective number of graders, as far as the labels allow."""
    labels = entry.labels[rows]
    is_labeled = np.isfinite(labels)
    if not is_labeled.any():
        return replace(row, messages=(EFFECTIVE_GRADERS_UNKNOWN(),))
    row = replace(row, n_labels=int(is_labeled.sum()))
    messages: list[Message] = []
    chance = None if entry.probabilities is None else entry.probabilities[rows]
    try:
        row = _corrected(row, entry, scores.mean(axis=1), labels, units, chance, level)
    except (DataError, NotEstimableError) as error:
        messages.append(refusal_of(error))
    try:
        clusters = None if units is None else units[is_labeled]
        found = effective_graders(scores[is_labeled] - labels[is_labeled, None], clusters=clusters, level=level)
        row = replace(
            row,
            effective_graders=found.value,
            effective_interval=Interval(found.low, found.high, level, "confidence"),
            error_correlation=found.correlation,
        )
    except NotEstimableError as error:
        messages.append(refusal_of(error))
    return replace(row, messages=tuple(messages))


def _corrected(
    row: GraderPanel,
    entry: GradedAnswers,
    means: FloatArray,
    labels: FloatArray,
    units: IntArray | None,
    chance: FloatArray | None,
    level: float,
) -> GraderPanel:
    if entry.bounds is None:
        raise NotEstimableError(RANGE_REQUIRED(method=METHOD))
    low, high = entry.bounds
    posterior = judge_corrected_posterior(means, labels, clusters=units, probabilities=chance, low=low, high=high)
    ends = posterior.interval(level, "hdi")
    worth = assess_judge(means, labels, clusters=units, probabilities=chance)
    value = float(np.clip(worth.estimate, low, high))
    return replace(row, corrected=value, corrected_interval=Interval(*ends, level, "hdi"))
