"""What a careful reader asks of the scores before believing an interval: repeats, batches, gaps, weights, variances."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.errors import DataError, NotEstimableError
from harness_uq.stats.clusters.cluster_robust import check_weights
from harness_uq.stats.common.arrays import FloatArray, numbers
from harness_uq.stats.common.scalars import check_range


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Test of no batch effect: trial columns that differ by more than their questions' luck.

    Attributes
    ----------
    statistic : float; chi-squared with `df` degrees of freedom where columns are alike
    df : int
    p_value : float
    """

    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, slots=True)
class MissingBounds:
    """Where the plain score could lie, whatever the missing trials would have been.

    Attributes
    ----------
    n_missing, n_trials : int; missing trials and all trials
    low, high : float; the score with all of them at the lower bound (all wrong) and at the upper (all right)
    """

    n_missing: int
    n_trials: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of questions' expected scores and of trials around them.

    Attributes
    ----------
    variance_between : float; Var(x), of the expected score over questions; an estimate below 0 is given as 0
    variance_within : float; E[sigma^2], of a trial around its question's expected score
    n_questions : int; questions with at least one trial
    """

    variance_between: float
    variance_within: float
    n_questions: int

    @property
    def icc(self) -> float | None:
        """Correlation of two trials of a question, Var(x) / (Var(x) + E[sigma^2]); None where no score varies."""
        total = self.variance_between + self.variance_within
        return self.variance_between / total if total > 0 else None


def identical_trials(values: ArrayLike) -> bool:
    """Whether all trials of every question are the same, so that they count as one.

    Parameters
    ----------
    values : array_like (n_questions, n_trials) of scores, or of codes of the completions, which tell more: scores also
        agree where every question is always right or always wrong; NaN marks a missing trial

    Returns
    -------
    bool ; False where no question has two trials

    >>> identical_trials([[1, 1], [0, 0]]), identical_trials([[1, 1], [0, 1]]), identical_trials([[1], [0]])
    (True, False, False)
    """
    x, seen = _check_trials(values)
    repeated = seen.sum(axis=1) > 1
    lowest = np.where(seen, x, np.inf).min(axis=1)
    highest = np.where(seen, x, -np.inf).max(axis=1)
    return bool(repeated.any() and (lowest == highest)[repeated].all())


def cochran_q(values: ArrayLike) -> CochranQ:
    """Cochran's Q: whether some trial columns (batches, seeds, epochs) score better than others.

    Given each question's scores, every assignment of them to its trials is equally likely where columns are alike. With
    T_j the sum over questions of (score - question mean) in column j, and V the covariance of T under that permutation,
    Q = T' V^+ T is chi-squared with rank(V) degrees of freedom. On complete 0/1 scores this is Cochran's statistic with
    n_trials - 1; missing trials, taken as missing whatever their score, only shrink their question's part.

    Parameters
    ----------
    values : array_like (n_questions, n_trials); NaN marks a missing trial

    Raises
    ------
    DataError : if `values` has not two dimensions or an entry is infinite
    NotEstimableError : if no question has trials that differ

    Cochran (1950), Biometrika 37:256; Skillings & Mack (1981) for incomplete blocks.

    Columns with 3, 2 and 0 of 3 right, question totals 2, 2, 1: 2 (3 (9 + 4) - 25) / (15 - 9) = 14/3.

    >>> result = cochran_q([[1, 1, 0], [1, 1, 0], [1, 0, 0]])
    >>> round(result.statistic, 6), result.df
    (4.666667, 2)
    """
    x, seen = _check_trials(values)
    counts = seen.sum(axis=1)
    residual = np.where(seen, x - _question_means(x, seen)[:, None], 0.0)
    spread = np.divide((residual**2).sum(axis=1), counts - 1, out=np.zeros(len(x)), where=counts > 1)
    if not spread.any():
        raise NotEstimableError(
            "no question has trials that differ: a batch effect cannot be told from identical trials"
        )
    part = seen * np.sqrt(np.divide(spread, counts, out=np.zeros(len(x)), where=counts > 0))[:, None]
    covariance = np.diag(seen.T @ spread) - part.T @ part
    total = residual.sum(axis=0)
    statistic = float(total @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ total)
    df = int(np.linalg.matrix_rank(covariance, tol=1e-9 * float(np.trace(covariance)), hermitian=True))
    return CochranQ(statistic, df, float(special.chdtrc(df, statistic)))


def missing_bounds(values: ArrayLike, low: float, high: float) -> MissingBounds:
    """Lowest and highest plain score that the missing trials allow.

    Parameters
    ----------
    values : array_like (n_questions, n_trials); NaN marks a missing, errored or refused trial
    low, high : bounds of the score

    Raises
    ------
    DataError : if the bounds are not in order or a score lies outside them

    Manski (1990), American Economic Review 80:319 (worst-case bounds).

    >>> missing_bounds([[1.0, float("nan")], [0.0, 1.0]], 0, 1)
    MissingBounds(n_missing=1, n_trials=4, low=0.5, high=0.75)
    """
    check_range(low, high)
    x, seen = _check_trials(values)
    if not low < high or (x[seen] < low).any() or (x[seen] > high).any():
        raise DataError(
            f"scores must lie within bounds low < high; got bounds {low}, {high} and scores {_range(x[seen])}"
        )
    filled = [float(np.where(seen, x, bound).mean()) for bound in (low, high)]
    return MissingBounds(int((~seen).sum()), x.size, *filled)


def effective_weights(weights: ArrayLike) -> float:
    """Number of equally weighted questions that the weights are worth, (sum w)^2 / sum w^2.

    Parameters
    ----------
    weights : array_like (n_questions,), > 0

    Kish (1965), Survey Sampling, section 11.7.

    >>> effective_weights([1, 1, 2])
    2.6666666666666665
    """
    w = numbers(weights, "weights")
    w = check_weights(w, w.size)
    if not len(w):
        raise NotEstimableError("no weights: nothing to count")
    return float(w.sum()) ** 2 / float(w @ w)


def variance_components(values: ArrayLike) -> VarianceComponents:
    """Variance between questions and within them, from repeated trials.

    E[sigma^2] is the mean over questions of s_i^2, the variance of their n_i trials (divisor n_i - 1), among those with
    two trials or more; Var(x) is the variance of question means (divisor M - 1) less the mean of E[sigma^2 | i] / n_i,
    where a question with one trial takes the average. Both are unbiased where every question has two trials or more,
    also if their number depends on the question.

    Parameters
    ----------
    values : array_like (n_questions, n_trials); NaN marks a missing trial

    Raises
    ------
    DataError : if `values` has not two dimensions or an entry is infinite
    NotEstimableError : with fewer than two questions, or none that has two trials

    Miller (2024), on resampling: the variance of a score over n questions of K trials is (Var(x) + E[sigma^2] / K) / n.

    Means 1/2 and 1, within-variances 1/2 and 0: E[sigma^2] = 1/4, Var(x) = 1/8 - 1/8.

    >>> variance_components([[0, 1], [1, 1]])
    VarianceComponents(variance_between=0.0, variance_within=0.25, n_questions=2)
    """
    x, seen = _check_trials(values)
    return unit_components(x[seen], np.nonzero(seen)[0])


def unit_components(values: ArrayLike, units: ArrayLike) -> VarianceComponents:
    """`variance_components` of scores in units, such as passages of any number of questions.

    Parameters
    ----------
    values : float (n,), finite
    units : int (n,); the unit of each score, which stands for a question

    Raises
    ------
    NotEstimableError : with fewer than two units, or none that has two scores

    >>> unit_components([0, 1, 1, 1], [0, 0, 5, 5])
    VarianceComponents(variance_between=0.0, variance_within=0.25, n_questions=2)
    """
    x, (_, code, counts) = numbers(values, "values"), np.unique(units, return_inverse=True, return_counts=True)
    if len(counts) < 2 or not (counts > 1).any():
        raise NotEstimableError(
            f"variance components need two questions and one with two trials; got {len(counts)} question(s) of "
            f"at most {max(counts, default=0)} trial(s)"
        )
    means = np.bincount(code, x) / counts
    squares = np.bincount(code, (x - means[code]) ** 2)
    within = squares[counts > 1] / (counts[counts > 1] - 1)
    noise = np.full(len(counts), within.mean())
    noise[counts > 1] = within
    between = float(means.var(ddof=1) - np.mean(noise / counts))
    return VarianceComponents(max(between, 0.0), float(within.mean()), len(counts))


def _check_trials(values: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Scores, and where there is one."""
    x = numbers(values, "values")
    if x.ndim != 2:
        raise DataError(f"values must have shape (n_questions, n_trials); got {x.shape}")
    if not x.size:
        raise NotEstimableError(f"no trials: values have shape {x.shape}")
    if np.isinf(x).any():
        row, column = np.argwhere(np.isinf(x))[0]
        raise DataError(
            f"values must be finite, or NaN where missing; question {row}, trial {column} holds {x[row, column]}"
        )
    return x, ~np.isnan(x)


def _question_means(x: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
    totals, counts = np.where(seen, x, 0.0).sum(axis=1), seen.sum(axis=1)
    return np.asarray(np.divide(totals, counts, out=np.full(len(x), np.nan), where=counts > 0))


def _range(values: FloatArray) -> str:
    return f"from {values.min():g} to {values.max():g}" if len(values) else "none"
