"""Estimate of one score with its interval, method, structure and diagnostics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from harness_uq.data.task_log import HarnessResult, Source
from harness_uq.estimands import Scope
from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.results.declaration import INTERNAL, Declared
from harness_uq.results.method_info import MethodInfo

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from harness_uq.stats.common.validate_arrays import FloatArray
    from harness_uq.structure.structure import Structure

IntervalKind = Literal["confidence", "quantile", "hdi"]

SCHEMA = 1
NOTHING_REPORTED = HarnessResult(None)


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
class Interval(Declared):
    """An interval with its level and kind: `quantile` and `hdi` are credible intervals, `confidence` is frequentist."""

    low: float
    high: float
    level: float
    kind: IntervalKind

    @property
    def width(self) -> float:
        """Width, `high - low`."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Estimate(Declared, HasMessages):
    """Estimate of one score with its uncertainty.

    Attributes
    ----------
    method_reason : why this method was used; None if the score is not estimable
    value : mean score as the harness computes it; None if it is unknown
    posterior_mean : mean of the posterior; None for frequentist methods
    std_error : posterior standard deviation, or standard error of a frequentist method; None if not estimable
    interval : None if the score is not estimable
    n_questions, n_trials, n_scores : number of scored questions, largest number of trials of one, number of scores
    identified_range : lowest and highest score of these questions, if trials without a score may have any score; None
        if the score is known. The value is then the score without these trials
    n_missing : number of trials without a score; None if the log does not contain the trials
    endings : number of trials by how they ended, such as `error` or `token limit`; empty if the log does not tell
    harness : value and standard error that the harness reported
    variance_between, variance_within : variance of the means of questions (or clusters), and of the trials (or
        questions) within them; None if unknown
    posterior : posterior distribution; not part of the JSON form
    diagnostics : numerical diagnostics such as `importance_ess` or `mc_error`
    info : description of the method; None if there is none; not part of the JSON form
    messages : notes, warnings, and why there is no interval
    """

    json_properties: ClassVar = ("status",)

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
    n_scores: int | None = None
    posterior_mean: float | None = None
    n_clusters: int | None = None
    cluster_key: str | None = None
    icc: float | None = None
    design_effect: float | None = None
    effective_questions: float | None = None
    variance_between: float | None = None
    variance_within: float | None = None
    identified_range: tuple[float, float] | None = None
    n_missing: int | None = None
    endings: Mapping[str, int] = field(default_factory=dict)
    harness: HarnessResult = NOTHING_REPORTED
    structure: "Structure | None" = field(default=None, repr=False, metadata=INTERNAL)
    posterior: Posterior | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    method_reason: str | None = None
    info: MethodInfo | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)

    @property
    def status(self) -> Status:
        """`ok`, `not_estimable` (`reason` says why) or `failed` (an unexpected error)."""
        return status_of(self.messages, has_result=self.interval is not None)

    @property
    def key(self) -> tuple[str, str, str]:
        """Task, metric and filter."""
        return self.task, self.metric, self.filter


def finite_or_none(value: float | None) -> float | None:
    """`value` as a JSON number; None if it is missing, NaN or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None
