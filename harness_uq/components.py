"""What a plan rests on: variances of a score and of a difference, given as numbers or estimated from pilot runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness_uq.data import FloatArray, IntArray
from harness_uq.errors import DataError, NotEstimableError
from harness_uq.results import Estimate
from harness_uq.stats.checks import variance_components
from harness_uq.stats.cluster_robust import cluster_robust
from harness_uq.stats.planning import expected_width, predict_width
from harness_uq.stats.posterior import Posterior
from harness_uq.stats.power import minimum_detectable_effect, paired_variance

FEW_CLUSTERS = 10


@dataclass(frozen=True, slots=True)
class Pilot:
    """A run to scale up.

    Attributes
    ----------
    posterior : of its mean score
    n_questions, n_trials : its design
    low, high : range of the score
    kind : of its interval
    """

    posterior: Posterior
    n_questions: int
    n_trials: int
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of single questions, in squared units of the score.

    Attributes
    ----------
    between : Var(x), of a system's expected score over questions; None where unknown
    within : E[sigma^2], of one trial around it; None where trials were not repeated, and `between` is their sum
    difference : over questions, of the difference of two systems' expected scores (with its trial noise where `within`
        is None); None without a second system
    design_effect, design_effect_difference : of clusters, on one score and on a difference
    trials : of the pilot, at which `between` holds where `within` is None
    pilot : the run itself, for widths near the ends of the range; None where the plan is from numbers
    notes, warnings : for the report
    """

    between: float | None = None
    within: float | None = None
    difference: float | None = None
    design_effect: float = 1.0
    design_effect_difference: float = 1.0
    trials: int = 1
    pilot: Pilot | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("between", "within", "difference"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and np.isfinite(value)):
                raise DataError(f"variance {name} must be finite and not negative; got {value}")
        if self.between is None and self.difference is None:
            raise DataError("a plan needs the variance of a score or of a difference: a pilot run, or numbers")

    def variance(self, n_trials: int) -> float | None:
        """Variance of one question's mean score over `n_trials` trials; None where unknown."""
        if self.between is None:
            return None
        return self.between + (self.within or 0.0) / n_trials

    def variance_of_difference(self, n_trials: int) -> float | None:
        """Variance of one question's difference of mean scores, Miller (2024), section 5; None where unknown."""
        if self.difference is None:
            return None
        noise = self.within or 0.0
        return float(
            paired_variance(
                self.difference,
                noise,
                noise,
                trials_a=n_trials,
                trials_b=n_trials,
                design_effect=self.design_effect_difference,
            )
        )

    def detectable(self, n_questions: int, n_trials: int, *, level: float, power: float) -> float | None:
        """Smallest difference found with the power asked for; None without a second system."""
        variance = self.variance_of_difference(n_trials)
        if variance is None:
            return None
        return float(minimum_detectable_effect(n_questions, variance, level=level, power=power))

    def width(self, n_questions: int, n_trials: int, *, level: float) -> float | None:
        """Expected width of one score's interval; None where unknown."""
        variance = self.variance(n_trials)
        if variance is None:
            return None
        if self.pilot is None or (self.within is None and n_trials != self.trials):
            total = expected_width(
                n_questions, variance_between=variance, level=level, design_effect=self.design_effect
            )
            return float(total)
        at_pilot = self.variance(self.pilot.n_trials) or variance
        ratio = n_questions / self.pilot.n_questions * (at_pilot / variance if variance > 0 else 1.0)
        return predict_width(self.pilot.posterior, ratio, low=self.pilot.low, high=self.pilot.high, level=level)


def components_of(values: Sequence[FloatArray], units: IntArray | None, estimates: Sequence[Estimate]) -> Components:
    """Components from pilot runs of one or more systems on the same questions.

    One score's components are means over the systems, those of differences means over their pairs.

    Parameters
    ----------
    values : a system, float (n_questions, n_trials); NaN marks a missing trial
    units : (n_questions,) labels of clusters, None where questions are independent
    estimates : each system's own, whose posterior the widths scale

    Raises
    ------
    NotEstimableError : if there are fewer than two questions
    """
    means = [np.nanmean(v, axis=1) for v in values]
    if len(means[0]) < 2:
        raise NotEstimableError("a pilot of one question shows no spread")
    between, within = _one_score(values, means)
    pairs = [_difference(a, b, within, n) for (a, n), (b, _) in combinations(_with_trials(values, means), 2)]
    effects = [_design_effect(m, units) for m in means]
    pair_effects = [_design_effect(a - b, units) for a, b in combinations(means, 2)]
    warnings: tuple[str, ...] = ()
    if units is not None and (n := len(np.unique(units))) < FEW_CLUSTERS:
        warnings = (f"the pilot has {n} clusters: the design effect that the plan rests on is a rough guess",)
    return Components(
        between=between,
        within=within,
        difference=float(np.mean(pairs)) if pairs else None,
        design_effect=float(np.mean(effects)),
        design_effect_difference=float(np.mean(pair_effects)) if pair_effects else 1.0,
        trials=max(v.shape[1] for v in values),
        pilot=_pilot(estimates, len(means[0]), max(v.shape[1] for v in values)),
        notes=_notes(len(values), within, units),
        warnings=warnings,
    )


def _one_score(values: Sequence[FloatArray], means: Sequence[FloatArray]) -> tuple[float, float | None]:
    try:
        found = [variance_components(v) for v in values]
    except NotEstimableError:
        return float(np.mean([m.var(ddof=1) for m in means])), None
    return float(np.mean([c.variance_between for c in found])), float(np.mean([c.variance_within for c in found]))


def _with_trials(values: Sequence[FloatArray], means: Sequence[FloatArray]) -> list[tuple[FloatArray, float]]:
    """Question means of each system, and its harmonic mean number of trials."""
    counts = [np.isfinite(v).sum(axis=1) for v in values]
    return [(m, float(1 / np.mean(1 / c))) for m, c in zip(means, counts, strict=True)]


def _difference(a: FloatArray, b: FloatArray, within: float | None, n_trials: float) -> float:
    """omega^2: variance of the observed differences less their trial noise; never under 0."""
    observed = float((a - b).var(ddof=1))
    return observed if within is None else max(observed - 2 * within / n_trials, 0.0)


def _design_effect(values: FloatArray, units: IntArray | None) -> float:
    """At least 1: an estimate below it is noise, and would promise too much."""
    if units is None:
        return 1.0
    try:
        return max(1.0, cluster_robust(values, units).design_effect)
    except NotEstimableError:
        return 1.0


def _pilot(estimates: Sequence[Estimate], n_questions: int, n_trials: int) -> Pilot | None:
    """The first system whose posterior is of a bounded score."""
    for row in estimates:
        bounds = row.structure.bounds if row.structure else None
        if bounds is not None and isinstance(row.posterior, Posterior):
            return Pilot(row.posterior, n_questions, n_trials, *bounds)
    return None


def _notes(n_systems: int, within: float | None, units: IntArray | None) -> tuple[str, ...]:
    notes = []
    if n_systems > 2:
        notes.append(f"variances are means over the {n_systems} systems, and over their pairs")
    if n_systems == 1:
        notes.append("one system alone says nothing of a difference: give the pilot of a second one, or --correlation")
    if within is None:
        notes.append("questions were tried once, so what more trials would buy is unknown")
    if units is not None:
        notes.append("the design effect is that of clusters as large as the pilot's")
    return tuple(notes)
