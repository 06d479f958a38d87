"""Decision whether a new system passes against a baseline, and the self-test of this decision."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from harness_uq.messages import HasMessages, Message
from harness_uq.results.comparison import Comparison
from harness_uq.results.declaration import INLINE, Declared
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.flipped_questions import FlippedQuestions

Decision = Literal["pass", "fail", "undecided"]
RequirementKind = Literal["at_least", "at_most"]


@dataclass(frozen=True, slots=True)
class GateRow(Declared):
    """Decision on one score.

    Attributes
    ----------
    comparison : comparison of the new system (A) with the baseline (B), with the margin of this score
    decision : `fail` if the new system is worse than the baseline by more than the margin, with correction for the
        number of scores; `pass` if it is not worse by more than the margin; `undecided` if neither can be concluded
    is_needed : whether the gate passes only if this row passes
    adjusted_p : p-value, adjusted by Holm's method over all rows, of the hypothesis that the new system is not worse
        than the baseline by more than the margin
    unadjusted_p : the same without the adjustment
    power_to_pass : probability that a system as good as the baseline would pass; None if unknown
    minimum_failing_drop : drop below the baseline that would fail with 80 % power; None if unknown
    n_additional_questions : number of further questions with which a system as good as the baseline would pass with
        80 % probability; None if none are necessary, or if the number is unknown
    can_fail : whether the worst possible scores would fail; None if the range of the scores is unknown
    improve_by : required improvement, if the new system must be better than the baseline. `decision` is then `pass` if
        it is better by more, and `fail` if it is better by less or worse; None if it must not be worse by more than the
        margin
    n_new_runs, n_baseline_runs : numbers of runs of the new system and of the baseline, whose variation is part of the
        decision if either is larger than 1
    std_error_questions, std_error_runs : standard error of the difference due to the questions and their answers, and
        due to differences between whole runs; None if each system has one run
    n_additional_runs : number of further runs of the baseline with which a system as good as the baseline would pass
        with 80 % probability; None if none are necessary, or if the number is unknown
    """

    comparison: Comparison = field(metadata=INLINE)
    decision: Decision
    is_needed: bool
    adjusted_p: float | None = None
    unadjusted_p: float | None = None
    power_to_pass: float | None = None
    minimum_failing_drop: float | None = None
    n_additional_questions: int | None = None
    can_fail: bool | None = None
    improve_by: float | None = None
    n_new_runs: int = 1
    n_baseline_runs: int = 1
    std_error_questions: float | None = None
    std_error_runs: float | None = None
    n_additional_runs: int | None = None


@dataclass(frozen=True, slots=True)
class RequirementRow(Declared):
    """Decision on a required bound of one score.

    Attributes
    ----------
    estimate : estimate of the score
    requirement : `at_least` or `at_most`
    bound : bound that the score must reach, or must not exceed
    decision : `pass` if the data show that the requirement is met, `fail` if they show that it is violated, with
        correction for the number of tests; `undecided` if neither can be concluded
    p_met : p-value of the hypothesis that the requirement is violated
    adjusted_p : p-value of the hypothesis that the requirement is met, adjusted by Holm's method over all tests
    unadjusted_p : the same without the adjustment
    n_to_decide : number of further questions with which a true score equal to the observed one would be decided with
        80 % probability; None if it is unknown
    """

    estimate: Estimate = field(metadata=INLINE)
    requirement: RequirementKind
    bound: float
    decision: Decision
    p_met: float | None = None
    adjusted_p: float | None = None
    unadjusted_p: float | None = None
    n_to_decide: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreName:
    """The task, metric and filter of a score."""

    task: str
    metric: str
    filter: str


@dataclass(frozen=True, slots=True)
class Gate(Declared, HasMessages):
    """Decision of a gate over all scores.

    Attributes
    ----------
    decision : `fail` if any row or requirement fails; `pass` if every required row and every requirement passes and no
        task is missing
    alpha : upper bound of the error rates: of a failure if no score is worse by more than its margin, and of a pass if
        a required score is
    rows : one row per score that is compared with the baseline; empty without a baseline
    requirements : one row per score with a required bound
    missing : task, metric and filter of scores of the baseline that the new runs lack
    flipped : questions whose answers changed, for each score of right and wrong answers
    messages : notes and warnings
    """

    json_properties: ClassVar = ("can_fail",)
    record_rows: ClassVar = "rows"
    not_in_records: ClassVar = ("requirements", "flipped")
    record_prefix: ClassVar = "gate_"

    decision: Decision
    alpha: float
    rows: tuple[GateRow, ...]
    missing: tuple[ScoreName, ...] = ()
    requirements: tuple[RequirementRow, ...] = ()
    flipped: tuple[FlippedQuestions, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def can_fail(self) -> bool:
        """Whether any score could have failed; True if this is unknown."""
        return bool(self.requirements) or any(row.can_fail is not False for row in self.rows)


@dataclass(frozen=True, slots=True)
class SelfTest(Declared):
    """How often a gate fails a system that is compared with itself.

    Attributes
    ----------
    kind : how the data of one system are divided into two sides: `runs`, `epochs` or `halves`
    n, n_failed, n_passed : numbers of simulated gates, of failed gates and of passed gates
    interval : Clopper-Pearson interval of the failure rate
    alpha : nominal failure rate
    systems : systems whose logs were used
    """

    json_properties: ClassVar = ("rate",)

    kind: str
    n: int
    n_failed: int
    n_passed: int
    interval: Interval
    alpha: float
    systems: tuple[str, ...]

    @property
    def rate(self) -> float:
        """Share of the gates that failed."""
        return self.n_failed / self.n

    @property
    def is_within_alpha(self) -> bool:
        """Whether the interval of the failure rate is compatible with a rate of at most alpha."""
        return self.interval.low <= self.alpha
