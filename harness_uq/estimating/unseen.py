"""Kinds of questions that a sample happens not to hold: what they would do to the score."""

from harness_uq.estimating.finding import Finding
from harness_uq.logs.data import FloatArray
from harness_uq.plugins.protocols import Problem

FEW_QUESTIONS = 10
WELL_OUTSIDE = 0.1


def unseen_kind(problem: Problem, found: Finding, successes: FloatArray, trials: FloatArray) -> tuple[str, ...]:
    """A warning where questions that always fail, or always succeed, may have been missed and would move the score out.

    Of T questions without one such, up to u = 1 - (1 - level)^(1/T) may be of that kind ("the rule of three"); the
    score p would then be p (1 - u), or p + (1 - p) u. Said where that lies well outside of the interval (a tenth of its
    width), and of the kind that would move it farther; under ten questions the interval is said to rest on its prior.

    Parameters
    ----------
    successes, trials : (T,) right answers and trials by question, of independent questions
    """
    if problem.structure.n_clusters is not None or trials.max() < 2 or len(trials) < FEW_QUESTIONS:
        return ()
    score, interval = found.value, found.interval
    clear = WELL_OUTSIDE * (interval.high - interval.low)
    share = 1 - (1 - problem.level) ** (1 / len(trials))
    if score >= 0.5:
        moved, is_seen, fate, end = score * (1 - share), (successes == 0).any(), "failed", interval.low
        is_outside = moved < end - clear
    else:
        moved, is_seen, fate, end = score + (1 - score) * share, (successes == trials).any(), "succeeded", interval.high
        is_outside = moved > end + clear
    if is_seen or not is_outside:
        return ()
    return (
        f"no question of the {len(trials)} {fate} in every trial; up to {share:.0%} of the questions of the kind may, "
        f"without one being among {len(trials)}, and the score would then be {moved:.2f}: the interval, which ends at "
        f"{end:.2f}, takes it that there are none",
    )
