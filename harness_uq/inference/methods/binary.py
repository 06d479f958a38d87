"""Independent right-or-wrong questions, one trial each."""

from dataclasses import dataclass
from typing import ClassVar

from harness_uq.data.estimands import MethodInfo
from harness_uq.inference.method import (
    RequiresProblem,
    confidence,
    credible,
    needs_independence,
    needs_type,
    normal_quantile,
    plain_score,
    scores_of,
)
from harness_uq.io.plugins.protocols import CredibleKind, Problem
from harness_uq.messages import Message
from harness_uq.messages.catalogue import estimation as catalogue
from harness_uq.results.estimate import Estimate
from harness_uq.stats.proportion.binomial import BinomialMethod, beta_posterior, binomial_interval

FEW_QUESTIONS = 16  # from here on the 95 % HDI covers 0.90 at every theta, 0.899 at 21 questions


@dataclass(frozen=True, slots=True)
class Beta(RequiresProblem):
    """Beta posterior of a proportion (Bowyer et al. 2025, eqs. 5–7).

    `beta` has a uniform prior and a highest-density interval, `jeffreys` a Beta(1/2, 1/2) prior and equal tails.
    """

    name: str = "beta"
    prior: tuple[float, float] = (1.0, 1.0)
    default_interval: CredibleKind = "hdi"
    info: MethodInfo = MethodInfo(
        title="Beta posterior of a proportion",
        formula="θ | data ~ Beta(1 + S, 1 + F)",
        text=(
            "Uniform prior on the success rate θ of independent questions, each answered once. The interval "
            "is the narrowest one that holds the level."
        ),
        sources=("bowyer2025",),
    )
    requirements: ClassVar = (needs_type("binary"), needs_independence)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the success rate."""
        scores = scores_of(problem)
        successes = round(float(scores.values.sum()))
        posterior = beta_posterior(successes, len(scores.values), prior=self.prior)
        result = credible(
            problem,
            posterior,
            plain_score(scores),
            default=self.default_interval,
            messages=_few_questions(problem, successes, self.default_interval),
        )
        return result.estimate(problem, self.name)


def _few_questions(problem: Problem, successes: int, default: CredibleKind) -> tuple[Message, ...]:
    """A warning if, at an accuracy inside the interval, such intervals miss at more than twice the nominal rate."""
    n, level = problem.structure.n_questions, problem.level
    if n >= FEW_QUESTIONS or (problem.interval or default) != "hdi":
        return ()
    from harness_uq.stats.proportion.coverage import lowest_hdi_coverage

    lowest = lowest_hdi_coverage(n, level)[successes]
    if lowest >= 1 - 2 * (1 - level):
        return ()
    return (catalogue.FEW_QUESTIONS(n_questions=n, level=level, lowest=lowest),)


@dataclass(frozen=True, slots=True)
class ProportionInterval(RequiresProblem):
    """A frequentist interval of a proportion; its standard error is half the width divided by the normal quantile."""

    name: str
    method: BinomialMethod
    info: MethodInfo
    requirements: ClassVar = (needs_type("binary"), needs_independence)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the success rate."""
        scores = scores_of(problem)
        low, high = binomial_interval(scores.values.sum(), len(scores.values), problem.level, self.method)
        half_width = (float(high) - float(low)) / 2
        result = confidence(
            problem, float(low), float(high), plain_score(scores), half_width / normal_quantile(problem.level)
        )
        return result.estimate(problem, self.name)


_JEFFREYS = MethodInfo(
    title="Jeffreys interval",
    formula="θ | data ~ Beta(½ + S, ½ + F), equal tails",
    text="Beta posterior under Jeffreys' prior.",
    sources=("brown2001",),
)

_WILSON = MethodInfo(
    title="Wilson score interval",
    formula="(S + z²/2 ± z √(S F / n + z²/4)) / (n + z²)",
    text=(
        "Inverts the score test of a proportion; independent questions, each answered once. The standard "
        "error shown is the half-width divided by z."
    ),
    sources=("wilson1927", "bowyer2025"),
)

_CLOPPER_PEARSON = MethodInfo(
    title="Clopper–Pearson interval",
    formula="[Beta<sub>α/2</sub>(S, F + 1), Beta<sub>1−α/2</sub>(S + 1, F)]",
    text="Inverts the exact binomial test; covers at least the level, usually more.",
    sources=("clopper1934", "bowyer2025"),
)

_AGRESTI_COULL = MethodInfo(
    title="Agresti–Coull interval",
    formula="p̃ ± z √(p̃ (1 − p̃) / ñ), ñ = n + z², p̃ = (S + z²/2) / ñ",
    text="Normal interval around a shrunken proportion; it can leave [0, 1].",
    sources=("agresti1998",),
)

ESTIMATORS = (
    Beta(),
    Beta("jeffreys", (0.5, 0.5), "quantile", _JEFFREYS),
    ProportionInterval("wilson", "wilson", _WILSON),
    ProportionInterval("clopper-pearson", "clopper_pearson", _CLOPPER_PEARSON),
    ProportionInterval("agresti-coull", "agresti_coull", _AGRESTI_COULL),
)
