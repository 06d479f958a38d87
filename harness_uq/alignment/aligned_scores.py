"""Scores of several systems on the questions that all of them answered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness_uq.alignment.match import CommonClusters, CommonQuestions, common_clusters, common_questions
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import FloatArray, Scores
from harness_uq.errors import NotEstimableError
from harness_uq.messages import HasMessages, Message
from harness_uq.messages.catalogue.comparison import QUESTION_SCORES_MISSING, SYSTEM_WITHOUT_QUESTION_SCORES
from harness_uq.plugins.manager import Plugins
from harness_uq.stats.trials.diagnostics import identical_trials
from harness_uq.structure.structure import StructureOptions, score_type_of


@dataclass(frozen=True, slots=True, eq=False)
class MatchedScores(HasMessages):
    """Scores of systems on the same questions.

    Attributes
    ----------
    common : the questions and the runs that contain them
    clusters : clusters of the questions
    values : float (n_questions, n_trials) per system, as logged; NaN marks a missing trial
    trials : like `values`, but with a single column if all trials of every question have the same score
    is_binary, bounds : whether scores are binary, and their range; bounds are None if the range is unknown
    metric : name of the score
    left_out : notes on systems that do not score each question
    """

    common: CommonQuestions
    clusters: CommonClusters
    values: tuple[FloatArray, ...]
    trials: tuple[FloatArray, ...]
    is_binary: bool
    bounds: tuple[float, float] | None
    metric: str
    left_out: tuple[Message, ...] = ()

    @property
    def means(self) -> FloatArray:
        """Mean score over the trials of each question; float (n_systems, n_questions)."""
        return np.stack([np.nanmean(trials, axis=1) for trials in self.trials])

    @property
    def is_single_binary(self) -> NDArray[np.bool_]:
        """Whether each system has one trial with a binary score on every question; bool (n_systems,)."""
        return np.array([self.is_binary and trials.shape[1] == 1 for trials in self.trials])

    @property
    def n_trials(self) -> int:
        """Maximum number of distinct trials per question."""
        return max(int(trials.shape[1]) for trials in self.trials)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Notes on excluded systems and questions, and warnings."""
        return (*self.left_out, *self.common.messages, *self.clusters.messages)


def match_scores(chosen: Sequence[SelectedRun], options: StructureOptions, plugins: Plugins) -> MatchedScores:
    """Align the scores of runs that score each question.

    Parameters
    ----------
    chosen : data of one task, metric and filter, one entry per system

    Raises
    ------
    DataError : if two questions of a log cannot be distinguished
    NotEstimableError : if too few questions match, or fewer than two systems score each question
    """
    known = [entry for entry in chosen if isinstance(entry.data, Scores)]
    missing = [entry.log.system for entry in chosen if entry not in known]
    if missing and len(known) < 2:
        raise NotEstimableError(QUESTION_SCORES_MISSING(system=missing[0]))
    common = common_questions(known)
    matched = scores_on(common, common_clusters(common, options, plugins), options)
    return replace(matched, left_out=tuple(SYSTEM_WITHOUT_QUESTION_SCORES(system=name) for name in missing))


def scores_on(common: CommonQuestions, clusters: CommonClusters, options: StructureOptions) -> MatchedScores:
    """The scores of runs whose questions are matched already."""
    scores = [entry.data for entry in common.entries if isinstance(entry.data, Scores)]
    in_common = [score.values[rows] for score, rows in zip(scores, common.rows, strict=True)]
    # trials for which no question has a score are dropped
    values = tuple(v[:, ~np.isnan(v).all(axis=0)] for v in in_common)
    kind, bounds, _ = score_type_of(_joined(scores, values), options.of_task(common.entries[0].log.task).ranges)
    return MatchedScores(
        common=common,
        clusters=clusters,
        values=values,
        trials=tuple(np.nanmean(v, axis=1, keepdims=True) if identical_trials(v) else v for v in values),
        is_binary=kind == "binary",
        bounds=bounds,
        metric=scores[0].metric,
    )


def _joined(scores: Sequence[Scores], values: Sequence[FloatArray]) -> Scores:
    """Stack the scores of all systems into one column; the levels are the union if every system declares levels."""
    levels = [score.levels for score in scores if score.levels is not None]
    union = tuple(sorted({x for declared in levels for x in declared})) if len(levels) == len(scores) else None
    bounds = scores[0].bounds if all(score.bounds == scores[0].bounds for score in scores) else None
    column = np.concatenate([v.ravel() for v in values])[:, None]
    return Scores(scores[0].metric, scores[0].filter, column, levels=union, bounds=bounds)
