"""Results: immutable values that carry estimand, method, interval kind, level, structure and diagnostics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from harness_uq.estimands import Scope
from harness_uq.logs.data import Reported, Source
from harness_uq.results.about import About
from harness_uq.results.notebook import NotebookTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.stats.common.arrays import FloatArray
    from harness_uq.structure.facts import Structure

IntervalKind = Literal["confidence", "quantile", "hdi"]

SCHEMA = 1
NOTHING_REPORTED = Reported(None)


class Posterior(Protocol):
    """Distribution of the estimand given the data."""

    @property
    def mean(self) -> float:
        """Posterior mean."""

    @property
    def sd(self) -> float:
        """Posterior standard deviation."""

    def quantile(self, p: "ArrayLike") -> "FloatArray":
        """Value below which the estimand lies with probability `p`."""

    def cdf(self, x: "ArrayLike") -> "FloatArray":
        """Probability that the estimand is at most `x`."""

    def interval(self, level: float = 0.95, kind: Literal["quantile", "hdi"] = "quantile") -> tuple[float, float]:
        """Credible interval (low, high)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that knows its level and kind: `quantile` and `hdi` are credible, `confidence` is frequentist."""

    low: float
    high: float
    level: float
    kind: IntervalKind

    @property
    def width(self) -> float:
        """High - low."""
        return self.high - self.low

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form."""
        return {
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "level": self.level,
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True)
class Estimate(NotebookTable):
    """One number with its uncertainty.

    Attributes
    ----------
    method_reason : the rule that chose the method, or that it was asked for; None where not estimable
    value : the plain score, as the harness computes it; None where there is none
    posterior_mean : mean of the posterior, None for frequentist methods
    std_error : posterior sd, or the standard error of a frequentist method; None where not estimable
    interval : None where not estimable
    n_questions, n_trials, n_cells : scored questions, most trials a question, scored cells
    harness : the harness's own value and standard error
    variance_between, variance_within : of question (or cluster) means, and of the trials (or questions) within them;
        None where unknown
    posterior : the distribution itself, for further questions; not part of the JSON form
    diagnostics : numerical facts such as `importance_ess` or `mc_error`
    about : what the method says of itself, None where it says nothing; not part of the JSON form
    failure : what went wrong where something did that nobody foresaw; None where all went well
    """

    system: str
    task: str
    metric: str
    filter: str
    estimand: str
    scope: Scope
    method: str
    value: float | None
    std_error: float | None
    interval: Interval | None
    source: Source
    n_questions: int | None = None
    n_trials: int | None = None
    n_cells: int | None = None
    posterior_mean: float | None = None
    n_clusters: int | None = None
    cluster_key: str | None = None
    icc: float | None = None
    design_effect: float | None = None
    effective_questions: float | None = None
    variance_between: float | None = None
    variance_within: float | None = None
    harness: Reported = NOTHING_REPORTED
    structure: "Structure | None" = field(default=None, repr=False)
    posterior: Posterior | None = field(default=None, repr=False, compare=False)
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    method_reason: str | None = None
    failure: str | None = None
    about: About | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form, schema 1: missing is None, never NaN."""
        return {
            "system": self.system,
            "task": self.task,
            "metric": self.metric,
            "filter": self.filter,
            "estimand": self.estimand,
            "scope": self.scope,
            "method": self.method,
            "method_reason": self.method_reason,
            "value": finite_or_none(self.value),
            "posterior_mean": finite_or_none(self.posterior_mean),
            "std_error": finite_or_none(self.std_error),
            "interval": self.interval.to_dict() if self.interval else None,
            "n_questions": self.n_questions,
            "n_trials": self.n_trials,
            "n_cells": self.n_cells,
            "n_clusters": self.n_clusters,
            "cluster_key": self.cluster_key,
            "icc": finite_or_none(self.icc),
            "design_effect": finite_or_none(self.design_effect),
            "effective_questions": finite_or_none(self.effective_questions),
            "variance_between": finite_or_none(self.variance_between),
            "variance_within": finite_or_none(self.variance_within),
            "harness": {
                "value": finite_or_none(self.harness.value),
                "std_error": finite_or_none(self.harness.std_error),
                "n": self.harness.n,
            },
            "diagnostics": {name: finite_or_none(value) for name, value in self.diagnostics.items()},
            "source": {
                "path": self.source.path,
                "harness": self.source.harness,
                "version": self.source.version,
                "time": self.source.time,
            },
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "failure": self.failure,
        }


def finite_or_none(value: float | None) -> float | None:
    """`value` as a JSON number, None where it is missing, NaN or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None
