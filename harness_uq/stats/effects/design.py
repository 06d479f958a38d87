"""Which effects a table of scores in long form can tell apart: factors, their interactions, what is nested in what."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.errors import DataError
from harness_uq.stats.common.arrays import FloatArray, IntArray, label_codes

CROSSED = " × "  # between the names of the factors of an interaction
_MOST_FACTORS = 5
_DENSE = 1 << 24  # pairs of levels below which they are counted in one array


@dataclass(frozen=True, eq=False)
class Term:
    """A factor or an interaction, as a partition of the rows.

    Attributes
    ----------
    factors : names of its factors; for an interaction that is nested, all that its levels determine are left out
    codes : (n,) level of each row, 0 to n_levels - 1
    n_levels : int
    """

    factors: tuple[str, ...]
    codes: IntArray
    n_levels: int

    @property
    def name(self) -> str:
        """Names of its factors, such as `question × seed`."""
        return CROSSED.join(self.factors)

    @cached_property
    def counts(self) -> FloatArray:
        """Rows of each level, (n_levels,)."""
        return np.bincount(self.codes, minlength=self.n_levels).astype(float)

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all levels have as many rows."""
        return bool(np.ptp(self.counts) == 0)

    def totals(self, values: FloatArray) -> FloatArray:
        """Sum of the values in each level, (n_levels,)."""
        return np.asarray(np.bincount(self.codes, values, self.n_levels), np.float64)

    def is_finer_than(self, other: "Term") -> bool:
        """Whether each level of this term lies in one level of `other`; so does a term within itself."""
        return self.n_levels >= other.n_levels and joined(self, other).n_levels == self.n_levels


@dataclass(frozen=True, eq=False)
class Design:
    """All terms that the rows can tell.

    Attributes
    ----------
    factors : a term for each factor, in the order given
    terms : factors and interactions, coarse to fine; none splits the rows as another or as the rows themselves do
    untold : names of interactions that cannot be told from the residual, there being one row a level
    """

    factors: tuple[Term, ...]
    terms: tuple[Term, ...]
    untold: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return len(self.factors[0].codes)

    def is_nested(self, inner: Term, outer: Term) -> bool:
        """Whether levels of `inner` lie within those of `outer`, and there are more of them."""
        return inner.n_levels > outer.n_levels and inner.is_finer_than(outer)

    @cached_property
    def meets(self) -> dict[tuple[int, int], tuple[int, float, float]]:
        """For terms i and j: how many pairs of levels meet, and sum_l sum_j n_lj^2 / n_l for l of i and for l of j."""
        mains = {term.factors: term for term in self.factors}
        known: dict[frozenset[str], Term] = {}
        found = {}
        for i, j in combinations(range(len(self.terms)), 2):
            names = frozenset(self.terms[i].factors) | frozenset(self.terms[j].factors)
            if names not in known:  # from the factors, whose pairs are few enough to be counted without sorting
                known[names] = _interaction(tuple(mains[(name,)] for name in sorted(names)))
            found[i, j] = _meet(self.terms[i], self.terms[j], known[names])
        return found

    @cached_property
    def finer(self) -> NDArray[np.bool_]:
        """Entry (i, j): each level of term i lies in one level of term j, (n_terms, n_terms)."""
        table = np.eye(len(self.terms), dtype=bool)
        for (i, j), (n_meeting, _, _) in self.meets.items():
            table[j, i] = n_meeting == self.terms[j].n_levels
            table[i, j] = n_meeting == self.terms[i].n_levels
        return table

    @cached_property
    def square_sizes(self) -> FloatArray:
        """Entry (i, j): expectation of the sum of squares of term i for a unit variance of term j."""
        table = np.diag([float(self.n_rows)] * len(self.terms))
        for (i, j), (_, of_i, of_j) in self.meets.items():
            table[i, j], table[j, i] = of_i, of_j
        return table

    @cached_property
    def is_orthogonal(self) -> bool:
        """Whether every term has equal levels and every two meet in proportion: mean squares then say it all."""
        return all(t.is_uniform for t in self.terms) and all(self._meet_in_proportion(i, j) for i, j in self.meets)

    def _meet_in_proportion(self, i: int, j: int) -> bool:
        """n_ij n_common = n_i n_j levels, `common` being the finest term that both refine, and all as often."""
        n_meeting, of_i, _ = self.meets[i, j]
        coarser = self.finer[i] & self.finer[j]
        common = max((t.n_levels for t, yes in zip(self.terms, coarser, strict=True) if yes), default=1)
        in_proportion = n_meeting * common == self.terms[i].n_levels * self.terms[j].n_levels
        return in_proportion and bool(np.isclose(of_i, self.n_rows * self.terms[i].n_levels / n_meeting, rtol=1e-12))


def read_design(factors: Mapping[str, ArrayLike], n_rows: int) -> Design:
    """Terms of the factors given by the labels of each row.

    Parameters
    ----------
    factors : name to (n_rows,) labels of one kind, such as all numbers or all strings
    n_rows : int

    Raises
    ------
    DataError : no factor, more than five, labels of another length, or two factors that split the rows alike

    >>> design = read_design({"question": [1, 1, 2, 2, 3, 3], "passage": ["a", "a", "a", "a", "b", "b"]}, 6)
    >>> [term.name for term in design.terms], design.untold
    (['passage', 'question'], ())
    """
    if not 0 < len(factors) <= _MOST_FACTORS:
        raise DataError(f"there must be one factor to {_MOST_FACTORS}; got {sorted(factors)}")
    mains = tuple(_factor(name, labels, n_rows) for name, labels in factors.items())
    for one, other in combinations(mains, 2):
        if one.n_levels == other.n_levels > 1 and one.is_finer_than(other):
            raise DataError(f"{one.name} and {other.name} split the rows alike: their effects are one; leave one out")
    told: list[Term] = [term for term in mains if 1 < term.n_levels < n_rows]
    untold = [term.name for term in mains if term.n_levels == n_rows > 1]
    for size in range(2, len(mains) + 1):
        for chosen in combinations([term for term in mains if term.n_levels > 1], size):
            term = _interaction(chosen)
            if term.n_levels == n_rows:
                if not untold:
                    untold.append(term.name)
            elif not any(known.n_levels == term.n_levels and known.is_finer_than(term) for known in told):
                told.append(term)
    return Design(mains, tuple(sorted(told, key=lambda term: term.n_levels)), tuple(untold))


def joined(one: Term, other: Term) -> Term:
    """Levels in common: rows are together where both terms have them together."""
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
    codes = label_codes(labels, (n_rows,), f"factor {name!r}")
    return Term((name,), codes, int(codes.max(initial=-1)) + 1)


def _interaction(mains: tuple[Term, ...]) -> Term:
    term = mains[0]
    for main in mains[1:]:
        term = joined(term, main)
    return term


def _meet(one: Term, other: Term, both: Term) -> tuple[int, float, float]:
    squares, rows = both.counts**2, np.zeros((2, both.n_levels))
    rows[0, both.codes], rows[1, both.codes] = one.counts[one.codes], other.counts[other.codes]
    return both.n_levels, float(np.sum(squares / rows[0])), float(np.sum(squares / rows[1]))
