"""Variances of crossed and nested effects: restricted maximum likelihood, or moments for the largest tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness_uq.stats.common.arrays import FloatArray
from harness_uq.stats.effects.design import Design, Term

VarianceMethod = Literal["reml", "moments"]

_NIL = 1e-12  # share of the greatest mean square that is rounding
_LARGEST = 1e6  # of a variance over the residual's, or over the greatest mean square
_MOST_EFFECTS = 1000  # levels of all terms together up to which an unbalanced table gets REML


@dataclass(frozen=True, eq=False)
class Variances:
    """Variance of each term of a design, in its order, and of the residual.

    Attributes
    ----------
    terms : (n_terms,) >= 0
    residual : float >= 0
    method : `reml`, or `moments` (Henderson's first method, negative estimates given as 0)
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
    """Sums of squares of the terms, each less those of the terms that it refines, and of the residual.

    Attributes
    ----------
    squares : (n_terms + 1,) of the terms and, last, of the residual
    df : (n_terms + 1,) degrees of freedom
    sizes : (n_terms + 1, n_terms + 1); expected squares are sizes @ variances
    """

    squares: FloatArray
    df: FloatArray
    sizes: FloatArray


def term_squares(term: Term, values: FloatArray) -> float:
    """Sum over levels of (sum of values)^2 / rows, the values being centred."""
    return float(np.sum(term.totals(values) ** 2 / term.counts))


def level_share(term: Term) -> float:
    """Variance of the mean of all rows for a unit variance of the term: sum over levels of (rows / all rows)^2."""
    return float(np.sum((term.counts / len(term.codes)) ** 2))


def strata(design: Design, centred: FloatArray) -> Strata:
    """Sums of squares by term, coarse to fine: those of Tjur (1984), Int. Stat. Rev. 52:33, where it is orthogonal.

    Parameters
    ----------
    centred : (n,) scores less their mean
    """
    n, k = design.n_rows, len(design.terms)
    whole = np.array([level_share(term) * n for term in design.terms])
    squares, df, sizes = np.zeros(k + 1), np.zeros(k + 1), np.zeros((k + 1, k + 1))
    for i, term in enumerate(design.terms):
        coarser = np.flatnonzero(design.finer[i, :i])
        squares[i] = term_squares(term, centred) - squares[coarser].sum()
        df[i] = term.n_levels - 1 - df[coarser].sum()
        sizes[i, :k] = design.square_sizes[i] - whole - sizes[coarser, :k].sum(axis=0)
        sizes[i, k] = df[i]
    squares[k], df[k] = float(centred @ centred) - squares.sum(), n - 1 - df.sum()
    sizes[k] = [*(n - whole - sizes[:k, :k].sum(axis=0)), df[k]]
    return Strata(np.maximum(squares, 0.0), df, sizes)


def estimate_variances(design: Design, table: Strata, centred: FloatArray) -> Variances:
    """Variance components of the scores, every factor taken as random around one mean.

    REML maximises the likelihood of what is left when the mean is fitted (Patterson & Thompson 1971, Biometrika
    58:545): over mean squares where the design is orthogonal, else over the equations of the mixed model (Bates et al.
    2015, J. Stat. Softw. 67(1), eq. 42) where all terms together have at most 1,000 levels. Larger tables, and
    those whose scores do not vary within the levels of a term, get moments: sums of squares equated to their
    expectations (Henderson 1953, Biometrics 9:226, method 1).
    """
    if not centred.any():
        return Variances(np.zeros(len(design.terms)), 0.0, "reml")
    if design.is_orthogonal:
        return _reml_of_strata(table)
    if sum(term.n_levels for term in design.terms) <= _MOST_EFFECTS:
        variances = _reml(design, centred)
        # at the bound nothing varies within the levels of a term (runs that are copies): there is no maximum
        if variances.terms.max() < variances.residual * _LARGEST * 0.99:
            return variances
    found = _solved(table.sizes, table.squares)
    found = np.where(found < _NIL * found.max(), 0.0, found)
    return Variances(found[:-1], float(found[-1]), "moments")


def _solved(equations: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(equations, right, rcond=None)[0], np.float64)


def _reml_of_strata(table: Strata) -> Variances:
    """Maximum over variances >= 0 of -1/2 sum_k df_k (log lambda_k + MS_k / lambda_k), lambda = E[MS]."""
    used = table.df > 0
    df = table.df[used]
    square, sizes = table.squares[used] / df, table.sizes[used] / df[:, None]
    scale = float(square.max())
    closed = _solved(sizes, square)
    if (closed >= 0).all():
        return Variances(closed[:-1], float(closed[-1]), "reml")

    def loss(v: FloatArray) -> tuple[float, FloatArray]:
        expected = np.maximum(sizes @ v, 1e-12)
        slope = df * (1 - square / scale / expected) / expected
        return float(df @ (np.log(expected) + square / scale / expected)), np.asarray(slope @ sizes)

    found = _minimum(loss, np.maximum(closed / scale, 0.01))
    found = np.where(found < _NIL, 0.0, found) * scale
    return Variances(found[:-1], float(found[-1]), "reml")


def _reml(design: Design, centred: FloatArray) -> Variances:
    """REML of an unbalanced table, profiled over mean and residual; the parameters are variances over the residual's.

    With V = Z diag(ratio) Z' + I the criterion is log det V + log 1'V^-1 1 + (n - 1) log r'V^-1 r, where r is y less
    its generalised mean; its slope in the ratio of a term is tr Z'V^-1 Z - |Z'V^-1 1|^2 / 1'V^-1 1 - (n - 1)
    |Z'V^-1 r|^2 / r'V^-1 r over the columns of that term. All by Woodbury's identity, from Z'Z.
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
    """Minimum over the non-negative orthant, polished by a restart, of a function that gives its slope too."""
    from scipy.optimize import fmin_l_bfgs_b

    x = start
    for _ in range(2):
        x = np.asarray(fmin_l_bfgs_b(loss, x, bounds=[(0.0, _LARGEST)] * len(x), factr=1.0, pgtol=1e-9)[0], np.float64)
    return x


def _cross_counts(terms: tuple[Term, ...]) -> FloatArray:
    """Rows that each two levels share, Z'Z."""
    ends = np.cumsum([term.n_levels for term in terms])
    meeting = np.zeros((ends[-1], ends[-1]))
    for i, one in enumerate(terms):
        for j, other in enumerate(terms[: i + 1]):
            block = np.zeros((one.n_levels, other.n_levels))
            np.add.at(block, (one.codes, other.codes), 1.0)
            a, b = slice(ends[i] - one.n_levels, ends[i]), slice(ends[j] - other.n_levels, ends[j])
            meeting[a, b], meeting[b, a] = block, block.T
    return meeting
