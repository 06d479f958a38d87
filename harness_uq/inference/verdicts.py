"""The verdict of a comparison (one of four) and a sentence that explains it.

With the advantage of A over B in an interval [low, high] and a margin m >= 0, the smallest difference that matters:

    equivalent   -m < low and high < m     any difference is smaller than the margin
    better       0 < low                   (and high >= m)
    worse        high < 0                  (and low <= -m)
    undecided    everything else           the sentence states what the data do show

The inequalities are strict: an interval that ends exactly at a limit does not satisfy them. Without a margin, the
verdict is never `equivalent`, because no amount of data shows that two systems are equal.
"""

import math
from dataclasses import dataclass

from harness_uq.output.words import amount, difference_number
from harness_uq.results.comparison import Verdict


@dataclass(frozen=True, slots=True)
class VerdictInputs:
    """The inputs of a verdict.

    `low`, `high`: interval of the advantage of `name_a`: its score minus the other's, with the sign reversed if lower
    is better. `margin`: smallest difference that matters, >= 0. `detectable`: difference that these data detect with
    probability `power`; None if unknown. `in_points`: whether scores lie in [0, 1] and differences are reported in
    percentage points. `seen`: difference of the observed scores; 0 if it is not informative about the difference to
    detect. `n_questions`: number of questions compared; None if it is unknown or if more questions would not help.
    `n_needed`: number of questions that detect the difference `sought` with probability `power`; None if unknown.
    """

    low: float
    high: float
    name_a: str
    name_b: str
    margin: float = 0.0
    detectable: float | None = None
    power: float = 0.8
    in_points: bool = True
    seen: float = 0.0
    n_questions: int | None = None
    n_needed: int | None = None

    @property
    def sought(self) -> float:
        """The difference to detect: the margin or, without a margin, the observed difference; >= 0."""
        return self.margin or abs(self.seen)

    @property
    def stated_margin(self) -> str:
        """The margin in words, such as `the margin of 2 points`."""
        return f"the margin of {amount(self.margin, in_points=self.in_points)}"

    @property
    def n_more(self) -> int | None:
        """Number of additional questions of the same composition needed to detect `sought` with probability `power`.

        It is rounded up to two digits. It is None if unknown, or if the data already suffice to detect this difference.
        """
        if self.n_needed is None or self.n_questions is None or self.n_needed <= self.n_questions:
            return None
        return _rounded_up(self.n_needed - self.n_questions)


def verdict_sentence(verdict: Verdict, evidence: VerdictInputs) -> str:
    """Return a sentence that states the verdict, or what the data do show."""
    low, high = evidence.low, evidence.high
    if verdict == "equivalent":
        return _equivalent(evidence)
    if verdict == "better":
        return _better(evidence.name_a, evidence.name_b, low, high, evidence)
    if verdict == "worse":
        return _better(evidence.name_b, evidence.name_a, -high, -low, evidence)
    return _not_better(evidence) if high < evidence.margin else _undecided(evidence)


def _better(winner: str, loser: str, low: float, high: float, evidence: VerdictInputs) -> str:
    lowest, highest = difference_number(low, in_points=evidence.in_points), amount(high, in_points=evidence.in_points)
    sentence = f"{winner} is better than {loser}, by {lowest} to {highest}"
    if not evidence.margin:
        return f"{sentence}."
    if low > evidence.margin:
        return f"{sentence}: more than {evidence.stated_margin}."
    return f"{sentence}; whether by more than {evidence.stated_margin} is open."


def _equivalent(evidence: VerdictInputs) -> str:
    low, high = evidence.low, evidence.high
    ahead = evidence.name_a if low > 0 else evidence.name_b if high < 0 else None
    reason = f"{ahead} is ahead, but by less than" if ahead else "whatever difference there is, it is smaller than"
    return (
        f"{evidence.name_a} and {evidence.name_b} are equivalent: {reason} {evidence.stated_margin}. "
        "Choose by cost, speed or another test."
    )


def _not_better(evidence: VerdictInputs) -> str:
    worse = amount(-evidence.low, in_points=evidence.in_points)
    return (
        f"{evidence.name_a} is not better than {evidence.name_b} by more than {evidence.stated_margin}; "
        f"it may be worse by up to {worse}, so there is no reason to prefer it."
    )


def _undecided(evidence: VerdictInputs) -> str:
    a, b = evidence.name_a, evidence.name_b
    gain, loss = (amount(x, in_points=evidence.in_points) for x in (max(evidence.high, 0.0), max(-evidence.low, 0.0)))
    if evidence.margin and evidence.low > -evidence.margin:
        return (
            f"{a} is not worse than {b} by more than {evidence.stated_margin}, but the data do not show whether it is "
            f"better: it may be up to {gain} better or {loss} worse."
        )
    return f"{a} may be up to {gain} better or {loss} worse than {b}: the data do not show which is better."


def next_step(evidence: VerdictInputs) -> str:
    """Return a sentence that states how much more data an undecided comparison needs.

    >>> next_step(VerdictInputs(-0.02, 0.06, "new", "old", detectable=0.06, seen=0.02, n_questions=500,
    ...                         n_needed=4500))
    'With 80 % probability, such runs detect a true difference of 6 points; detecting the observed difference of 2
    points takes about 4,000 more questions.'
    """
    if evidence.detectable is None:
        return ""
    detectable, sought = (amount(x, in_points=evidence.in_points) for x in (evidence.detectable, evidence.sought))
    sentence = f"With {100 * evidence.power:g} % probability, such runs detect a true difference of {detectable}"
    if (n := evidence.n_more) is None:
        return f"{sentence}. Smaller differences need more data; `harness-uq plan` computes how much."
    which = "the margin" if evidence.margin else "the observed difference"
    return f"{sentence}; detecting {which} of {sought} takes about {n:,} more question{'s' if n > 1 else ''}."


def _rounded_up(x: float) -> int:
    """Round up to two significant digits; at least 1."""
    step: int = 10 ** max(0, len(str(math.ceil(x))) - 2)
    return max(1, step * math.ceil(x / step))
