"""Variances of crossed and nested effects: restricted maximum likelihood, or moments for the largest tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness_uq.stats.common.validate_arrays import FloatArray
from harness_uq.stats.effects.design import Design, Term

VarianceMethod = Literal["reml", "moments"]

_NIL = 1e-12  # share of the largest mean square that is rounding error
_LARGEST = 1e6  # largest ratio of a variance to the residual variance, or to the largest mean square
_MAX_EFFECTS = 1000  # largest total number of levels for REML of an unbalanced table


@dataclass(frozen=True, eq=False)
class Variances:
    """Variance of each term of a design, in its order, and of the residual.

    `method` is REML, or Henderson's first method (``moments``) with negative estimates set to 0.
    """

    terms: FloatArray
    residual: float
    method: VarianceMethod

    @property
    def total(self) -> float:
        """Variance of one score."""
        return float(self.terms.sum()) + self.residual


@dataclass(frozen=True, eq=False)
class Strata:
    """Sums of squares of the terms, minus those of the terms that they refine, and of the residual.

    `squares` and degrees of freedom `df` (n_terms + 1,) have the residual last; expected sums of squares are ``sizes @
    variances``.
    """

    squares: FloatArray
    df: FloatArray
    sizes: FloatArray


def term_squares(term: Term, values: FloatArray) -> float:
    """Sum over levels of (sum of values)^2 / rows, for centred values."""
    return float(np.sum(term.totals(values) ** 2 / term.counts))


def level_share(term: Term) -> float:
    """Variance of the mean of all rows per unit variance of the term: sum over levels of (rows / all rows)^2."""
    return float(np.sum((term.counts / len(term.codes)) ** 2))


def strata(design: Design, centred: FloatArray) -> Strata:
    """Sums of squares by term, from coarse to fine.

    For orthogonal designs they are those of Tjur (1984), Int. Stat. Rev. 52, 33-65. `centred` are the scores minus
    their mean.
    """
    n, k = design.n_rows, len(design.terms)
    total_sizes = np.array([level_share(term) * n for term in design.terms])
    squares, df, sizes = np.zeros(k + 1), np.zeros(k + 1), np.zeros((k + 1, k + 1))
    for i, term in enumerate(design.terms):
        coarser = np.flatnonzero(design.finer[i, :i])
        squares[i] = term_squares(term, centred) - squares[coarser].sum()
        df[i] = term.n_levels - 1 - df[coarser].sum()
        sizes[i, :k] = design.square_sizes[i] - total_sizes - sizes[coarser, :k].sum(axis=0)
        sizes[i, k] = df[i]
    squares[k], df[k] = float(centred @ centred) - squares.sum(), n - 1 - df.sum()
    sizes[k] = [*(n - total_sizes - sizes[:k, :k].sum(axis=0)), df[k]]
    return Strata(np.maximum(squares, 0.0), df, sizes)


def estimate_variances(design: Design, table: Strata, centred: FloatArray) -> Variances:
    """Variance components of the scores, with all factors random and one common mean.

    REML maximizes the likelihood of error contrasts (Patterson and Thompson 1971). It uses mean squares if the design
    is orthogonal, otherwise the mixed model equations (Bates et al. 2015, eq. 42) if all terms have at most 1,000
    levels in total. For larger tables, and if scores do not vary within the levels of a term, sums of squares are
    equated to their expectations (Henderson 1953, method 1). Sources: Patterson and Thompson (1971), Biometrika 58,
    545-554; Bates et al. (2015), J. Stat. Softw. 67(1); Henderson (1953), Biometrics 9, 226-252.
    """
    if not centred.any():
        return Variances(np.zeros(len(design.terms)), 0.0, "reml")
    if design.is_orthogonal:
        return _reml_of_strata(table)
    if sum(term.n_levels for term in design.terms) <= _MAX_EFFECTS:
        variances = _reml(design, centred)
        # at the bound scores do not vary within the levels of a term (runs are copies), and there is no maximum
        if variances.terms.max() < variances.residual * _LARGEST * 0.99:
            return variances
    estimates = _solved(table.sizes, table.squares)
    estimates = np.where(estimates < _NIL * estimates.max(), 0.0, estimates)
    return Variances(estimates[:-1], float(estimates[-1]), "moments")


def _solved(equations: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(equations, right, rcond=None)[0], np.float64)


def _reml_of_strata(table: Strata) -> Variances:
    """Maximum over variances >= 0 of -1/2 sum_k df_k (log lambda_k + MS_k / lambda_k), with lambda = E[MS]."""
    used = table.df > 0
    df = table.df[used]
    square, sizes = table.squares[used] / df, table.sizes[used] / df[:, None]
    scale = float(square.max())
    unconstrained = _solved(sizes, square)
    if (unconstrained >= 0).all():
        return Variances(unconstrained[:-1], float(unconstrained[-1]), "reml")

    def loss(v: FloatArray) -> tuple[float, FloatArray]:
        expected = np.maximum(sizes @ v, 1e-12)
        slope = df * (1 - square / scale / expected) / expected
        return float(df @ (np.log(expected) + square / scale / expected)), np.asarray(slope @ sizes)

    estimates = _minimum(loss, np.maximum(unconstrained / scale, 0.01))
    estimates = np.where(estimates < _NIL, 0.0, estimates) * scale
    return Variances(estimates[:-1], float(estimates[-1]), "reml")


def _reml(design: Design, centred: FloatArray) -> Variances:
    """REML for an unbalanced table, profiled over mean and residual; parameters are ratios to the residual variance.

    With V = Z diag(ratio) Z' + I the criterion is log det V + log 1'V^-1 1 + (n - 1) log r'V^-1 r, where r is y minus
    its generalized mean. Its derivative with respect to the ratio of a term is the sum over the columns of that term of
    tr Z'V^-1 Z - |Z'V^-1 1|^2 / 1'V^-1 1 - (n - 1) |Z'V^-1 r|^2 / r'V^-1 r. Everything is computed from Z'Z by
    Woodbury's identity.
    """
    from scipy.linalg import cho_factor, cho_solve

    n, terms = design.n_rows, design.terms
    place = np.repeat(np.arange(len(terms)), [term.n_levels for term in terms])
    meeting = _cross_counts(terms)
    rows = np.concatenate([term.counts for term in terms])
    right = np.column_stack([np.concatenate([term.totals(centred) for term in terms]), rows])

    def solved(ratio: FloatArray) -> tuple[float, float, FloatArray]:
        sd = np.sqrt(ratio)[place]
        inner = meeting * sd
        factor = cho_factor(sd[:, None] * inner + np.eye(len(sd)), lower=True)
        inverse = cho_solve(factor, np.eye(len(sd)))
        y, one = (right - inner @ (inverse @ (sd[:, None] * right))).T
        fitted = inverse @ (sd * right[:, 0])
        ones = max(n - float((sd * rows) @ inverse @ (sd * rows)), _NIL * n)
        mean = -float((sd * rows) @ fitted) / ones
        rest = float(centred @ centred) - float((sd * right[:, 0]) @ fitted) - mean**2 * ones
        rest = max(rest, _NIL * float(centred @ centred))
        left = y - mean * one
        slope = np.diag(meeting) - np.einsum("ij,ij->i", inner @ inverse, inner)
        slope += -(one**2) / ones - (n - 1) * left**2 / rest
        value = 2 * float(np.log(np.diag(factor[0])).sum()) + np.log(ones) + (n - 1) * np.log(rest)
        return float(value), rest, np.asarray(np.bincount(place, slope), np.float64)

    ratio = _minimum(lambda x: solved(x)[::2], np.full(len(terms), 0.5))
    residual = solved(ratio)[1] / (n - 1)
    return Variances(ratio * residual, residual, "reml")


def _minimum(loss: Callable[[FloatArray], tuple[float, FloatArray]], start: FloatArray) -> FloatArray:
    """Minimum over the non-negative orthant of a function that returns its value and gradient; refined by a restart."""
    from scipy.optimize import fmin_l_bfgs_b

    x = start
    for _ in range(2):
        x = np.asarray(fmin_l_bfgs_b(loss, x, bounds=[(0.0, _LARGEST)] * len(x), factr=1.0, pgtol=1e-9)[0], np.float64)
    return x


def _cross_counts(terms: tuple[Term, ...]) -> FloatArray:
    """Number of rows that each two levels share, Z'Z."""
    ends = np.cumsum([term.n_levels for term in terms])
    meeting = np.zeros((ends[-1], ends[-1]))
    for i, one in enumerate(terms):
        for j, other in enumerate(terms[: i + 1]):
            block = np.zeros((one.n_levels, other.n_levels))
            np.add.at(block, (one.codes, other.codes), 1.0)
            a, b = slice(ends[i] - one.n_levels, ends[i]), slice(ends[j] - other.n_levels, ends[j])
            meeting[a, b], meeting[b, a] = block, block.T
    return meeting
