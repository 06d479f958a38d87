"""The difference of the scores of two systems: which method applies, its posterior, and the row of the result.

A contrast refers to a panel with two systems A and B, or to two estimates without common questions.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from harness_uq.data.arrays import FloatArray
from harness_uq.data.estimands import MethodInfo
from harness_uq.data.panel import Panel, failed_for_other
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.data.task_log import IntArray, Scores
from harness_uq.inference.decisions import interval_of_test, verdict_of, with_interval
from harness_uq.inference.marginals import posterior_of
from harness_uq.inference.unseen_subpopulations import rare_loss_messages
from harness_uq.inference.verdicts import VerdictInputs, next_step
from harness_uq.messages.catalogue.comparison import (
    LATENT_NORMAL_REPLACED,
    OWN_QUESTIONS_USED,
    STUDENT_DISTRIBUTION,
    TOO_FEW_QUESTIONS_COMPARED,
)
from harness_uq.messages.catalogue.estimation import FEW_CLUSTERS, INTERVAL_EXCEEDS_RANGE, ZERO_WIDTH_INTERVAL
from harness_uq.messages.errors import NotEstimableError
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison, Difference, PairedCounts
from harness_uq.results.estimate import Estimate, Interval, IntervalKind, Posterior
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.common.posterior import BetaPosterior
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.stats.design.paired_power import PairedDesign, WidthRatio
from harness_uq.stats.pairs.independent import IndependentPosterior, difference_posterior
from harness_uq.stats.pairs.paired import paired_posterior
from harness_uq.stats.pairs.paired_frequentist import mcnemar_test, paired_t, pairing_gain
from harness_uq.stats.pairs.partial_overlap import partial_overlap
from harness_uq.stats.units.contrasts import (
    DirichletCellsPosterior,
    PairedDifferences,
    contrast_posteriors,
    rare_loss_of_differences,
)
from harness_uq.stats.units.rare_losses import RareLoss

_PROPORTION_METHODS = ("beta", "totals")
_FEWEST_QUESTIONS = 2  # of which a difference is estimated
_FEW_UNITS = 10  # with fewer clusters, a warning says that the interval is unreliable
_WORTHWHILE = 0.9  # largest ratio of standard errors at which own questions are used


@dataclass(frozen=True, slots=True)
class Contrast:
    """A posterior of A - B, or a t distribution that is used as its confidence distribution.

    `odds_ratio`: posterior median of the odds ratio; None if not available. `p_value`: p-value of the two-sided test of
    no difference; None if not available. `messages`: reasons for choosing this method. `info`: description of the
    method of both scores, if the difference was computed from them. `values`: scores of A and B that it is the
    difference of, if these are not the scores on the common questions. `rare_loss`: rare differences that the sample
    would probably not contain; None if it suggests them. `observed`: variance and units of the differences of the
    questions; None if they do not determine the power.
    """

    posterior: Posterior
    method: str
    kind: IntervalKind = "quantile"
    odds_ratio: float | None = None
    p_value: float | None = None
    messages: tuple[Message, ...] = ()
    info: MethodInfo | None = None
    values: tuple[float, float] | None = None
    rare_loss: RareLoss | None = None
    observed: PairedDesign | None = None

    @property
    def std_error(self) -> float:
        """Standard error of the difference."""
        return std_error_of(self.posterior)

    @property
    def prob_positive(self) -> float | None:
        """P(A > B | data); None if the interval is a confidence interval."""
        if self.kind == "confidence":
            return None
        return float(getattr(self.posterior, "prob_positive", 1.0 - float(self.posterior.cdf(0.0))))

    def interval(self, level: float, value: float) -> tuple[float, float]:
        """Return the interval, extended to the observed difference.

        An equal-tailed interval of a few questions can exclude an observed difference at the end of its range.
        """
        low, high = self.posterior.interval(level)
        return min(low, value), max(high, value)

    def design(self, level: float, value: float, n_questions: int) -> PairedDesign:
        """What determines the power of comparisons of this kind, see `PairedDesign`.

        Without the standard error of the questions' differences it follows from that of the posterior.
        """
        posterior, per_question = self.posterior, n_questions * self.std_error**2
        if self.observed is None:
            df = posterior.df if isinstance(posterior, StudentPosterior) else math.inf
            return PairedDesign(per_question, n_questions / (df + 1) if math.isfinite(df) else None)
        if self.observed.discordant is not None or self.kind == "confidence":
            return self.observed
        low, high = posterior.interval(level)
        units = n_questions / (self.observed.cluster_size or 1.0)
        half = float(special.stdtrit(units - 1, (1 + level) / 2)) * math.sqrt(self.observed.variance / n_questions)
        ratio = max((value - low if value >= 0 else high - value) / half, 1.0)
        return replace(self.observed, width_ratio=WidthRatio(ratios=(ratio,)))


def std_error_of(posterior: Posterior) -> float:
    """Return the scale of a Student t posterior, otherwise the posterior standard deviation."""
    return posterior.std_error if isinstance(posterior, StudentPosterior) else posterior.sd


def paired_contrast(panel: Panel, method: str = "bayes") -> Contrast:
    """Estimate the difference on the population of questions from the questions that both systems answered. Raises
    NotEstimableError if the data are insufficient, such as one question with an unbounded score.
    """
    if method == "t" or panel.bounds is None:
        return _student(panel, () if method == "t" else (STUDENT_DISTRIBUTION(result="interval for the difference"),))
    if method == "latent-normal":
        if panel.is_single_binary and panel.units is None and panel.weights is None and (table := panel.table):
            posterior = paired_posterior(table, "latent_normal")
            return Contrast(posterior, "latent-normal", p_value=mcnemar_test(table))
        return _dirichlet(panel, panel.bounds, (LATENT_NORMAL_REPLACED(),))
    return _dirichlet(panel, panel.bounds, (), is_robust=method == "robust")


def _dirichlet(
    panel: Panel, bounds: tuple[float, float], messages: tuple[Message, ...], *, is_robust: bool = False
) -> Contrast:
    n_answers = panel.n_questions * panel.n_repeated if panel.has_repeated_answers else None
    pair = PairedDifferences(panel.differences, *bounds, panel.units, panel.weights, n_answers, is_robust)
    (posterior,) = contrast_posteriors([pair])
    if (table := panel.table) is not None and isinstance(posterior, DirichletCellsPosterior):
        ratio = float(posterior.odds_ratio_quantile(0.5))
        share = float(np.mean(panel.differences != 0))
        counted = PairedDesign(share, discordant=share)
        p_value = mcnemar_test(table)
        return Contrast(posterior, "dirichlet", odds_ratio=ratio, p_value=p_value, messages=messages, observed=counted)
    name = "dirichlet-process" if panel.units is None else "clustered-dirichlet-process"
    name = "robust" if is_robust else name
    try:
        student: Contrast | None = _student(panel, ())
    except NotEstimableError:
        student = None
    loss = None if is_robust else rare_loss_of_differences(pair)
    return Contrast(
        posterior,
        name,
        p_value=None if student is None else student.p_value,
        messages=messages,
        rare_loss=loss,
        observed=None if student is None else student.observed,
    )


def _student(panel: Panel, messages: tuple[Message, ...]) -> Contrast:
    fit = cluster_robust(panel.differences, panel.labels, weights=panel.weights)
    name = "t" if panel.units is None else "clustered-t"
    t = fit.posterior
    p_value = float(2 * special.stdtr(t.df, -abs(t.mean) / t.std_error))
    n = panel.n_questions
    design = PairedDesign(n * t.std_error**2, n / (t.df + 1)) if t.std_error > 0 else None
    return Contrast(t, name, "confidence", p_value=p_value, messages=messages, observed=design)


# ---------------------------------------------------------------- without common questions


def independent_contrast(a: Estimate, b: Estimate) -> Contrast:
    """Compute the difference of two independent estimates.

    Two proportions with uniform priors also have an odds ratio (Bowyer et al. 2025, section 3.3). Other posteriors are
    convolved; two t distributions result in the Behrens-Fisher posterior. Raises NotEstimableError if either estimate
    has no interval.
    """
    posterior_a, posterior_b = posterior_of(a), posterior_of(b)
    if a.method in _PROPORTION_METHODS and b.method in _PROPORTION_METHODS:
        betas = [p for p in (posterior_a, posterior_b) if isinstance(p, BetaPosterior)]
        posterior = IndependentPosterior(*((beta.a, beta.b) for beta in betas))
        return Contrast(posterior, "independent", odds_ratio=float(posterior.odds_ratio_quantile(0.5)))
    return Contrast(difference_posterior(posterior_a, posterior_b), "independent")


def common_bounds(a: Estimate, b: Estimate) -> tuple[float, float] | None:
    """Range of both scores; None if it is unknown or differs between them."""
    range_a, range_b = _range(a), _range(b)
    return range_a if range_a == range_b else None


def _range(row: Estimate) -> tuple[float, float] | None:
    if row.method in _PROPORTION_METHODS:
        return 0.0, 1.0
    return row.structure.bounds if row.structure else None


# ---------------------------------------------------------------- with questions of only one system


def own_questions_contrast(panel: Panel, method: str = "bayes") -> Contrast | None:
    """Estimate the difference from all questions; None if the shared questions alone are nearly as precise.

    Own questions are used if the questions are independent and the standard error is at least 10 % smaller with them.
    """
    if method == "latent-normal" or panel.units is not None or not any(panel.n_unmatched):
        return None
    (a, b), (mean_a, mean_b) = panel.runs, panel.means
    own_a, own_b = _own_means(a, b, panel.rows[0]), _own_means(b, a, panel.rows[1])
    try:
        overlap = partial_overlap(mean_a, mean_b, own_a, own_b)
        shared = paired_t(panel.differences).std_error
    except NotEstimableError:
        return None
    if overlap.difference.std_error > _WORTHWHILE * shared:
        return None
    note = OWN_QUESTIONS_USED(n_shared=panel.n_questions, n_own_a=len(own_a), n_own_b=len(own_b))
    values = overlap.mean_a, overlap.mean_b
    return Contrast(overlap.difference, "partial-overlap", "confidence", messages=(note,), values=values)


def _own_means(run: SelectedRun, other: SelectedRun, shared: IntArray) -> FloatArray:
    """Mean scores of the questions of a run that the other run does not contain; float (n_own,).

    Questions that the other run contains without a score are not a random part of the questions.
    """
    if not isinstance(run.data, Scores):
        return np.empty(0)
    is_own = run.data.is_scored & ~failed_for_other(run, other)
    is_own[shared] = False
    return np.asarray(np.nanmean(run.data.values[is_own], axis=1) if is_own.any() else np.empty(0))


# ---------------------------------------------------------------- rows of results


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonContext:
    """The contents of a comparison other than the difference.

    `key`: task, metric and filter. `values`: observed scores of A and B; None if unknown. `panel`: the matched
    questions; None if no questions match, or if they have no scores of their own. `is_tested_at_margin`:
    whether the interval is that of the test of the margin, if there is one. `others`: further attributes, as in
    `Comparison`.
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
    is_tested_at_margin: bool = True


def comparison_row(result: Contrast, context: ComparisonContext, options: Options) -> Comparison:
    """Build the comparison from a posterior of A - B."""
    posterior, panel = result.posterior, context.panel
    low, high = posterior.interval(options.level)
    if not high > low:
        return undecided_row(context, options, ZERO_WIDTH_INTERVAL(quantity="difference"))
    if (n := _n_questions(context)) is not None and n < _FEWEST_QUESTIONS:
        return undecided_row(context, options, TOO_FEW_QUESTIONS_COMPARED(n_questions=n))
    value_a, value_b = context.values
    plain = posterior.mean if value_a is None or value_b is None else value_a - value_b
    low, high = result.interval(options.level, plain)
    design = result.design(options.level, plain, n or 1)
    detectable = design.detectable(n or 1, level=options.level, power=options.power)
    if detectable is not None and context.bounds is not None and detectable > context.bounds[1] - context.bounds[0]:
        detectable = None
    correlation, reduction = (None, None) if panel is None else pairing_gain(*panel.means[:2])
    row = Comparison(
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
        verdict="undecided",
        verdict_corrected="undecided",
        verdict_text="",
        prob_positive=result.prob_positive,
        odds_ratio=result.odds_ratio,
        correlation=correlation,
        table=PairedCounts(*panel.table) if panel and panel.is_binary and panel.table else None,
        n_matched=panel.n_questions if panel else context.n_matched,
        n_unmatched_a=context.n_unmatched[0],
        n_unmatched_b=context.n_unmatched[1],
        n_trials=context.n_trials,
        n_clusters=panel.n_units if panel else context.n_clusters,
        cluster_key=context.cluster_key,
        variance_reduction=reduction if options.scope == "population" else None,
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
        messages=distinct(
            (
                *result.messages,
                *_cautions(low, high, context, options),
                *_rare_losses(result, low, high, context),
                *context.messages,
            )
        ),
    )
    tested = interval_of_test(row, (1 - options.level) / 2) if row.margin and context.is_tested_at_margin else None
    if tested is not None:
        row, low, high = with_interval(row, tested), tested.low, tested.high
    evidence = replace(_evidence(low, high, detectable, context, options), seen=plain)
    verdict, text = verdict_of(evidence)
    is_open = verdict == "undecided"
    if is_open and evidence.n_questions is not None and 0 < evidence.sought < (detectable or math.inf):
        needed = design.required(evidence.sought, level=options.level, power=options.power)
        evidence = replace(evidence, n_needed=needed)
    return replace(
        row,
        verdict=verdict,
        verdict_corrected=verdict,
        verdict_text=text,
        next_step=next_step(evidence) if is_open else "",
        n_additional_questions=evidence.n_more if is_open else None,
    )


def _cautions(low: float, high: float, context: ComparisonContext, options: Options) -> tuple[Message, ...]:
    """Messages on too few clusters, and on an interval with differences that scores within their bounds cannot have."""
    n = context.panel.n_units if context.panel else context.n_clusters
    is_few = n is not None and n < _FEW_UNITS and options.scope == "population"
    few = (FEW_CLUSTERS(n_clusters=n, clusters=context.cluster_key or "clusters"),) if is_few else ()
    largest = np.inf if context.bounds is None else context.bounds[1] - context.bounds[0]
    is_within = -largest <= low and high <= largest
    return few if is_within else (*few, INTERVAL_EXCEEDS_RANGE(low=-largest, high=largest))


def _rare_losses(result: Contrast, low: float, high: float, context: ComparisonContext) -> tuple[Message, ...]:
    is_clustered = context.panel is not None and context.panel.units is not None
    return rare_loss_messages(result.rare_loss, (high - low) / 2, quantity="difference", is_clustered=is_clustered)


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
    low: float, high: float, detectable: float | None, context: ComparisonContext, options: Options
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
