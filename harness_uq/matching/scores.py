"""Scores of several systems on the questions that all of them answered."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import FloatArray, Scores
from harness_uq.logs.newest import Chosen
from harness_uq.matching.clusters import CommonClusters, common_clusters
from harness_uq.matching.questions import CommonQuestions, common_questions
from harness_uq.plugins.manager import Plugins
from harness_uq.stats.trials.checks import identical_trials
from harness_uq.structure.detection import score_type_of
from harness_uq.structure.facts import StructureOptions


@dataclass(frozen=True, slots=True, eq=False)
class MatchedScores:
    """Scores of systems on the same questions.

    Attributes
    ----------
    common : the questions, and the runs they are of
    clusters : of the questions
    values : float (n_questions, n_trials) a system, as logged; NaN marks a missing trial
    trials : the same; one column where all trials of every question scored alike
    is_binary, bounds : of a score; bounds are None where the range is unknown
    metric : name of the score
    left_out : notes on systems without a score a question
    """

    common: CommonQuestions
    clusters: CommonClusters
    values: tuple[FloatArray, ...]
    trials: tuple[FloatArray, ...]
    is_binary: bool
    bounds: tuple[float, float] | None
    metric: str
    left_out: tuple[str, ...] = ()

    @property
    def means(self) -> FloatArray:
        """Mean over each question's trials; float (n_systems, n_questions)."""
        return np.stack([np.nanmean(trials, axis=1) for trials in self.trials])

    @property
    def n_trials(self) -> int:
        """Most distinct trials a question."""
        return max(int(trials.shape[1]) for trials in self.trials)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which systems and questions are left out."""
        return (*self.left_out, *self.common.notes)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may change a conclusion."""
        return (*self.common.warnings, *self.clusters.warnings)


def match_scores(chosen: Sequence[Chosen], options: StructureOptions, plugins: Plugins) -> MatchedScores:
    """Match the questions of runs that score each question.

    Parameters
    ----------
    chosen : data of one task, metric and filter, one a system

    Raises
    ------
    DataError : if two questions of a log cannot be told apart
    NotEstimableError : if too few questions match, or fewer than two systems have a score a question
    """
    known = [entry for entry in chosen if isinstance(entry.data, Scores)]
    missing = [entry.log.system for entry in chosen if entry not in known]
    if missing and len(known) < 2:
        raise NotEstimableError(f"the log of {missing[0]} holds no score a question")
    common = common_questions(known)
    scores = [entry.data for entry in common.entries if isinstance(entry.data, Scores)]
    values = tuple(_answered(score.values[rows]) for score, rows in zip(scores, common.rows, strict=True))
    kind, bounds, _ = score_type_of(_joined(scores, values), options.of_task(known[0].log.task).ranges)
    return MatchedScores(
        common=common,
        clusters=common_clusters(common, options, plugins),
        values=values,
        trials=tuple(_distinct(v) for v in values),
        is_binary=kind == "binary",
        bounds=bounds,
        metric=scores[0].metric,
        left_out=tuple(f"{name} is left out: its log holds no score a question" for name in missing),
    )


def _answered(values: FloatArray) -> FloatArray:
    """Without the trials that no question has."""
    return values[:, ~np.isnan(values).all(axis=0)]


def _distinct(values: FloatArray) -> FloatArray:
    return np.nanmean(values, axis=1, keepdims=True) if identical_trials(values) else values


def _joined(scores: Sequence[Scores], values: Sequence[FloatArray]) -> Scores:
    """All systems' scores as one column, of the levels that any of them declares where all declare some."""
    levels = [score.levels for score in scores if score.levels is not None]
    union = tuple(sorted({x for found in levels for x in found})) if len(levels) == len(scores) else None
    bounds = scores[0].bounds if all(score.bounds == scores[0].bounds for score in scores) else None
    column = np.concatenate([v.ravel() for v in values])[:, None]
    return Scores(scores[0].metric, scores[0].filter, column, levels=union, bounds=bounds)
