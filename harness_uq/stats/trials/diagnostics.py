"""Diagnostics of repeated trials: identical trials, batch effects, missing scores, weights and variance components."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.stats.common.validate_arrays import FloatArray, as_floats, check_weights
from harness_uq.stats.common.validate_scalars import check_range


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Result of a test for batch effects, that is, for differences between trial columns.

    `statistic` is chi-squared with `df` degrees of freedom if columns do not differ. `intra_batch_correlation` is the
    correlation of the scores of two questions in the same column, in addition to what the questions' expected scores
    explain, and 0 if columns differ less than trials of one condition would.
    """

    statistic: float
    df: int
    p_value: float
    intra_batch_correlation: float


@dataclass(frozen=True, slots=True)
class MissingBounds:
    """Bounds of the mean score over all possible scores of the missing trials.

    `low` and `high` are the mean score if all missing trials have the lowest (all wrong) or the highest score (all
    right); `n_trials` counts all trials.
    """

    n_missing: int
    n_trials: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of the questions' expected scores, and of trials around them.

    `variance_between` is Var(x), the variance of expected scores over questions, where negative estimates are set to 0,
    and `variance_within` is E[sigma^2], the mean variance of a trial around its question's expected score.
    `n_questions` have at least one trial.
    """

    variance_between: float
    variance_within: float
    n_questions: int

    @property
    def icc(self) -> float | None:
        """Correlation of two trials of a question, Var(x) / (Var(x) + E[sigma^2]); None if no score varies."""
        total = self.variance_between + self.variance_within
        return self.variance_between / total if total > 0 else None


def identical_trials(values: ArrayLike) -> bool:
    """Whether all trials of every question are equal, so that they carry the information of one.

    Parameters
    ----------
    values : array_like, shape (n_questions, n_trials)
        Scores, or codes of the completions; NaN for missing trials. Completions are more informative, because scores
        also agree if every question is always right or always wrong.

    Returns
    -------
    bool
        False if no question has two trials.

    Examples
    --------
    >>> identical_trials([[1, 1], [0, 0]]), identical_trials([[1, 1], [0, 1]]), identical_trials([[1], [0]])
    (True, False, False)
    """
    x, seen = _check_trials(values)
    repeated = seen.sum(axis=1) > 1
    lowest = np.where(seen, x, np.inf).min(axis=1)
    highest = np.where(seen, x, -np.inf).max(axis=1)
    return bool(repeated.any() and (lowest == highest)[repeated].all())


def cochran_q(values: ArrayLike) -> CochranQ:
    """Cochran's Q test for differences between trial columns (batches, seeds, epochs).

    If columns do not differ, all assignments of a question's scores to its trials are equally likely. With T_j the sum
    over questions of (score - question mean) in column j, and V the covariance of T under these permutations,
    Q = T' V^+ T is chi-squared with rank(V) degrees of freedom. For complete binary scores this is Cochran's statistic
    with n_trials - 1 degrees of freedom. If trials are missing independently of their score, they only reduce the
    contribution of their question.

    The intra-batch correlation is var_column / (var_question + var_column + var_residual), with the components of the
    two-way layout without replication by moments: E[T'T] = trace(V) + var_column (trace(A^2) - trace(A)), where A is V
    for questions of unit variance. Without missing trials these are the estimates from the mean squares.

    Parameters
    ----------
    values : array_like, shape (n_questions, n_trials)
        Scores; NaN for missing trials.

    Returns
    -------
    CochranQ
        Statistic, degrees of freedom and p-value.

    Raises
    ------
    DataError
        If `values` is not two-dimensional or an entry is infinite.
    NotEstimableError
        If no question has trials that differ.

    References
    ----------
    Cochran (1950), Biometrika 37, 256-266; Skillings and Mack (1981) for incomplete blocks; Searle, Casella and
    McCulloch (1992), Variance Components, section 4.3, for the components.

    Examples
    --------
    Columns with 3, 2 and 0 of 3 right and question totals 2, 2, 1 give 2 (3 (9 + 4) - 25) / (15 - 9) = 14/3:

    >>> result = cochran_q([[1, 1, 0], [1, 1, 0], [1, 0, 0]])
    >>> round(result.statistic, 6), result.df
    (4.666667, 2)
    """
    x, present = _check_trials(values)
    counts = present.sum(axis=1)
    residual = np.where(present, x - _question_means(x, present)[:, None], 0.0)
    variance = np.divide((residual**2).sum(axis=1), counts - 1, out=np.zeros(len(x)), where=counts > 1)
    if not variance.any():
        raise NotEstimableError("no question has trials that differ, so that batch effects cannot be tested")
    covariance = _centring(present, variance)
    total = residual.sum(axis=0)
    statistic = float(total @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ total)
    df = int(np.linalg.matrix_rank(covariance, tol=1e-9 * float(np.trace(covariance)), hermitian=True))
    unit = _centring(present, (counts > 1).astype(float))
    noise = float(np.sum(unit**2) - np.trace(unit))
    var_column = max(float(total @ total - np.trace(covariance)), 0.0) / noise if noise > 0 else 0.0
    correlation = _column_share(x, present, variance, var_column)
    return CochranQ(statistic, df, float(special.chdtrc(df, statistic)), correlation)


def _centring(present: NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    """Sum over questions of weight times the matrix that subtracts the mean of the present trials."""
    counts = present.sum(axis=1)
    root = np.sqrt(np.divide(weights, counts, out=np.zeros(len(present)), where=counts > 0))
    weighted = present * root[:, None]
    return np.asarray(np.diag(present.T @ weights) - weighted.T @ weighted)


def _column_share(x: FloatArray, present: NDArray[np.bool_], variance: FloatArray, var_column: float) -> float:
    """Share of the columns' variance in that of a score; `variance` is each question's variance over its trials."""
    counts = present.sum(axis=1)
    scored, repeated = counts > 0, counts > 1
    within = max(float(variance[repeated].mean()), var_column)
    noise = np.where(repeated, variance, within)[scored] - var_column
    means = _question_means(x, present)[scored]
    var_question = float(means.var(ddof=1) - np.mean(noise / counts[scored])) if len(means) > 1 else 0.0
    return var_column / (max(var_question, 0.0) + within)


def missing_bounds(values: ArrayLike, low: float, high: float) -> MissingBounds:
    """Lowest and highest mean score over all possible scores of the missing trials.

    Parameters
    ----------
    values : array_like, shape (n_questions, n_trials)
        Scores; NaN for missing, errored or refused trials.
    low, high : float
        Bounds of the score.

    Returns
    -------
    MissingBounds
        Bounds of the mean score.

    Raises
    ------
    DataError
        If the bounds are not in order or a score is outside them.

    References
    ----------
    Manski (1990), American Economic Review 80, 319-323 (worst-case bounds).

    Examples
    --------
    >>> missing_bounds([[1.0, float("nan")], [0.0, 1.0]], 0, 1)
    MissingBounds(n_missing=1, n_trials=4, low=0.5, high=0.75)
    """
    check_range(low, high)
    x, present = _check_trials(values)
    if not low < high or (x[present] < low).any() or (x[present] > high).any():
        scores = f"from {x[present].min():g} to {x[present].max():g}" if present.any() else "none"
        raise DataError(f"scores must lie within bounds low < high; got bounds {low}, {high} and scores {scores}")
    filled = [float(np.where(present, x, bound).mean()) for bound in (low, high)]
    return MissingBounds(int((~present).sum()), x.size, *filled)


def effective_weights(weights: ArrayLike) -> float:
    """Kish's effective sample size of weights, (sum w)^2 / sum w^2.

    Parameters
    ----------
    weights : array_like, shape (n_questions,)
        Positive weights.

    Returns
    -------
    float
        Effective number of equally weighted questions.

    References
    ----------
    Kish (1965), Survey Sampling, section 11.7.

    Examples
    --------
    >>> effective_weights([1, 1, 2])
    2.6666666666666665
    """
    w = as_floats(weights, "weights")
    w = check_weights(w, w.size)
    if not len(w):
        raise NotEstimableError("there are no weights")
    return float(w.sum()) ** 2 / float(w @ w)


def variance_components(values: ArrayLike) -> VarianceComponents:
    """Variance between questions and within questions, from repeated trials.

    E[sigma^2] is the mean of the variances s_i^2 of the n_i trials of each question (divisor n_i - 1), over questions
    with two trials or more. Var(x) is the variance of question means (divisor M - 1) minus the mean of s_i^2 / n_i,
    where E[sigma^2] replaces s_i^2 for questions with one trial. Both are unbiased if every question has two trials or
    more, even if the numbers of trials depend on the question.

    Parameters
    ----------
    values : array_like, shape (n_questions, n_trials)
        Scores; NaN for missing trials.

    Returns
    -------
    VarianceComponents
        Components; the variance of a score over n questions of K trials is (Var(x) + E[sigma^2] / K) / n.

    Raises
    ------
    DataError
        If `values` is not two-dimensional or an entry is infinite.
    NotEstimableError
        If there are fewer than two questions, or none has two trials.

    References
    ----------
    Miller (2024), on resampling.

    Examples
    --------
    Question means are 1/2 and 1 and variances 1/2 and 0, so that E[sigma^2] = 1/4 and Var(x) = 1/8 - 1/8:

    >>> variance_components([[0, 1], [1, 1]])
    VarianceComponents(variance_between=0.0, variance_within=0.25, n_questions=2)
    """
    x, present = _check_trials(values)
    return unit_components(x[present], np.nonzero(present)[0])


def unit_components(values: ArrayLike, units: ArrayLike) -> VarianceComponents:
    """Variance components of scores in units of any size, such as passages of questions.

    `values` (n,) are finite, and `units` (n,) take the place of the questions in `variance_components`. Raises
    NotEstimableError if there are fewer than two units, or none has two scores.

    >>> unit_components([0, 1, 1, 1], [0, 0, 5, 5])
    VarianceComponents(variance_between=0.0, variance_within=0.25, n_questions=2)
    """
    x, (_, code, counts) = as_floats(values, "values"), np.unique(units, return_inverse=True, return_counts=True)
    if len(counts) < 2 or not (counts > 1).any():
        raise NotEstimableError(
            f"variance components need at least two questions, one of them with two trials; got {len(counts)} "
            f"question(s) with at most {max(counts, default=0)} trial(s)"
        )
    means = np.bincount(code, x) / counts
    squares = np.bincount(code, (x - means[code]) ** 2)
    within = squares[counts > 1] / (counts[counts > 1] - 1)
    noise = np.full(len(counts), within.mean())
    noise[counts > 1] = within
    between = float(means.var(ddof=1) - np.mean(noise / counts))
    return VarianceComponents(max(between, 0.0), float(within.mean()), len(counts))


def _check_trials(values: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Scores, and the mask of present scores."""
    x = as_floats(values, "values")
    if x.ndim != 2:
        raise DataError(f"values must have shape (n_questions, n_trials); got {x.shape}")
    if not x.size:
        raise NotEstimableError(f"there are no trials; values have shape {x.shape}")
    if np.isinf(x).any():
        row, column = np.argwhere(np.isinf(x))[0]
        raise DataError(
            f"values must be finite, or NaN where missing; question {row}, trial {column} is {x[row, column]}"
        )
    return x, ~np.isnan(x)


def _question_means(x: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    totals, counts = np.where(present, x, 0.0).sum(axis=1), present.sum(axis=1)
    return np.asarray(np.divide(totals, counts, out=np.full(len(x), np.nan), where=counts > 0))
