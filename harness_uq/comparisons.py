"""Results about several systems and about runs to come: comparisons, rankings and plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness_uq.estimands import Scope
from harness_uq.notebook import NotebookTable
from harness_uq.results import Interval, Posterior, finite_or_none

Verdict = Literal["better", "not better", "too close to call", "could not tell"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A - B with its uncertainty."""

    value: float
    std_error: float
    interval: Interval

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form."""
        return {
            "value": finite_or_none(self.value),
            "std_error": finite_or_none(self.std_error),
            "interval": self.interval.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Comparison(NotebookTable):
    """System A against system B on one task, metric and filter, or over all tasks.

    Attributes
    ----------
    task : name of the task, or `overall`
    method : `dirichlet`, `latent-normal`, `independent`…; says how the difference was found
    value_a, value_b : plain scores on the questions compared
    difference : of A - B; None where not estimable
    prob_positive : P(A > B | data); None for frequentist methods
    odds_ratio : posterior median of the odds ratio, None where the scores are not 0/1
    correlation : of the two systems' question scores
    table : questions both right, only A, only B, both wrong; None where scores are not 0/1 or were repeated
    n_matched, n_unmatched_a, n_unmatched_b : questions
    variance_saved : share of the difference's variance that pairing removed, in [.., 1]
    margin : smallest difference of interest, >= 0
    smallest_detectable : difference that these data would have found with 80 % power
    prob_not_worse : P(A is not worse than B by more than the margin | data); of t the one-sided p-value of that
    p_value : two-sided test of no difference (McNemar's exact test on a table, else t); None where there is none
    higher_is_better : False for metrics such as perplexity, where the verdict favours the smaller value
    verdict, verdict_text : one of four, and a sentence
    """

    task: str
    metric: str
    filter: str
    system_a: str
    system_b: str
    scope: Scope
    method: str
    value_a: float | None
    value_b: float | None
    difference: Difference | None
    verdict: Verdict
    verdict_text: str
    prob_positive: float | None = None
    odds_ratio: float | None = None
    correlation: float | None = None
    table: tuple[int, int, int, int] | None = None
    n_matched: int | None = None
    n_unmatched_a: int | None = None
    n_unmatched_b: int | None = None
    n_trials: int | None = None
    n_clusters: int | None = None
    cluster_key: str | None = None
    variance_saved: float | None = None
    margin: float = 0.0
    smallest_detectable: float | None = None
    prob_not_worse: float | None = None
    p_value: float | None = None
    higher_is_better: bool = True
    posterior: Posterior | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1: missing is None, never NaN."""
        return {
            **{name: getattr(self, name) for name in _COMPARISON_NAMES},
            **{name: finite_or_none(getattr(self, name)) for name in _COMPARISON_NUMBERS},
            **{name: getattr(self, name) for name in _COMPARISON_FACTS},
            "difference": self.difference.to_dict() if self.difference else None,
            "table": dict(zip(_CELLS, self.table, strict=True)) if self.table else None,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


_COMPARISON_NAMES = (
    *("task", "metric", "filter", "system_a", "system_b"),
    *("scope", "method", "verdict", "verdict_text"),
)
_COMPARISON_NUMBERS = (
    *("value_a", "value_b", "prob_positive", "odds_ratio", "correlation", "variance_saved"),
    *("smallest_detectable", "prob_not_worse", "p_value"),
)
_COMPARISON_FACTS = (
    *("n_matched", "n_unmatched_a", "n_unmatched_b", "n_trials", "n_clusters", "cluster_key"),
    *("margin", "higher_is_better"),
)
_CELLS = ("both_right", "only_a", "only_b", "both_wrong")


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


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One design of a run to come.

    Attributes
    ----------
    n_questions, n_trials : the design
    expected_width : expected width of the interval of one score
    detectable : smallest difference of two systems found with the plan's power; None without a second system
    cost : in the user's unit, None without prices
    """

    n_questions: int
    n_trials: int
    expected_width: float | None
    detectable: float | None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Plan(NotebookTable):
    """What a run to come would tell.

    Attributes
    ----------
    recommended : the design that meets the target, None where none does
    rows : designs for the table and the curve
    variance_between, variance_within : of expected scores over questions, and of trials around them; None if unknown
    design_effect : of one score: variance of its mean with clusters over that without
    answer : one sentence
    task, metric, filter, systems : of the pilot; empty where the plan is from numbers
    variance_difference : over questions, of the difference of two systems' expected scores; None without a second one
    design_effect_difference : of that difference
    """

    rows: tuple[PlanRow, ...]
    recommended: PlanRow | None
    level: float
    power: float
    variance_between: float | None
    variance_within: float | None
    design_effect: float
    answer: str
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    task: str = ""
    metric: str = ""
    filter: str = "none"
    systems: tuple[str, ...] = ()
    variance_difference: float | None = None
    design_effect_difference: float | None = None

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1."""
        return {
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "systems": list(self.systems),
            "answer": self.answer,
            "recommended": _row_dict(self.recommended) if self.recommended else None,
            "rows": [_row_dict(row) for row in self.rows],
            "level": self.level,
            "power": self.power,
            "variance_between": finite_or_none(self.variance_between),
            "variance_within": finite_or_none(self.variance_within),
            "design_effect": finite_or_none(self.design_effect),
            "variance_difference": finite_or_none(self.variance_difference),
            "design_effect_difference": finite_or_none(self.design_effect_difference),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def _row_dict(row: PlanRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("n_questions", "n_trials", "expected_width", "detectable", "cost")}
