"""What a person's labels are worth beside a judge's scores."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.labels.graded import check_graded
from harness_uq.stats.labels.judge import best_weight, corrected_mean


@dataclass(frozen=True, slots=True)
class JudgeWorth:
    """A judge against the labels.

    Attributes
    ----------
    n_labels, n_scores : int; items that the person, and that the judge graded
    judge_mean : float; the judge's mean over questions, without correction
    human_mean : float; the person's, over the labelled questions alone
    estimate : float; the corrected mean, before a prior
    weight : float; beta, what a unit of the judge's score counts
    agreement : float or None; share of labels that the judge's score equals; None where one of them is not 0 or 1
    effective_labels : float or None; random labels that would give the same standard error without a judge; None where
        all labels are alike, whose spread says nothing
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
        """What the judge's mean exceeds the corrected one by."""
        return self.judge_mean - self.estimate

    @property
    def is_no_better(self) -> bool | None:
        """Whether the judge is wrong at least as often as what it judges: it then saves at most half of the labels."""
        return None if self.agreement is None else self.agreement <= self.estimate


def judge_worth(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
) -> JudgeWorth:
    """Estimate, weight and effective labels of a correction; the arguments are those of `judge_corrected_posterior`.

    With V_h the sampling variance of the labels' mean and V that of the corrected mean, both cluster-robust, there are
    n V_h / V (n - 2) / (n - 1) effective labels: the weight costs one of them. Independent questions approach
    n / (1 - r^2 (1 - n / N)), r the correlation of judge and person.

    Raises
    ------
    DataError, NotEstimableError : as `judge_corrected_posterior`

    Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453, prop. 2. Dorner, Nastl & Hardt (2025), arXiv 2410.13341: a
    judge no more accurate than the model that it judges at most doubles the labels.

    >>> worth = judge_worth([1, 0] * 50, [1, 0, 1, 1, 0, 0, 1, 0] + [float("nan")] * 92)
    >>> worth.n_labels, worth.agreement, round(worth.effective_labels, 1)
    (8, 0.75, 8.9)
    """
    items = check_graded(judge, human, clusters, probabilities)
    centre = float(items.judge.mean())
    sums = replace(items, judge=items.judge - centre).sums()
    total = sums.sum(axis=0)
    weight, labelled = float(best_weight(total)), items.is_labelled
    f, h, w = items.judge[labelled], items.human[labelled], items.label_weight[labelled]
    return JudgeWorth(
        n_labels=int(labelled.sum()),
        n_scores=len(items.judge),
        judge_mean=centre + float(total[1] / total[0]),
        human_mean=float(total[4] / total[2]),
        estimate=float(corrected_mean(total)),
        weight=weight,
        agreement=float(w @ (f == h) / w.sum()) if np.isin(np.append(f, h), (0.0, 1.0)).all() else None,
        effective_labels=_effective_labels(sums, weight, int(labelled.sum())),
    )


def _effective_labels(sums: FloatArray, weight: float, n_labels: int) -> float | None:
    """Labels times V_h / V, by the units' influence on either mean."""
    n, f, m, f_labelled, h = sums.sum(axis=0)[:5]
    alone = (sums[:, 4] - h / m * sums[:, 2]) / m
    shift = (sums[:, 1] - f / n * sums[:, 0]) / n - (sums[:, 3] - f_labelled / m * sums[:, 2]) / m
    corrected = alone + weight * shift
    before, after = float(alone @ alone), float(corrected @ corrected)
    n_units = int((sums[:, 2] > 0).sum())
    if before <= 1e-24 or not after > 0:
        return None
    return n_labels * before / after * (n_units - 2) / (n_units - 1)
