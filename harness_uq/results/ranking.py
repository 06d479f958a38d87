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
    value, interval : its score on the questions compared
    prob_best : P(its score is the best)
    expected_rank : posterior mean of its rank, 1 is best
    rank_low, rank_high : credible interval of its rank
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
    n_questions, n_comparisons : questions common to all; pairs × tasks × metrics × filters compared in all
    diagnostics : numerical facts such as `mc_error`
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
        "group": ranked.group,
        "group_adjusted": ranked.group_adjusted,
        "tied_rank": ranked.tied_rank,
    }
