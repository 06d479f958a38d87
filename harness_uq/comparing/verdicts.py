"""What a comparison comes to: one of four verdicts, and a sentence that a reader can act on.

With the advantage of A over B in an interval [low, high] and a margin m >= 0, the smallest difference that matters:

    too close to call   -m < low and high < m     whatever difference there is, is smaller than the margin
    better              0 < low                   (and high >= m)
    not better          high < m, or high < 0     A is not better by more than the margin; it may be worse
    could not tell      everything else           better and not better are both still possible

An interval that ends exactly at a limit has not passed it. Without a margin nothing is too close to call: no amount of
data shows that two systems are equal.
"""

from dataclasses import dataclass

from harness_uq.results.comparison import Verdict
from harness_uq.results.points import amount, number


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict rests on.

    Attributes
    ----------
    low, high : interval of the advantage of `name_a`: its score less the other's, or the reverse where lower is better
    margin : smallest difference that matters, >= 0
    detectable : difference that these data would have shown with probability `power`; None where unknown
    in_points : scores lie in [0, 1], and differences are told in hundredths
    """

    low: float
    high: float
    name_a: str
    name_b: str
    margin: float = 0.0
    detectable: float | None = None
    power: float = 0.8
    in_points: bool = True


def judge(evidence: Evidence) -> tuple[Verdict, str]:
    """The verdict and its sentence.

    >>> judge(Evidence(0.012, 0.061, "new", "old"))
    ('better', 'new is better than old, by 1.2 to 6.1 points.')
    >>> judge(Evidence(-0.087, 0.031, "new", "old", detectable=0.084))[0]
    'could not tell'
    """
    low, high, margin = evidence.low, evidence.high, evidence.margin
    if -margin < low and high < margin:
        return "too close to call", _too_close(evidence)
    if low > 0:
        return "better", _better(evidence.name_a, evidence.name_b, low, high, evidence)
    if high < 0:
        return "not better", _better(evidence.name_b, evidence.name_a, -high, -low, evidence)
    if high < margin:
        return "not better", _not_better(evidence)
    return "could not tell", _could_not_tell(evidence)


def _span(low: float, high: float, evidence: Evidence) -> str:
    return f"{number(low, in_points=evidence.in_points)} to {amount(high, in_points=evidence.in_points)}"


def _margin(evidence: Evidence) -> str:
    return f"the margin of {amount(evidence.margin, in_points=evidence.in_points)}"


def _better(winner: str, loser: str, low: float, high: float, evidence: Evidence) -> str:
    sentence = f"{winner} is better than {loser}, by {_span(low, high, evidence)}"
    if not evidence.margin:
        return f"{sentence}."
    if low > evidence.margin:
        return f"{sentence}: more than {_margin(evidence)}."
    return f"{sentence}; whether by more than {_margin(evidence)} is open."


def _too_close(evidence: Evidence) -> str:
    low, high = evidence.low, evidence.high
    ahead = evidence.name_a if low > 0 else evidence.name_b if high < 0 else None
    reason = f"{ahead} is ahead, but by less than" if ahead else "whatever difference there is, it is smaller than"
    return f"Too close to call: {reason} {_margin(evidence)}. Choose by cost, speed or another test."


def _not_better(evidence: Evidence) -> str:
    worse = amount(-evidence.low, in_points=evidence.in_points)
    return (
        f"{evidence.name_a} is not better than {evidence.name_b} by more than {_margin(evidence)}; "
        f"it may be worse by up to {worse}. There is no reason here to prefer it."
    )


def _could_not_tell(evidence: Evidence) -> str:
    a, b = evidence.name_a, evidence.name_b
    gain, loss = (amount(x, in_points=evidence.in_points) for x in (max(evidence.high, 0.0), max(-evidence.low, 0.0)))
    sentences = [f"These data could not tell {a} from {b}: {a} may be up to {gain} better or {loss} worse."]
    if evidence.margin and evidence.low > -evidence.margin:
        sentences = [
            f"{a} is not worse than {b} by more than {_margin(evidence)}, but these data could not tell whether it is "
            f"better: it may be up to {gain} better or {loss} worse."
        ]
    if evidence.detectable is not None:
        smallest = amount(evidence.detectable, in_points=evidence.in_points)
        sentences.append(
            f"Only a difference of {smallest} or more would have shown, in {100 * evidence.power:g} of 100 such runs. "
            "For smaller ones run more questions: `harness-uq plan` says how many."
        )
    return " ".join(sentences)
