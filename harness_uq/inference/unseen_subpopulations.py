"""Assess the effect of subpopulations of questions that are missing from the sample by chance."""

from harness_uq.data.task_log import FloatArray
from harness_uq.inference.method import MethodResult
from harness_uq.io.plugins.protocols import Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import POSSIBLE_RARE_LOSSES, RARE_LOSSES
from harness_uq.messages.catalogue.estimation import UNSEEN_SUBPOPULATION
from harness_uq.stats.units.rare_losses import RareLoss

FEW_QUESTIONS = 10
WELL_OUTSIDE = 0.1


def rule_of_three_warning(
    problem: Problem, result: MethodResult, successes: FloatArray, trials: FloatArray
) -> tuple[Message, ...]:
    """Warn if an unseen subpopulation that always fails, or always succeeds, could move the score out of the interval.

    If none of T questions belongs to such a subpopulation, its share may be up to u = 1 - (1 - level)^(1/T) ("rule of
    three"). The score p would then be p (1 - u) or p + (1 - p) u. The function warns if this is outside of the interval
    by more than a tenth of its width, and reports the subpopulation with the larger effect. With fewer than ten
    questions, the message states that the interval depends on its prior. `successes`, `trials`: (T,) correct answers
    and trials of each question; questions are independent.
    """
    if problem.structure.n_clusters is not None or trials.max() < 2 or len(trials) < FEW_QUESTIONS:
        return ()
    score, interval = result.value, result.interval
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
    return (UNSEEN_SUBPOPULATION(n_questions=len(trials), outcome=fate, share=share, score=moved, end=end),)


def rare_loss_messages(
    loss: RareLoss | None, half_width: float, *, quantity: str, is_clustered: bool
) -> tuple[Message, ...]:
    """State what a sample of this size cannot show: a warning if it would move the mean out of the interval.

    A note if the shift exceeds a quarter of half of the interval. `loss` is None if the sample suggests such scores,
    and `quantity` is `score` or `difference`.
    """
    if loss is None or not loss.matters(half_width):
        return ()
    message = RARE_LOSSES if loss.shift > half_width else POSSIBLE_RARE_LOSSES
    return (
        message(
            n_units=loss.n_units,
            unit="cluster" if is_clustered else "question",
            quantity=quantity,
            largest=loss.largest,
            share=loss.share,
            end=loss.end,
            direction="lower" if loss.end < loss.mean else "higher",
            shift=loss.shift,
            half_width=half_width,
        ),
    )
