"""Identifiable effects of a table of scores in long form: factors, interactions and nesting."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.messages.errors import DataError
from harness_uq.stats.common.validate_arrays import FloatArray, IntArray, validated_codes

CROSSED = " × "  # separates the factors in the name of an interaction
_MAX_FACTORS = 5
_DENSE = 1 << 24  # largest number of pairs of levels that are counted in one array


@dataclass(frozen=True, eq=False)
class Term:
    """A factor or an interaction, as a partition of the rows.

    `codes` (n,) are the level of each row, from 0.
    """

    factors: tuple[str, ...]
    codes: IntArray
    n_levels: int

    @property
    def name(self) -> str:
        """Names of its factors, such as ``question × seed``."""
        return CROSSED.join(self.factors)

    @cached_property
    def counts(self) -> FloatArray:
        """Number of rows of each level, shape (n_levels,)."""
        return np.bincount(self.codes, minlength=self.n_levels).astype(float)

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all levels have equally many rows."""
        return bool(np.ptp(self.counts) == 0)

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum of the values in each level, shape (n_levels,)."""
        return np.asarray(np.bincount(self.codes, values, self.n_levels), np.float64)

    def is_finer_than(self, other: "Term") -> bool:
        """Whether each level of this term lies within one level of `other`; true for the term itself."""
        return self.n_levels >= other.n_levels and cross_terms(self, other).n_levels == self.n_levels


@dataclass(frozen=True, eq=False)
class Design:
    """All identifiable terms.

    `factors` has one term per factor, in the given order. `terms` are factors and interactions, from coarse to fine: no
    two partition the rows in the same way, and none has one row per level. Interactions with one row per level, which
    cannot be distinguished from the residual, are `not_identifiable`.
    """

    factors: tuple[Term, ...]
    terms: tuple[Term, ...]
    not_identifiable: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.factors[0].codes)

    def is_nested(self, inner: Term, outer: Term) -> bool:
        """Whether levels of `inner` lie within those of `outer` and are more numerous."""
        return inner.n_levels > outer.n_levels and inner.is_finer_than(outer)

    @cached_property
    def meets(self) -> dict[tuple[int, int], tuple[int, float, float]]:
        """For terms i and j: number of combined levels, and sum_l sum_j n_lj^2 / n_l for the levels l of i and of j."""
        mains = {term.factors: term for term in self.factors}
        interactions: dict[frozenset[str], Term] = {}
        result = {}
        for i, j in combinations(range(len(self.terms)), 2):
            names = frozenset(self.terms[i].factors) | frozenset(self.terms[j].factors)
            if names not in interactions:  # built from the factors, so that pairs can be counted without sorting
                interactions[names] = _interaction(tuple(mains[(name,)] for name in sorted(names)))
            result[i, j] = _meet(self.terms[i], self.terms[j], interactions[names])
        return result

    @cached_property
    def finer(self) -> NDArray[np.bool_]:
        """Whether each level of term i lies within one level of term j, shape (n_terms, n_terms)."""
        table = np.eye(len(self.terms), dtype=bool)
        for (i, j), (n_meeting, _, _) in self.meets.items():
            table[j, i] = n_meeting == self.terms[j].n_levels
            table[i, j] = n_meeting == self.terms[i].n_levels
        return table

    @cached_property
    def square_sizes(self) -> FloatArray:
        """Expectation of the sum of squares of term i for a unit variance of term j, shape (n_terms, n_terms)."""
        table = np.diag([float(self.n_rows)] * len(self.terms))
        for (i, j), (_, of_i, of_j) in self.meets.items():
            table[i, j], table[j, i] = of_i, of_j
        return table

    @cached_property
    def is_orthogonal(self) -> bool:
        """Whether levels of every term are equally frequent and every two terms meet in proportion.

        Mean squares are then sufficient for the variances.
        """
        return all(t.is_uniform for t in self.terms) and all(self._meet_in_proportion(i, j) for i, j in self.meets)

    def _meet_in_proportion(self, i: int, j: int) -> bool:
        """Whether n_ij n_common = n_i n_j and combined levels are equally frequent.

        ``common`` is the finest term that both terms refine.
        """
        n_meeting, of_i, _ = self.meets[i, j]
        coarser = self.finer[i] & self.finer[j]
        common = max((t.n_levels for t, yes in zip(self.terms, coarser, strict=True) if yes), default=1)
        in_proportion = n_meeting * common == self.terms[i].n_levels * self.terms[j].n_levels
        return in_proportion and bool(np.isclose(of_i, self.n_rows * self.terms[i].n_levels / n_meeting, rtol=1e-12))


def read_design(factors: Mapping[str, ArrayLike], n_rows: int) -> Design:
    """Terms of factors that are given by the labels of each row.

    Each factor has labels (n_rows,) of one type, such as all numbers or all strings. Raises DataError if there is no
    factor, more than five, labels of another length, or two factors with the same partition of rows.

    >>> design = read_design({"question": [1, 1, 2, 2, 3, 3], "passage": ["a", "a", "a", "a", "b", "b"]}, 6)
    >>> [term.name for term in design.terms], design.not_identifiable
    (['passage', 'question'], ())
    """
    if not 0 < len(factors) <= _MAX_FACTORS:
        raise DataError(f"there must be 1 to {_MAX_FACTORS} factors; got {sorted(factors)}")
    mains = tuple(_factor(name, labels, n_rows) for name, labels in factors.items())
    for one, other in combinations(mains, 2):
        if one.n_levels == other.n_levels > 1 and one.is_finer_than(other):
            raise DataError(f"the effects of {one.name} and {other.name} are identical. Leave one of them out")
    terms: list[Term] = [term for term in mains if 1 < term.n_levels < n_rows]
    not_identifiable = [term.name for term in mains if term.n_levels == n_rows > 1]
    for size in range(2, len(mains) + 1):
        for chosen in combinations([term for term in mains if term.n_levels > 1], size):
            term = _interaction(chosen)
            if term.n_levels == n_rows:
                if not not_identifiable:
                    not_identifiable.append(term.name)
            elif not any(known.n_levels == term.n_levels and known.is_finer_than(term) for known in terms):
                terms.append(term)
    return Design(mains, tuple(sorted(terms, key=lambda term: term.n_levels)), tuple(not_identifiable))


def cross_terms(one: Term, other: Term) -> Term:
    """Interaction of two terms: rows have the same level if they have the same level of both terms."""
    code = one.codes * np.int64(other.n_levels) + other.codes
    size = one.n_levels * other.n_levels
    if size <= _DENSE:
        present = np.zeros(size, bool)
        present[code] = True
        codes = (np.cumsum(present) - 1)[code]
        return Term((*one.factors, *other.factors), codes, int(present.sum()))
    _, codes = np.unique(code, return_inverse=True)
    return Term((*one.factors, *other.factors), codes.astype(np.int64), int(codes.max()) + 1)


def _factor(name: str, labels: ArrayLike, n_rows: int) -> Term:
    codes = validated_codes(labels, (n_rows,), f"factor {name!r}")
    return Term((name,), codes, int(codes.max(initial=-1)) + 1)


def _interaction(mains: tuple[Term, ...]) -> Term:
    term = mains[0]
    for main in mains[1:]:
        term = cross_terms(term, main)
    return term


def _meet(one: Term, other: Term, both: Term) -> tuple[int, float, float]:
    squares, rows = both.counts**2, np.zeros((2, both.n_levels))
    rows[0, both.codes], rows[1, both.codes] = one.counts[one.codes], other.counts[other.codes]
    return both.n_levels, float(np.sum(squares / rows[0])), float(np.sum(squares / rows[1]))
