"""Error rates of a grader, from labels of people for some of the answers that it graded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats
from harness_uq.stats.labels.label_arrays import label_weights


@dataclass(frozen=True, slots=True)
class GraderErrors:
    """Numbers of answers that are right or wrong according to people, by the grade that a grader gave.

    An answer that a share h of the people label as right counts as h right and 1 - h wrong answers.

    Attributes
    ----------
    true_positives, false_negatives : float
        Right answers that the grader scored as right and as wrong.
    true_negatives, false_positives : float
        Wrong answers that the grader scored as wrong and as right.
    """

    true_positives: float
    false_negatives: float
    true_negatives: float
    false_positives: float

    @property
    def sensitivity(self) -> float:
        """Posterior mean of the share of right answers that are scored as right, with a Jeffreys prior."""
        return (self.true_positives + 0.5) / (self.true_positives + self.false_negatives + 1)

    @property
    def specificity(self) -> float:
        """Posterior mean of the share of wrong answers that are scored as wrong, with a Jeffreys prior."""
        return (self.true_negatives + 0.5) / (self.true_negatives + self.false_positives + 1)

    @property
    def j(self) -> float:
        """Youden's J, sensitivity + specificity - 1: 1 for a perfect grader, 0 for one that ignores the answers."""
        return self.sensitivity + self.specificity - 1

    def draws(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws of J from its posterior; shape (n,)."""
        sensitivity = rng.beta(self.true_positives + 0.5, self.false_negatives + 0.5, n)
        return np.asarray(sensitivity + rng.beta(self.true_negatives + 0.5, self.false_positives + 0.5, n) - 1)


def grader_errors(judge: ArrayLike, human: ArrayLike, probabilities: ArrayLike | None = None) -> GraderErrors | None:
    """Count the errors of a grader whose grades are 0 or 1.

    Parameters
    ----------
    judge : array_like, shape (n_questions,)
        Grades, 0 or 1.
    human : array_like, shape (n_questions,)
        Labels in [0, 1], such as the share of people who label the answer as right; NaN without a label.
    probabilities : array_like, shape (n_questions,), optional
        Probabilities in (0, 1] with which answers were labeled. An answer counts in proportion to 1 / probability, and
        the counts add up to Kish's effective number of labels. The default is a simple random sample.

    Returns
    -------
    GraderErrors or None
        None if a labeled answer has another grade than 0 and 1, or a label outside [0, 1].

    Raises
    ------
    DataError
        If the shapes differ, or a probability is not in (0, 1].

    References
    ----------
    Youden (1950), "Index for rating diagnostic tests", Cancer 3, 32-35.

    Examples
    --------
    >>> errors = grader_errors([1, 1, 0, 0, 1], [1, 0, 0, 1, float("nan")])
    >>> errors.true_positives, errors.false_positives, round(errors.j, 2)
    (1.0, 1.0, 0.0)
    """
    grades, labels = as_floats(judge, "judge"), as_floats(human, "human")
    if grades.shape != labels.shape or grades.ndim != 1:
        raise DataError(f"judge and human must have the same questions; got shapes {grades.shape} and {labels.shape}")
    is_labeled = ~np.isnan(labels)
    f, h = grades[is_labeled], labels[is_labeled]
    if not (np.isin(f, (0.0, 1.0)).all() and ((h >= 0) & (h <= 1)).all()):
        return None
    right = h * (w := label_weights(probabilities, is_labeled))
    cells = (right @ f, right @ (1 - f), (w - right) @ (1 - f), (w - right) @ f)
    return GraderErrors(*map(float, cells))
