"""A new system against a baseline, for a pipeline: passed, failed or undecided; and how such a gate does on equals."""

from dataclasses import dataclass
from typing import Literal

from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Interval, finite_or_none

Decision = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, slots=True)
class GateRow:
    """One score of the gate.

    Attributes
    ----------
    comparison : the new system (A) against the baseline (B), whose `margin` is that of the score
    decision : `fail`: worse than the baseline by more than the margin, allowing for the number of scores; `pass`: not
        worse by more than the margin; `undecided`: neither is shown
    is_needed : the gate passes only where this row does
    adjusted_p : of the hypothesis that the new system is not worse by more than the margin, by Holm over all rows
    pass_power : probability with which a system as good as the baseline would have passed; None where unknown
    failing_drop : drop below the baseline that would have failed with 80 % power; None where unknown
    n_more_questions : of the same make-up, with which an equal would pass in 80 of 100 runs; None where it does, or
        where their number is unknown
    can_fail : whether the worst possible scores would have failed; None where the range of scores is unknown
    """

    comparison: Comparison
    decision: Decision
    is_needed: bool
    adjusted_p: float | None = None
    pass_power: float | None = None
    failing_drop: float | None = None
    n_more_questions: int | None = None
    can_fail: bool | None = None

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form: the comparison's, and what the gate adds."""
        return {
            **self.comparison.to_dict(),
            "decision": self.decision,
            "is_needed": self.is_needed,
            "adjusted_p": finite_or_none(self.adjusted_p),
            "pass_power": finite_or_none(self.pass_power),
            "failing_drop": finite_or_none(self.failing_drop),
            "n_more_questions": self.n_more_questions,
            "can_fail": self.can_fail,
        }


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate comes to.

    Attributes
    ----------
    decision : `fail` where any row fails; `pass` where every row that is needed passes and no task is missing
    alpha : promised largest chance of a failure where no score is worse by more than its margin, and of a pass where
        one that is needed is; each is tested at half of it
    rows : one a score
    missing : task, metric and filter of the baseline that the new runs lack
    notes : on what was compared
    """

    decision: Decision
    alpha: float
    rows: tuple[GateRow, ...]
    missing: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def can_fail(self) -> bool:
        """Whether any score could have failed, as far as is known."""
        return any(row.can_fail is not False for row in self.rows)

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form: missing is None, never NaN."""
        return {
            "decision": self.decision,
            "alpha": self.alpha,
            "can_fail": self.can_fail,
            "missing": [{"task": task, "metric": metric, "filter": name} for task, metric, name in self.missing],
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class SelfTest:
    """How often a gate fails systems that are equal, since both sides are runs of one.

    Attributes
    ----------
    kind : how one system became two sides: `runs`, `epochs` or `halves`
    n, n_failed, n_passed : gates, and how they came out
    rate : Clopper-Pearson interval of the rate of failures
    alpha : what the gate promises of it
    systems : whose logs
    """

    kind: str
    n: int
    n_failed: int
    n_passed: int
    rate: Interval
    alpha: float
    systems: tuple[str, ...]

    @property
    def is_kept(self) -> bool:
        """Whether the rate may be what the gate promises."""
        return self.rate.low <= self.alpha

    def to_dict(self) -> dict[str, object]:
        """JSON-ready form."""
        return {
            "kind": self.kind,
            "n": self.n,
            "n_failed": self.n_failed,
            "n_passed": self.n_passed,
            "rate": self.n_failed / self.n,
            "interval": self.rate.to_dict(),
            "alpha": self.alpha,
            "systems": list(self.systems),
        }
