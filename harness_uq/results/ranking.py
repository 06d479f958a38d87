"""Several systems on one task: scores, ranks, and which the data separate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness_uq.results.estimate import Interval, finite_or_none
from harness_uq.results.notebook import NotebookTable


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system's place among several.

    Attributes
    ----------
    value, interval : its score on the questions compared, and the interval that `estimate` gives it there
    prob_best : P(its score is the best)
    expected_rank : posterior mean of its rank, 1 is best
    rank_low, rank_high : credible interval of its rank, for this system alone
    rank_set : best and worst rank that it may have; the sets of all systems hold at once with the probability of
        `interval.level`; None where not computed
    group : letters shared with the systems that the data cannot separate from it
    tied_rank : rank with ties by Bayes@N z-scores (Hariri et al. 2025), None with one trial a question
    group_adjusted : the same letters by paired tests, adjusted for their number; empty where there are no tests, a
        dash for a system that has none
    """

    system: str
    value: float
    interval: Interval
    prob_best: float
    expected_rank: float
    rank_low: int
    rank_high: int
    group: str
    tied_rank: int | None = None
    group_adjusted: str = ""
    rank_set: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Systems next to each other in a ranking that the data cannot tell apart.

    Attributes
    ----------
    n_pairs : one less than there are systems
    undecided : of these, those of which neither is better with probability 1 - (1 - level) / 2
    undecided_at_once : those that are not told apart when all pairs of systems are tested at one error rate
    """

    n_pairs: int
    undecided: int
    undecided_at_once: int

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, shares of the pairs included."""
        return {
            "n_pairs": self.n_pairs,
            "undecided": self.undecided,
            "undecided_share": self.undecided / self.n_pairs if self.n_pairs else None,
            "undecided_at_once": self.undecided_at_once,
            "undecided_at_once_share": self.undecided_at_once / self.n_pairs if self.n_pairs else None,
        }


@dataclass(frozen=True, slots=True)
class Ranking(NotebookTable):
    """Several systems on one task, metric and filter.

    Attributes
    ----------
    systems : best first
    prob_better : prob_better[i][j] = P(system i is better than system j), in the order of `systems`
    adjusted_p : adjusted_p[i][j], two-sided paired test after the named correction; None where not computed, NaN (null
        in JSON) where a pair's difference does not vary and has no test
    correction : `holm` or `bh`
    prob_rank : prob_rank[i][r] = P(rank of system i is r + 1), in the order of `systems`; None where not computed
    neighbours : how many systems next to each other cannot be told apart; None where not computed
    n_questions, n_comparisons : questions common to all; pairs × tasks × metrics × filters compared in all
    diagnostics : `mc_error`, the largest Monte Carlo standard error of P(best) and P(better), and `n_draws`
    """

    task: str
    metric: str
    filter: str
    systems: tuple[RankedSystem, ...]
    prob_better: tuple[tuple[float, ...], ...]
    n_questions: int
    n_comparisons: int
    adjusted_p: tuple[tuple[float, ...], ...] | None = None
    correction: str | None = None
    prob_rank: tuple[tuple[float, ...], ...] | None = None
    neighbours: Neighbours | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1."""
        return {
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "systems": [_ranked_dict(system) for system in self.systems],
            "prob_better": [list(row) for row in self.prob_better],
            "adjusted_p": None if self.adjusted_p is None else [_finite(row) for row in self.adjusted_p],
            "correction": self.correction,
            "prob_rank": None if self.prob_rank is None else [list(row) for row in self.prob_rank],
            "neighbours": None if self.neighbours is None else self.neighbours.to_dict(),
            "n_questions": self.n_questions,
            "n_comparisons": self.n_comparisons,
            "diagnostics": {name: finite_or_none(value) for name, value in self.diagnostics.items()},
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def _finite(row: Sequence[float]) -> list[float | None]:
    return [finite_or_none(value) for value in row]


def _ranked_dict(ranked: RankedSystem) -> dict[str, object]:
    return {
        "system": ranked.system,
        "value": finite_or_none(ranked.value),
        "interval": ranked.interval.to_dict(),
        "prob_best": finite_or_none(ranked.prob_best),
        "expected_rank": finite_or_none(ranked.expected_rank),
        "rank_interval": [ranked.rank_low, ranked.rank_high],
        "rank_set": None if ranked.rank_set is None else list(ranked.rank_set),
        "group": ranked.group,
        "group_adjusted": ranked.group_adjusted,
        "tied_rank": ranked.tied_rank,
    }
