"""Low-rank logistic factor model of the scores of earlier systems."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.common.validate_scalars import check_rng, check_whole
from harness_uq.stats.subsets.question_covariates import check_history, rates

Float32Array = NDArray[np.float32]

RANKS: Final = (0, 1, 2, 4, 8, 16, 32, 48, 64)  # candidates; each is tried while the held-out likelihood increases
_LOADING_PRECISION = 40.0
_INTERCEPT_PRECISION = 0.4
_SWEEPS = 20
_HELD_OUT = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class FactorModel:
    """A fitted model logit E(score) = intercept + loadings' factors.

    `intercepts` (n_questions,) are the log-odds of the mean score for a system whose factors are 0, `loadings` are
    (n_questions, rank), and `factors` (n_systems, rank) of the systems of the history have the mean 0.
    """

    intercepts: Float32Array
    loadings: Float32Array
    factors: Float32Array

    @property
    def rank(self) -> int:
        """Number of factors."""
        return int(self.loadings.shape[1])


def fit_factor_model(
    history: ArrayLike,
    *,
    rank: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    rng: np.random.Generator | None = None,
) -> FactorModel:
    """Fit a logistic factor model to the scores of earlier systems.

    The score of system s on question j has the mean expit(b_j + v_j' u_s). The priors are u_s ~ N(0, I) and
    v_j ~ N(v, I / 40) around the mean loading v of all questions, so that with few systems all questions have nearly
    the same loading, as in a Rasch model. Missing scores are ignored. The model is fitted by alternating steps that
    bound the curvature of the logistic likelihood by 1/4.

    `history` (n_systems, n_questions) has scores in [low, high], NaN if missing. The default rank is that among 0, 1,
    2, 4, 8, 16, 32, 48 and 64 with the highest likelihood of 5 % of the scores, which `rng` (default: seed 0) leaves
    out of the fit. Raises DataError if the shape is wrong, a score is outside [low, high], there is no score, or the
    rank is not from 0 to the number of systems. Sources: Böhning and Lindsay (1988), Ann. Inst. Stat. Math. 40,
    641-663, eq. 2.1 (bound of the curvature); Wu, Nair and Candès (arXiv 2601.20251) for factor models of benchmarks.

    >>> model = fit_factor_model([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], rank=1)
    >>> model.loadings.shape, bool(model.intercepts[0] > model.intercepts[1] > model.intercepts[2])
    ((3, 1), True)
    """
    shape = np.shape(history)
    if len(shape) != 2:
        raise DataError(f"history must have shape (n_systems, n_questions); got {shape}")
    scores = check_history(history, shape[1], low, high)
    if rank is None:
        rank = _best_rank(scores, check_rng(rng))
    check_whole(rank, "rank", 0, len(scores))
    return _fit(scores, rank)


def _best_rank(scores: FloatArray, rng: np.random.Generator) -> int:
    """Rank with the highest likelihood of scores that are left out; the search ends when a higher rank is worse."""
    left_out = (rng.random(scores.shape) < _HELD_OUT) & ~np.isnan(scores)
    if not left_out.any():
        return 0
    kept, best, best_likelihood = np.where(left_out, np.nan, scores), 0, -np.inf
    if np.isnan(kept).all():
        return 0
    for rank in RANKS:
        if rank > len(scores) // 2:
            break
        model = _fit(kept, rank)
        log_odds = (model.intercepts + model.factors @ model.loadings.T)[left_out]
        likelihood = float((scores[left_out] * log_odds - np.logaddexp(0.0, log_odds)).mean())
        if likelihood < best_likelihood:
            break
        best, best_likelihood = rank, likelihood
    return best


def _fit(scores: FloatArray, rank: int) -> FactorModel:
    observed = ~np.isnan(scores)
    y = np.where(observed, scores, 0.0).astype(np.float32)
    start = special.logit(rates(scores)).astype(np.float32)
    a = np.column_stack([np.ones(len(y), np.float32), _start_factors(y, observed, start, rank)])
    b = np.zeros((y.shape[1], rank + 1), np.float32)
    b[:, 0] = start
    precision = np.append(_INTERCEPT_PRECISION, np.full(rank, _LOADING_PRECISION)).astype(np.float32)
    share = observed.mean(axis=0, dtype=np.float32), observed.mean(axis=1, dtype=np.float32)
    for _ in range(_SWEEPS if rank else 0):
        b += _step(a, b - b.mean(axis=0), _residual(y, observed, a, b).T, precision, share[0])
        loadings = b[:, 1:]
        a[:, 1:] += _step(loadings, a[:, 1:], _residual(y, observed, a, b), np.ones(rank, np.float32), share[1])
        a[:, 1:] -= a[:, 1:].mean(axis=0)
    return FactorModel(b[:, 0].copy(), b[:, 1:].copy(), a[:, 1:].copy())


def _start_factors(y: Float32Array, observed: NDArray[np.bool_], start: Float32Array, rank: int) -> Float32Array:
    """Leading principal components of the Pearson residuals from the questions' mean scores."""
    mean = special.expit(start)
    pearson = np.where(observed, (y - mean) / np.sqrt(mean * (1.0 - mean)), 0.0).astype(np.float32)
    vectors = np.linalg.eigh(pearson @ pearson.T)[1][:, ::-1]
    return np.asarray(vectors[:, :rank] * np.sqrt(len(y)), np.float32)


def _residual(y: Float32Array, observed: NDArray[np.bool_], a: Float32Array, b: Float32Array) -> Float32Array:
    return np.where(observed, y - special.expit(a @ b.T), np.float32(0.0))


def _step(
    covariates: Float32Array,
    deviation: Float32Array,
    residual: Float32Array,
    precision: Float32Array,
    share: Float32Array,
) -> Float32Array:
    """Step of all rows at once: (share G / 4 + P)^-1 (C' residual - P deviation), with G = C' C and precisions P.

    If scores are missing, G of the observed scores is approximated by the observed share of all. The matrices differ
    only in their share, so that one eigendecomposition serves all rows.
    """
    root = np.sqrt(precision)
    values, vectors = np.linalg.eigh(0.25 * (covariates.T @ covariates) / np.outer(root, root))
    gradient = (residual @ covariates - deviation * precision) / root
    return np.asarray((gradient @ vectors) / (np.outer(share, values) + 1.0) @ vectors.T / root, np.float32)
