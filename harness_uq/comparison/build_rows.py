"""Convert a posterior of A - B to a `Comparison` with an interval, probabilities and a verdict."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.alignment.panel import Panel
from harness_uq.comparison.decisions import verdict_of
from harness_uq.comparison.verdicts import VerdictInputs, next_step
from harness_uq.data.arrays import FloatArray
from harness_uq.data.selection import ScoreKey
from harness_uq.errors import NotEstimableError
from harness_uq.inference.contrasts import Contrast
from harness_uq.messages.catalogue.comparison import TOO_FEW_QUESTIONS_COMPARED, ZERO_WIDTH_DIFFERENCE
from harness_uq.messages.catalogue.estimation import INTERVAL_EXCEEDS_RANGE
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison, Difference, PairedCounts
from harness_uq.results.estimate import Interval, Posterior
from harness_uq.stats.pairs.paired_frequentist import score_correlation, variance_reduction

_FEWEST = 2


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonContext:
    """The contents of a comparison other than the difference.

    Attributes
    ----------
    key : task, metric and filter
    names : names of A and B
    values : observed scores of A and B; None if unknown
    panel : the matched questions; None if no questions match, or if they have no scores of their own
    others : further attributes, as in `Comparison`
    """

    key: ScoreKey
    names: tuple[str, str]
    values: tuple[float | None, float | None]
    higher_is_better: bool
    bounds: tuple[float, float] | None = None
    panel: Panel | None = None
    n_matched: int | None = None
    n_unmatched: tuple[int | None, int | None] = (None, None)
    n_trials: int | None = None
    cluster_key: str | None = None
    n_clusters: int | None = None
    messages: tuple[Message, ...] = ()


def comparison_row(result: Contrast, context: ComparisonContext, options: Options) -> Comparison:
    """Build the comparison from a posterior of A - B."""
    posterior, panel = result.posterior, context.panel
    low, high = posterior.interval(options.level)
    if not high > low:
        return undecided_row(context, options, ZERO_WIDTH_DIFFERENCE())
    if (n := _n_questions(context)) is not None and n < _FEWEST:
        return undecided_row(context, options, TOO_FEW_QUESTIONS_COMPARED(n_questions=n))
    value_a, value_b = context.values
    plain = posterior.mean if value_a is None or value_b is None else value_a - value_b
    low, high = result.interval(options.level, plain)
    detectable = result.detectable(options.level, options.power)
    evidence = replace(_evidence(low, high, detectable, context, options), seen=plain)
    verdict, text = verdict_of(evidence)
    is_open = verdict == "undecided"
    return Comparison(
        task=context.key[0],
        metric=context.key[1],
        filter=context.key[2],
        system_a=context.names[0],
        system_b=context.names[1],
        scope=options.scope,
        method=result.method,
        value_a=value_a,
        value_b=value_b,
        difference=Difference(plain, result.std_error, Interval(low, high, options.level, result.kind)),
        verdict=verdict,
        verdict_corrected=verdict,
        verdict_text=text,
        next_step=next_step(evidence) if is_open else "",
        n_additional_questions=evidence.n_more if is_open else None,
        prob_positive=result.prob_positive,
        odds_ratio=result.odds_ratio,
        correlation=_pair_statistic(score_correlation, panel),
        table=PairedCounts(*panel.table) if panel and panel.table else None,
        n_matched=panel.n_questions if panel else context.n_matched,
        n_unmatched_a=context.n_unmatched[0],
        n_unmatched_b=context.n_unmatched[1],
        n_trials=context.n_trials,
        n_clusters=panel.n_units if panel else context.n_clusters,
        cluster_key=context.cluster_key,
        variance_reduction=_pair_statistic(variance_reduction, panel) if options.scope == "population" else None,
        margin=options.margin_of(context.key[0]),
        minimum_detectable_effect=detectable,
        prob_noninferior=prob_noninferior(
            posterior, options.margin_of(context.key[0]), higher_is_better=context.higher_is_better
        ),
        p_value=result.p_value,
        higher_is_better=context.higher_is_better,
        in_points=context.bounds == (0.0, 1.0),
        posterior=posterior,
        info=result.info,
        messages=distinct((*result.messages, *_beyond_range(low, high, context.bounds), *context.messages)),
    )


def _beyond_range(low: float, high: float, bounds: tuple[float, float] | None) -> tuple[Message, ...]:
    """A note if the interval contains differences that scores within their bounds cannot have."""
    largest = np.inf if bounds is None else bounds[1] - bounds[0]
    is_within = -largest <= low and high <= largest
    return () if is_within else (INTERVAL_EXCEEDS_RANGE(low=-largest, high=largest),)


def _pair_statistic(statistic: Callable[[FloatArray, FloatArray], float], panel: Panel | None) -> float | None:
    """Compute a statistic of the two systems' scores of each question; None if the scores are constant or unmatched."""
    if panel is None:
        return None
    try:
        return statistic(panel.means[0], panel.means[1])
    except NotEstimableError:
        return None


def undecided_row(context: ComparisonContext, options: Options, reason: Message) -> Comparison:
    """Build a comparison without a difference; its messages give the reason."""
    a, b = context.names
    return Comparison(
        task=context.key[0],
        metric=context.key[1],
        filter=context.key[2],
        system_a=a,
        system_b=b,
        scope=options.scope,
        method="not estimable",
        value_a=context.values[0],
        value_b=context.values[1],
        difference=None,
        verdict="undecided",
        verdict_corrected="undecided",
        verdict_text=f"The difference between {a} and {b} is not estimable: {reason.text}",
        n_matched=context.panel.n_questions if context.panel else context.n_matched,
        margin=options.margin_of(context.key[0]),
        higher_is_better=context.higher_is_better,
        messages=(reason, *context.messages),
    )


def prob_noninferior(posterior: Posterior, margin: float, *, higher_is_better: bool) -> float:
    """P(A is not worse than B by more than the margin | data); for method `t`, the one-sided p-value of that test."""
    if higher_is_better:
        return 1.0 - float(posterior.cdf(-margin))
    return float(posterior.cdf(margin))


def _evidence(
    low: float, high: float, detectable: float, context: ComparisonContext, options: Options
) -> VerdictInputs:
    sign = 1.0 if context.higher_is_better else -1.0
    return VerdictInputs(
        low=min(sign * low, sign * high),
        high=max(sign * low, sign * high),
        name_a=context.names[0],
        name_b=context.names[1],
        margin=options.margin_of(context.key[0]),
        detectable=detectable,
        power=options.power,
        in_points=context.bounds == (0.0, 1.0),
        n_questions=_n_questions(context) if options.scope == "population" else None,
    )


def _n_questions(context: ComparisonContext) -> int | None:
    """Number of questions compared; if questions are not matched, the number in the smaller run."""
    if context.panel is not None:
        return context.panel.n_questions
    known = [n for n in context.n_unmatched if n is not None]
    return context.n_matched or (min(known) if len(known) == 2 else None)
