"""Disagreement of several people who labeled the same answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.stats.common.one_way import mean_squares


@dataclass(frozen=True, slots=True)
class RaterDisagreement:
    """Disagreement of raters about answers that at least two of them labeled.

    `n_answers` have at least two labels. `agreement` is the share of the pairs of labels of one answer that are equal,
    averaged over answers, and `variance_share` that of the variance of a single label that is disagreement about the
    same answer; None if all labels are equal.
    """

    n_answers: int
    agreement: float
    variance_share: float | None


def rater_disagreement(labels: Iterable[Sequence[float]]) -> RaterDisagreement | None:
    """Variance component of raters within answers, from a one-way analysis of variance; None without a shared answer.

    With the mean square W within answers, B between answers, and n_0 labels per answer, the variance components are W
    and max(0, (B - W) / n_0), and the share is W / (W + max(0, (B - W) / n_0)). Source: Searle, Casella and McCulloch
    (1992), Variance Components, sec. 3.6 (unbalanced one-way layout).

    Two raters agree on three of four answers:

    >>> found = rater_disagreement([[1, 1], [0, 0], [1, 0], [1, 1]])
    >>> found.agreement, found.variance_share  # 3 / 7
    (0.75, 0.4285714285714286)
    """
    shared = [np.asarray(answer, float) for answer in labels if len(answer) > 1]
    if not shared:
        return None
    pairs = [(float(np.mean(answer[:, None] == answer)) * len(answer) - 1) / (len(answer) - 1) for answer in shared]
    return RaterDisagreement(len(shared), float(np.mean(pairs)), _variance_share(shared))


def _variance_share(answers: "Sequence[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]") -> float | None:
    if len(answers) < 2:
        return None
    codes = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
    squares = mean_squares(np.concatenate(answers), codes)
    total = squares.within + squares.variance_between
    return squares.within / total if total > 0 else None
