"""Variance components of a score and of a difference, given as numbers or estimated from pilot runs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from harness_uq.data.task_log import FloatArray, IntArray
from harness_uq.messages import Message
from harness_uq.messages.catalogue.planning import (
    ASSUMED_CORRELATION,
    PILOT_AVERAGED,
    PILOT_CLUSTER_SIZE,
    PILOT_FEW_CLUSTERS,
    PILOT_ONE_SYSTEM,
    PILOT_ONE_TRIAL,
    PILOT_TOO_SMALL,
)
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.results.estimate import Estimate
from harness_uq.stats.clusters.cluster_robust import cluster_robust
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.design.paired_power import PairedDesign, WidthRatio, default_width_ratio
from harness_uq.stats.design.planning import expected_width, predict_width
from harness_uq.stats.design.power import paired_variance
from harness_uq.stats.trials.diagnostics import variance_components

FEW_CLUSTERS = 10
_MOST_REPEATED = 16  # trials per question, with more of which the interval is as wide


@dataclass(frozen=True, slots=True)
class PilotSystem:
    """The pilot run of one system.

    `between`, `within` and `design_effect` are those of `Components` for this system alone, and `n_trials` is the
    harmonic mean of the trials per question. `posterior` is that of the mean score; None if there is none or its range
    is unknown.
    """

    between: float
    within: float | None
    design_effect: float
    n_questions: int
    n_trials: float
    posterior: Posterior | None = None
    low: float = -math.inf
    high: float = math.inf

    def variance(self, n_trials: float) -> float:
        """Return the variance of one question's mean score over `n_trials` trials."""
        return self.between + self.noise / n_trials

    @property
    def noise(self) -> float:
        """E[sigma^2]; 0 if it is part of `between`."""
        return self.within or 0.0

    def width(self, n_questions: int, n_trials: int, *, level: float) -> float | None:
        """Return the expected interval width of a run of another size; None if the run is too small to predict it."""
        variance = self.variance(n_trials)
        if self.posterior is None:
            design_effect = self.design_effect
            return float(expected_width(n_questions, variance=variance, level=level, design_effect=design_effect))
        ratio = n_questions / self.n_questions * (self.variance(self.n_trials) / variance if variance > 0 else 1.0)
        try:
            return predict_width(self.posterior, ratio, low=self.low, high=self.high, level=level)
        except NotEstimableError:
            if ratio >= 1:  # the pilot is too small
                raise
            return None


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components per question, in squared units of the score.

    Attributes
    ----------
    between : Var(x), the variance over questions of a system's expected score; None if unknown
    within : E[sigma^2], the variance of a trial around the expected score of its question; None if trials were not
        repeated, in which case `between` is the sum of both variances
    difference : variance over questions of the difference of two systems' expected scores (including trial noise if
        `within` is None); None without a second system
    design_effect, design_effect_difference : design effects of clusters on one score and on a difference
    trials : number of trials of the pilot, to which `between` refers if `within` is None
    pilots : pilot runs of the systems, used for the width of the widest interval; none if the plan is based on numbers
    correlation : assumed correlation between the scores of two systems, from which `difference` follows; None without
        this assumption
    cluster_size : mean number of questions per cluster; 1 if the questions are independent
    discordant : share of questions that exactly one of two systems answers correctly in one trial; None unless all
        answers are right or wrong
    messages : notes and warnings
    """

    between: float | None = None
    within: float | None = None
    difference: float | None = None
    design_effect: float = 1.0
    design_effect_difference: float = 1.0
    trials: int = 1
    pilots: tuple[PilotSystem, ...] = ()
    correlation: float | None = None
    cluster_size: float = 1.0
    discordant: float | None = None
    messages: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        for name in ("between", "within", "difference"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and np.isfinite(value)):
                raise DataError(f"variance {name} must be finite and not negative; got {value}")
        if self.between is None and self.difference is None:
            raise DataError("a plan needs the variance of a score or of a difference: a pilot run, or numbers")

    @property
    def in_points(self) -> bool:
        """Whether the scores lie in [0, 1], so that differences are reported in percentage points."""
        return not self.pilots or self._ends == (0.0, 1.0)

    @property
    def _ends(self) -> tuple[float, float]:
        """Range of the scores of all pilots; infinite if it is unknown."""
        lows, highs = [one.low for one in self.pilots], [one.high for one in self.pilots]
        return min(lows, default=-math.inf), max(highs, default=math.inf)

    @property
    def score_range(self) -> float:
        """Length of the range of the scores; infinite if it is unknown, so that intervals are those of Student's t."""
        return self._ends[1] - self._ends[0]

    def variance(self, n_trials: int) -> float | None:
        """Return the variance of one question's mean score over `n_trials` trials; None if unknown."""
        if self.between is None:
            return None
        return self.between + (self.within or 0.0) / n_trials

    def with_correlation(self, correlation: float) -> "Components":
        """The components of one system, with those of its difference from a second system of the same variance."""
        notes = tuple(note for note in self.messages if note.code != PILOT_ONE_SYSTEM.code)
        between = self.between or 0.0
        return replace(
            self,
            difference=2 * between * (1 - correlation),
            discordant=None if self.discordant is None else 2 * ((self.variance(1) or 0.0) - between * correlation),
            design_effect_difference=self.design_effect,
            correlation=correlation,
            messages=(ASSUMED_CORRELATION(correlation=correlation), *notes),
        )

    def variance_of_difference(self, n_trials: int) -> float | None:
        """Return the variance of a question's difference of mean scores, Miller (2024), section 5; None if unknown."""
        if self.difference is None:
            return None
        noise = self.within or 0.0
        k, design_effect = n_trials, self.design_effect_difference
        return float(
            paired_variance(self.difference, noise, noise, trials_a=k, trials_b=k, design_effect=design_effect)
        )

    def design(self, n_trials: int) -> PairedDesign | None:
        """What determines the power of comparisons with this number of trials; None without a second system."""
        variance = self.variance_of_difference(n_trials)
        if variance is None:
            return None
        size = max(self.cluster_size, 1.0)
        if self.discordant is not None and n_trials == 1 and size == 1:
            return PairedDesign(variance, discordant=self.discordant)
        ratio = WidthRatio()
        if math.isfinite(self.score_range) and variance > 0:
            is_repeated = self.discordant is not None and (n_trials > 1 or size > 1)
            sd = float(f"{math.sqrt(variance * size) / self.score_range:.2g}")
            ratio = default_width_ratio(sd, round(size), min(n_trials, _MOST_REPEATED) if is_repeated else None)
        return PairedDesign(variance, size, width_ratio=ratio)

    def detectable(self, n_questions: int, n_trials: int, *, level: float, power: float) -> float | None:
        """Return the minimum detectable difference at the requested power; None if unknown or without a second system.

        It is unknown with one cluster, and if it would be larger than the range of the scores.
        """
        design = self.design(n_trials)
        found = None if design is None else design.detectable(n_questions, level=level, power=power)
        return None if found is None or found > self.score_range else found

    def width(self, n_questions: int, n_trials: int, *, level: float) -> float | None:
        """Return the expected width of a score's interval, the widest among the pilot's systems; None if unknown."""
        if self.pilots:
            widths = [one.width(n_questions, n_trials, level=level) for one in self.pilots]
            known = [width for width in widths if width is not None]
            return max(known) if len(known) == len(widths) else None
        variance = self.variance(n_trials)
        if variance is None:
            return None
        return float(expected_width(n_questions, variance=variance, level=level, design_effect=self.design_effect))


def pilot_components(values: Sequence[FloatArray], units: IntArray | None, estimates: Sequence[Estimate]) -> Components:
    """Estimate the components from pilot runs of one or more systems on the same questions.

    Components of a score are averaged over the systems, and components of a difference over the pairs of systems. The
    expected width is that of the system with the widest interval. If any system's trials were not repeated, the
    components refer to one trial.

    `values` (n_questions, n_trials) of each system are NaN for a missing trial. `units` are labels of clusters, None if
    questions are independent, and expected widths are scaled from the posteriors of `estimates`. Raises
    NotEstimableError if there are fewer than two questions.
    """
    if len(values[0]) < 2:
        raise NotEstimableError(PILOT_TOO_SMALL())
    systems = [_system(v, units, estimate) for v, estimate in zip(values, estimates, strict=True)]
    is_split = all(system.within is not None for system in systems)
    pairs = list(combinations(zip(values, systems, strict=True), 2))
    differences = [a - b for a, b in combinations([np.nanmean(v, axis=1) for v in values], 2)]
    omega2 = [_omega2(d, a, b, is_split=is_split) for d, ((_, a), (_, b)) in zip(differences, pairs, strict=True)]
    n, is_right_or_wrong = len(values[0]), all(bool(np.isin(v[np.isfinite(v)], (0.0, 1.0)).all()) for v in values)
    noise = 2 * float(np.mean([s.noise for s in systems])) if is_split else 0.0
    discordant = [(w + noise) * (n - 1) / n + d.mean() ** 2 for d, w in zip(differences, omega2, strict=True)]
    return Components(
        between=float(np.mean([s.between if is_split else s.variance(1) for s in systems])),
        within=float(np.mean([s.noise for s in systems])) if is_split else None,
        difference=float(np.mean(omega2)) if pairs else None,
        design_effect=float(np.mean([s.design_effect for s in systems])),
        design_effect_difference=float(np.mean([_design_effect(d, units) for d in differences])) if pairs else 1.0,
        trials=max(v.shape[1] for v in values) if is_split else 1,
        cluster_size=1.0 if units is None else n / len(np.unique(units)),
        discordant=float(np.mean(discordant or 0.0)) if is_right_or_wrong else None,
        pilots=tuple(systems),
        messages=tuple(_notes(systems, units)),
    )


def _system(values: FloatArray, units: IntArray | None, estimate: Estimate) -> PilotSystem:
    means = np.nanmean(values, axis=1)
    try:
        variances = variance_components(values)
        between, within = variances.variance_between, variances.variance_within
    except NotEstimableError:
        between, within = float(means.var(ddof=1)), None
    bounds = estimate.structure.bounds if estimate.structure else None
    low, high = bounds or (-math.inf, math.inf)
    return PilotSystem(
        between=between,
        within=within,
        design_effect=_design_effect(means, units),
        n_questions=len(values),
        n_trials=float(1 / np.mean(1 / np.isfinite(values).sum(axis=1))),
        posterior=estimate.posterior if bounds and isinstance(estimate.posterior, Posterior) else None,
        low=low,
        high=high,
    )


def _omega2(differences: FloatArray, a: PilotSystem, b: PilotSystem, *, is_split: bool) -> float:
    """Return the variance of the differences without trial noise, or with the noise of one trial; at least 0."""
    observed = float(differences.var(ddof=1))
    omega2 = max(observed - a.noise / a.n_trials - b.noise / b.n_trials, 0.0)
    return omega2 if is_split else omega2 + a.noise + b.noise


def _design_effect(values: FloatArray, units: IntArray | None) -> float:
    """Bound a design effect below by 1, because a smaller estimate is noise and would make the plan too optimistic."""
    if units is None:
        return 1.0
    try:
        return max(1.0, cluster_robust(values, units).design_effect)
    except NotEstimableError:
        return 1.0


def _notes(systems: Sequence[PilotSystem], units: IntArray | None) -> Iterator[Message]:
    if len(systems) > 1:
        yield PILOT_AVERAGED(
            n_systems=len(systems), pairs=" and of the differences between them" if len(systems) > 2 else ""
        )
    else:
        yield PILOT_ONE_SYSTEM()
    if any(system.within is None for system in systems):
        yield PILOT_ONE_TRIAL()
    if units is not None:
        yield PILOT_CLUSTER_SIZE()
        if (n_clusters := len(np.unique(units))) < FEW_CLUSTERS:
            yield PILOT_FEW_CLUSTERS(n_clusters=n_clusters)
