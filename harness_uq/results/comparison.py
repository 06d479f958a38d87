"""One system against another: the difference of their scores, and the verdict on it."""

from dataclasses import asdict, dataclass, field
from typing import Literal

from harness_uq.estimands import Scope
from harness_uq.results.about import About
from harness_uq.results.estimate import Interval, Posterior, finite_or_none
from harness_uq.results.notebook import NotebookTable

Verdict = Literal["better", "worse", "equivalent", "undecided"]


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
class Disagreement:
    """A question on which two systems differ: its identifier in A's log, and both mean scores over its trials."""

    id: str
    value_a: float
    value_b: float


@dataclass(frozen=True, slots=True)
class Disagreements:
    """The questions of a task, metric and filter on which two systems differ most, the largest difference first.

    Attributes
    ----------
    n_questions, n_a_better, n_b_better : matched; of these where A, where B has the better score
    questions : some or all of those where one has
    """

    task: str
    metric: str
    filter: str
    n_questions: int
    n_a_better: int
    n_b_better: int
    questions: tuple[Disagreement, ...]

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1."""
        return asdict(self)


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
    next_step : what would decide it, in a sentence; empty where it is decided, or nothing is known
    n_more_questions : of the same make-up, that would show a difference as large as the margin, without one as large as
        the one seen, with 80 % power; None where it is decided or unknown
    same : why no difference can be seen, where A and B are one log or have the same scores throughout; else None
    about : of the estimator of both scores, where that gave the difference
    failure : what went wrong where something did that nobody foresaw; None where all went well
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
    next_step: str = ""
    n_more_questions: int | None = None
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
    same: str | None = None
    posterior: Posterior | None = field(default=None, repr=False, compare=False)
    about: About | None = field(default=None, repr=False, compare=False)
    failure: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """The verdict in words, with what would decide it."""
        return f"{self.verdict_text} {self.next_step}".strip()

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
    *("scope", "method", "verdict", "verdict_text", "next_step", "same"),
)
_COMPARISON_NUMBERS = (
    *("value_a", "value_b", "prob_positive", "odds_ratio", "correlation", "variance_saved"),
    *("smallest_detectable", "prob_not_worse", "p_value"),
)
_COMPARISON_FACTS = (
    *("n_matched", "n_unmatched_a", "n_unmatched_b", "n_trials", "n_clusters", "cluster_key"),
    *("n_more_questions", "margin", "higher_is_better", "failure"),
)
_CELLS = ("both_right", "only_a", "only_b", "both_wrong")
