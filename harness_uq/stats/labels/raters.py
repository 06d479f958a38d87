"""Disagreement of several people who labeled the same answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class RaterDisagreement:
    """Disagreement of raters about answers that at least two of them labeled.

    Attributes
    ----------
    n_answers : int
        Number of answers with at least two labels.
    agreement : float
        Share of the pairs of labels of one answer that are equal, averaged over answers.
    variance_share : float or None
        Share of the variance of a single label that is disagreement about the same answer; None if all labels are
        equal.
    """

    n_answers: int
    agreement: float
    variance_share: float | None


def rater_disagreement(labels: Iterable[Sequence[float]]) -> RaterDisagreement | None:
    """Variance component of raters within answers, from a one-way analysis of variance; None without a shared answer.

    With the mean square W within answers, B between answers, and n_0 labels per answer, the variance components are W
    and max(0, (B - W) / n_0), and the share is W / (W + max(0, (B - W) / n_0)).

    Parameters
    ----------
    labels : iterable of sequences of float
        Labels of each answer.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, sec. 3.6 (unbalanced one-way layout).

    Examples
    --------
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
    sizes = np.array([len(answer) for answer in answers])
    n, means = sizes.sum(), np.array([answer.mean() for answer in answers])
    within = sum(float(((answer - answer.mean()) ** 2).sum()) for answer in answers) / (n - len(answers))
    if len(answers) < 2:
        return None
    between = float(sizes @ (means - sizes @ means / n) ** 2) / (len(answers) - 1)
    per_answer = (n - (sizes**2).sum() / n) / (len(answers) - 1)
    total = within + max(0.0, (between - within) / per_answer)
    return float(within / total) if total > 0 else None
