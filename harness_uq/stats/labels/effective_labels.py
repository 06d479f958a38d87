"""Effective number of human labels in combination with a judge's scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.labels.judge import best_weight, corrected_mean
from harness_uq.stats.labels.label_arrays import check_graded


@dataclass(frozen=True, slots=True)
class JudgeAssessment:
    """Agreement of a judge with human labels, and the gain from using its scores.

    Attributes
    ----------
    n_labels, n_scores : int
        Number of items with a human label, and with a judge's score.
    judge_mean : float
        Mean of the judge's scores over questions, without correction.
    human_mean : float
        Mean of the human labels, over labelled questions.
    estimate : float
        Corrected mean, without a prior.
    weight : float
        Weight beta of the judge's scores.
    agreement : float or None
        Share of labels that equal the judge's score; None unless all are 0 or 1.
    effective_labels : float or None
        Number of random labels that would give the same standard error without a judge; None if all labels are equal,
        so that no variance is estimable.
    """

    n_labels: int
    n_scores: int
    judge_mean: float
    human_mean: float
    estimate: float
    weight: float
    agreement: float | None
    effective_labels: float | None

    @property
    def bias(self) -> float:
        """Difference between the judge's mean and the corrected mean."""
        return self.judge_mean - self.estimate

    @property
    def is_no_better(self) -> bool | None:
        """Whether the judge errs at least as often as the evaluated system.

        The judge then saves at most half of the labels.
        """
        return None if self.agreement is None else self.agreement <= self.estimate


def assess_judge(
    judge: ArrayLike, human: ArrayLike, *, clusters: ArrayLike | None = None, probabilities: ArrayLike | None = None
) -> JudgeAssessment:
    """Estimate, weight and effective number of labels of a correction.

    With V_h the sampling variance of the labels' mean and V that of the corrected mean, both cluster-robust, the
    effective number of labels is n V_h / V (n - 2) / (n - 1); the last factor accounts for the estimated weight. For
    independent questions it approaches n / (1 - r^2 (1 - n / N)) with r the correlation between judge and human labels.

    Arguments and errors are those of `judge_corrected_posterior`.

    Returns
    -------
    JudgeAssessment
        Means, weight, agreement and effective number of labels.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453, prop. 2. Dorner, Nastl and Hardt (2025), arXiv 2410.13341,
    show that a judge no more accurate than the evaluated model at most doubles the labels.

    Examples
    --------
    >>> worth = assess_judge([1, 0] * 50, [1, 0, 1, 1, 0, 0, 1, 0] + [float("nan")] * 92)
    >>> worth.n_labels, worth.agreement, round(worth.effective_labels, 1)
    (8, 0.75, 8.9)
    """
    items = check_graded(judge, human, clusters, probabilities)
    centre = float(items.judge.mean())
    sums = replace(items, judge=items.judge - centre).sums()
    total = sums.sum(axis=0)
    weight, labelled = float(best_weight(total)), items.is_labelled
    f, h, w = items.judge[labelled], items.human[labelled], items.label_weight[labelled]
    return JudgeAssessment(
        n_labels=int(labelled.sum()),
        n_scores=len(items.judge),
        judge_mean=centre + float(total[1] / total[0]),
        human_mean=float(total[4] / total[2]),
        estimate=float(corrected_mean(total)),
        weight=weight,
        agreement=float(w @ (f == h) / w.sum()) if np.isin(np.append(f, h), (0.0, 1.0)).all() else None,
        effective_labels=_effective_labels(sums, weight, int(labelled.sum())),
    )


def corrected_correlation(
    judge: FloatArray,
    human: Sequence[FloatArray],
    *,
    clusters: ArrayLike | None = None,
    probabilities: Sequence[FloatArray | None] | None = None,
) -> FloatArray:
    """Correlations of the corrected means of several systems, from their influences on the same questions.

    `judge` has scores (n_systems, n_questions), and `human` labels (n_questions,) of each system, NaN without one;
    `probabilities` are as in `judge_corrected_posterior`, for each system. The correlation is 0 for a system with fewer
    than three labelled questions or clusters, or without variation.

    Systems with equal scores and labels are perfectly correlated:

    >>> corrected_correlation(np.array([[1, 0, 1, 0.0]] * 2), [np.array([1, 0, 0, 1.0])] * 2).round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    n_units = judge.shape[1] if clusters is None else len(np.unique(clusters))
    influences = np.zeros((len(judge), n_units))
    for k, (f, h) in enumerate(zip(judge, human, strict=True)):
        try:
            items = check_graded(f, h, clusters, None if probabilities is None else probabilities[k])
        except NotEstimableError:
            continue
        sums = replace(items, judge=items.judge - items.judge.mean()).sums()
        influences[k] = _influences(sums, float(best_weight(sums.sum(axis=0))))[1]
    size = np.sqrt((influences**2).sum(axis=1))
    scaled = influences / np.where(size > 0, size, 1.0)[:, None]
    correlation = np.clip(scaled @ scaled.T, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _influences(sums: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
    """Influence of each unit on the labels' mean and on the corrected mean."""
    n, f, m, f_labelled, h = sums.sum(axis=0)[:5]
    label_influence = (sums[:, 4] - h / m * sums[:, 2]) / m
    shift = (sums[:, 1] - f / n * sums[:, 0]) / n - (sums[:, 3] - f_labelled / m * sums[:, 2]) / m
    return np.asarray(label_influence), np.asarray(label_influence + weight * shift)


def _effective_labels(sums: FloatArray, weight: float, n_labels: int) -> float | None:
    """n_labels times V_h / V with its small-sample factor, from the units' influences on both means."""
    label_influence, corrected_influence = _influences(sums, weight)
    label_variance, corrected_variance = (
        float(label_influence @ label_influence),
        float(corrected_influence @ corrected_influence),
    )
    n_units = int((sums[:, 2] > 0).sum())
    if label_variance <= 1e-24 or not corrected_variance > 0:
        return None
    return n_labels * label_variance / corrected_variance * (n_units - 2) / (n_units - 1)
