"""Agreement of a grader with human labels: equal grades, sensitivity, specificity, kappa, AC1 and mean error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness_uq.alignment.panel import panel_of_scores
from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.errors import DataError, LogError, NotEstimableError, StructureError, refusal_of
from harness_uq.estimation.estimate import estimate_scores
from harness_uq.estimation.judge_correction import ENOUGH_LABELS
from harness_uq.graders.graded_answers import GradedAnswers, clusters_across_entries
from harness_uq.inference.contrasts import paired_contrast
from harness_uq.messages import Message, distinct
from harness_uq.messages.catalogue.estimation import FEW_LABELS, NO_LABELS
from harness_uq.results.estimate import Interval, Posterior
from harness_uq.results.grader import AgreementMeasure, GraderAgreement, MeasuredAgreement
from harness_uq.stats.classes.multiclass import (
    clustered_multiclass_posterior,
    multiclass_posterior,
    multiclass_score,
)
from harness_uq.stats.common.posterior import BetaPosterior

_MOST_GRADES = 10
_FEWEST_LABELS = 3


@dataclass(frozen=True, slots=True, eq=False)
class LabeledAnswers:
    """Scores of a grader and labels of people for the same answers.

    Attributes
    ----------
    graded, human : float (n,)
    questions : int (n,); question of each answer
    clusters : int (n,); cluster of each answer, which may be its question
    weights : float (n,); 1 / probability of a label; None if all answers were labeled with equal probability
    bounds : range of scores and labels; None if unknown
    has_clusters : whether clusters are larger than the answers to one question
    """

    graded: FloatArray
    human: FloatArray
    questions: IntArray
    clusters: IntArray
    weights: FloatArray | None
    bounds: tuple[float, float] | None
    has_clusters: bool

    @property
    def is_binary(self) -> bool:
        """Whether scores and labels are 0 or 1."""
        return bool(np.isin(self.graded, (0.0, 1.0)).all() and np.isin(self.human, (0.0, 1.0)).all())

    @property
    def units(self) -> IntArray | None:
        """Clusters of dependent answers; None if all answers are independent."""
        return None if len(np.unique(self.clusters)) == len(self.clusters) else self.clusters


def agreement_of(
    entries: Sequence[GradedAnswers],
    level: float,
    *,
    system: str | None,
    field: str | None = None,
    group: str | None = None,
) -> GraderAgreement:
    """The agreement of one grader with the labels of one task, of one system or of several together.

    Parameters
    ----------
    entries : scores of the same grader, task and filter, one entry per system
    level : level of the intervals
    system, field, group : names of the answers in the result
    """
    first = entries[0]
    try:
        answers = labeled_answers(entries)
        of_labels = distinct(message for entry in entries for message in entry.messages)
        measures, messages = tuple(_measures(answers, level)), (*_warnings(answers), *of_labels)
    except (DataError, LogError, NotEstimableError, StructureError) as error:
        answers, measures, messages = None, (), (refusal_of(error),)
    return GraderAgreement(
        grader=first.grader,
        task=first.log.task,
        filter=first.data.filter,
        system=system,
        field=field,
        group=group,
        n_labels=0 if answers is None else len(answers.human),
        n_questions=0 if answers is None else len(np.unique(answers.questions)),
        n_clusters=len(np.unique(answers.clusters)) if answers is not None and answers.has_clusters else None,
        measures=measures,
        messages=messages,
    )


def labeled_answers(entries: Sequence[GradedAnswers]) -> LabeledAnswers:
    """The labeled answers of all entries.

    Raises
    ------
    NotEstimableError : if there are fewer than three
    """
    parts = [_answers_of(entry) for entry in entries]
    if sum(len(rows) for _, _, rows in parts) < _FEWEST_LABELS:
        raise NotEstimableError(NO_LABELS())
    ids = {question: i for i, question in enumerate(dict.fromkeys(q for e in entries for q in e.log.questions.ids))}
    questions = [
        np.array([ids[q] for q in entry.log.questions.ids], np.int64)[rows]
        for entry, (_, _, rows) in zip(entries, parts, strict=True)
    ]
    clusters = [codes[rows] for codes, (_, _, rows) in zip(clusters_across_entries(entries), parts, strict=True)]
    weights = [_weights(entry, rows) for entry, (_, _, rows) in zip(entries, parts, strict=True)]
    is_weighted = any(np.ptp(part) > 0 for part in weights if len(part))
    return LabeledAnswers(
        graded=np.concatenate([graded for graded, _, _ in parts]),
        human=np.concatenate([human for _, human, _ in parts]),
        questions=np.concatenate(questions),
        clusters=np.concatenate(clusters),
        weights=np.concatenate(weights) if is_weighted else None,
        bounds=entries[0].bounds,
        has_clusters=any(entry.clusters is not None for entry in entries),
    )


def _answers_of(entry: GradedAnswers) -> tuple[FloatArray, FloatArray, IntArray]:
    """Grades, labels and question of each labeled answer; trials are averaged if a question has a single label."""
    graded, human = entry.data.values, entry.human
    if human is None:
        return np.empty(0), np.empty(0), np.empty(0, np.int64)
    if human.shape != graded.shape:
        counts = np.maximum(np.isfinite(graded).sum(axis=1), 1)
        means = np.nansum(graded, axis=1) / counts
        graded = np.where(np.isfinite(graded).any(axis=1), means, np.nan)[:, None]
        human = entry.labels[:, None]
    rows, trials = np.nonzero(np.isfinite(graded) & np.isfinite(human))
    return graded[rows, trials], human[rows, trials], rows


def _weights(entry: GradedAnswers, rows: IntArray) -> FloatArray:
    return np.ones(len(rows)) if entry.probabilities is None else 1.0 / entry.probabilities[rows]


def _warnings(answers: LabeledAnswers) -> tuple[Message, ...]:
    n_labels = len(answers.human)
    return (FEW_LABELS(n_labels=n_labels, enough=ENOUGH_LABELS),) if n_labels < ENOUGH_LABELS else ()


def _measures(answers: LabeledAnswers, level: float) -> Iterator[MeasuredAgreement]:
    grades = np.array([0.0, 1.0]) if answers.is_binary else np.unique([*answers.graded, *answers.human])
    if 1 < len(grades) <= _MOST_GRADES:
        equal = answers.graded == answers.human
        yield from _share(answers, "agreement", equal, np.full(len(equal), True), level)
        if answers.is_binary:
            yield from _share(answers, "sensitivity", equal, answers.human == 1, level)
            yield from _share(answers, "specificity", equal, answers.human == 0, level)
        targets, predictions = (np.searchsorted(grades, values) for values in (answers.human, answers.graded))
        for measure in ("kappa", "ac1"):
            yield _beyond_chance(answers, measure, targets, predictions, len(grades), level)
    yield _mean_error(answers, level)


def _share(
    answers: LabeledAnswers, measure: AgreementMeasure, equal: NDArray[np.bool_], rows: NDArray[np.bool_], level: float
) -> Iterator[MeasuredAgreement]:
    """The share of `equal` in these rows with the default interval of a mean score; nothing without rows."""
    if not rows.any():
        return
    values, clusters = equal[rows].astype(float), answers.clusters[rows]
    if answers.weights is not None:
        weights = answers.weights[rows]
        value, n = float(np.average(values, weights=weights)), _effective_number(weights, clusters)
        low, high = BetaPosterior(1 + n * value, 1 + n * (1 - value)).interval(level, "hdi")
        yield MeasuredAgreement(measure, value, Interval(low, high, level, "hdi"))
        return
    units = None if answers.units is None else clusters
    row = estimate_scores(values, clusters=units, level=level, range=(0.0, 1.0))
    if row.value is not None and row.interval is not None:
        yield MeasuredAgreement(measure, row.value, row.interval)


def _beyond_chance(
    answers: LabeledAnswers,
    measure: Literal["kappa", "ac1"],
    targets: IntArray,
    predictions: IntArray,
    n_grades: int,
    level: float,
) -> MeasuredAgreement:
    """Kappa or AC1; with unequal probabilities of a label, from the cells' weights times the effective number."""
    matrix = np.zeros((n_grades, n_grades))
    np.add.at(matrix, (targets, predictions), 1.0 if answers.weights is None else answers.weights)
    if answers.weights is not None:
        matrix *= _effective_number(answers.weights, answers.clusters) / matrix.sum()
    posterior: Posterior
    if answers.weights is not None or answers.units is None:
        posterior = multiclass_posterior(matrix, measure)
    else:
        posterior = clustered_multiclass_posterior(targets, predictions, answers.units, measure, n_classes=n_grades)
    return MeasuredAgreement(measure, multiclass_score(matrix, measure), _interval(posterior, level))


def _effective_number(weights: FloatArray, clusters: IntArray) -> float:
    """Kish's effective number of clusters, (sum of their weights)^2 / (sum of the squares)."""
    of_clusters = np.bincount(clusters, weights)
    return float(of_clusters.sum() ** 2 / (of_clusters**2).sum())


def _mean_error(answers: LabeledAnswers, level: float) -> MeasuredAgreement:
    """Mean of the score minus the label: how much the grader overrates the answers."""
    panel = panel_of_scores(
        [answers.graded, answers.human],
        answers.units,
        answers.bounds,
        weights=answers.weights,
        is_binary=answers.is_binary,
    )
    posterior = paired_contrast(panel).posterior
    value = float(np.average(panel.differences, weights=answers.weights))
    return MeasuredAgreement("mean error", value, _interval(posterior, level))


def _interval(posterior: Posterior, level: float) -> Interval:
    low, high = posterior.interval(level)
    return Interval(low, high, level, "quantile")
