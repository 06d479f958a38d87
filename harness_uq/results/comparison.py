"""Comparison of two systems: the difference of their scores and the verdict."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from harness_uq.estimands import Scope
from harness_uq.messages import HasMessages, Message, Status, status_of
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.results.declaration import INTERNAL, Declared
from harness_uq.results.estimate import Interval, Posterior
from harness_uq.results.method_info import MethodInfo

Verdict = Literal["better", "worse", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True)
class Difference(Declared):
    """Difference A - B with its uncertainty."""

    value: float
    std_error: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Numbers of questions that both systems, only A, only B and neither answered correctly."""

    both_right: int
    only_a: int
    only_b: int
    both_wrong: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question on which two systems differ.

    Attributes
    ----------
    id : its identifier in the log of A
    value_a, value_b : mean scores over its trials
    probability : posterior probability that the systems differ in their probability of a right answer; None if B has
        one answer to each question, or if scores are not 0 or 1
    is_flaky : whether identical runs of B often answer it differently; None if this is unknown
    """

    id: str
    value_a: float
    value_b: float
    probability: float | None = None
    is_flaky: bool | None = None


@dataclass(frozen=True, slots=True)
class Disagreements(Declared):
    """The questions of a task, metric and filter on which two systems differ most, sorted by the difference.

    Attributes
    ----------
    n_questions : number of matched questions
    n_a_better, n_b_better : number of questions on which A or B has the better score
    questions : some or all of the questions on which the scores differ
    """

    record_rows: ClassVar = "questions"

    task: str
    metric: str
    filter: str
    n_questions: int
    n_a_better: int
    n_b_better: int
    questions: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class Comparison(Declared, HasMessages):
    """Comparison of system A with system B on one task, metric and filter, or over all tasks.

    Attributes
    ----------
    task : name of the task, or `overall`
    method : method for the difference, such as `dirichlet`, `latent-normal` or `independent`
    value_a, value_b : mean scores on the matched questions
    difference : A - B; None if it is not estimable
    prob_positive : P(A > B | data); None for frequentist methods
    odds_ratio : posterior median of the odds ratio; None if the scores are not 0 or 1
    correlation : correlation of the question scores of the two systems
    table : number of questions with both correct, only A, only B, and both wrong; None if the scores are not 0 or 1, or
        if questions were repeated
    n_matched, n_unmatched_a, n_unmatched_b : numbers of questions
    variance_reduction : share of the variance of the difference that pairing removed, at most 1; negative if it added
    margin : smallest difference of interest, >= 0
    minimum_detectable_effect : difference that these data would have detected with 80 % power
    prob_noninferior : P(A is not worse than B by more than the margin | data); for t the one-sided p-value
    p_value : of the two-sided test of no difference (McNemar's exact test for a table, otherwise t); None if not tested
    higher_is_better : False for metrics such as perplexity, for which the smaller value is better
    verdict, verdict_text : the verdict, and a sentence that states it
    verdict_adjusted : the verdict after correction by Holm's method for all tasks of the comparison; the result over
        all tasks is corrected for the number of metrics only
    verdict_p_adjusted : the adjusted p-value from which it follows; None if the difference is not estimable
    next_step : a sentence on what would decide the comparison; empty if it is decided, or if this is unknown
    n_additional_questions : number of further questions with which a difference of the size of the margin (without a
        margin: of the observed size) would be detected with 80 % power; None if decided or unknown
    identical_runs_note : the reason if A and B are the same log or have the same scores on every question; else None
    identified_range : smallest and largest difference on these questions, if trials without a score may have any score;
        None if the difference is known. The difference is then that without these trials
    info : description of the method of both scores, if the difference was computed from them
    in_points : whether differences are stated in percentage points; not part of the JSON form
    messages : notes, warnings, and why there is no difference
    """

    json_properties: ClassVar = ("status",)

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
    n_additional_questions: int | None = None
    prob_positive: float | None = None
    odds_ratio: float | None = None
    correlation: float | None = None
    table: PairedCounts | None = None
    n_matched: int | None = None
    n_unmatched_a: int | None = None
    n_unmatched_b: int | None = None
    n_trials: int | None = None
    n_clusters: int | None = None
    cluster_key: str | None = None
    variance_reduction: float | None = None
    margin: float = 0.0
    minimum_detectable_effect: float | None = None
    prob_noninferior: float | None = None
    p_value: float | None = None
    verdict_adjusted: Verdict | None = None
    verdict_p_adjusted: float | None = None
    higher_is_better: bool = True
    identical_runs_note: str | None = None
    identified_range: tuple[float, float] | None = None
    in_points: bool = field(default=True, repr=False, compare=False, metadata=INTERNAL)
    posterior: Posterior | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)
    info: MethodInfo | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)
    messages: tuple[Message, ...] = ()

    @property
    def status(self) -> Status:
        """`ok`, `not_estimable` (`reason` says why) or `failed` (an unexpected error)."""
        return status_of(self.messages, has_result=self.difference is not None)

    @property
    def headline_verdict(self) -> Verdict:
        """The verdict after correction for all tasks, or the verdict alone if no correction was made."""
        return self.verdict_adjusted or self.verdict

    @property
    def key(self) -> tuple[str, str, str]:
        """Task, metric and filter."""
        return self.task, self.metric, self.filter

    @property
    def depends_on_missing(self) -> bool:
        """Whether the verdict depends on how trials without a score are counted (UQ207)."""
        return any(message.code == VERDICT_DEPENDS_ON_MISSING.code for message in self.warnings)

    @property
    def answer(self) -> str:
        """The verdict as a sentence, whether it depends on missing scores, and the next step."""
        caveat = "The verdict depends on how missing scores are counted." if self.depends_on_missing else ""
        return " ".join(text for text in (self.verdict_text, caveat, self.next_step) if text)
