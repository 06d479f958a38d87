"""Independent right-or-wrong questions, one trial each."""

from dataclasses import dataclass

from harness_uq.estimators._common import (
    build,
    confidence,
    credible,
    has_units,
    needs_mean,
    normal_quantile,
    plain_score,
    scores_of,
)
from harness_uq.hookspecs import CredibleKind, Problem
from harness_uq.results import Estimate
from harness_uq.stats.binomial import BinomialMethod, beta_posterior, binomial_interval, finite_population_posterior
from harness_uq.stats.coverage import lowest_hdi_coverage

FEW_QUESTIONS = 16  # from here on the 95 % HDI covers .90 at every theta, .899 at 21 questions


def _not_single_binary(problem: Problem) -> str | None:
    if reason := needs_mean(problem, "binary"):
        return reason
    if has_units(problem):
        return "treats every answer as independent; these come in clusters or repeated trials"
    return None


@dataclass(frozen=True, slots=True)
class Beta:
    """Beta posterior of a proportion (Bowyer et al. 2025, eqs. 5–7): uniform prior with the highest-density
    interval as `beta`, Beta(1/2, 1/2) with equal tails as `jeffreys`.
    """

    name: str = "beta"
    prior: tuple[float, float] = (1.0, 1.0)
    default_interval: CredibleKind = "hdi"

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses clustered, repeated or non-binary scores."""
        return _not_single_binary(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the success rate."""
        scores = scores_of(problem)
        successes = round(float(scores.values.sum()))
        posterior = beta_posterior(successes, len(scores.values), prior=self.prior)
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            default=self.default_interval,
            warnings=_few_questions(problem, successes, self.default_interval),
        )
        return build(problem, self.name, found)


def _few_questions(problem: Problem, successes: int, default: CredibleKind) -> tuple[str, ...]:
    """A warning where the interval holds an accuracy at which such intervals miss more than twice as often as said."""
    n, level = problem.structure.n_questions, problem.level
    if n >= FEW_QUESTIONS or (problem.interval or default) != "hdi":
        return ()
    lowest = lowest_hdi_coverage(n, level)[successes]
    if lowest >= 1 - 2 * (1 - level):
        return ()
    return (
        f"with {n} question{'s' if n > 1 else ''} such intervals hold the truth {level:g} of the time on average, but "
        f"{lowest:.2f} at the worst of the accuracies in this one",
    )


@dataclass(frozen=True, slots=True)
class ProportionInterval:
    """A frequentist interval of a proportion. Its standard error is the interval's half-width in normal units,
    except for `clt`, where it is the textbook one.
    """

    name: str
    method: BinomialMethod

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses clustered, repeated or non-binary scores."""
        return _not_single_binary(problem)

    def estimate(self, problem: Problem) -> Estimate:
        """Interval of the success rate."""
        scores = scores_of(problem)
        low, high = binomial_interval(scores.values.sum(), len(scores.values), problem.level, self.method)
        half_width = (float(high) - float(low)) / 2
        found = confidence(
            problem, float(low), float(high), plain_score(scores), half_width / normal_quantile(problem.level)
        )
        return build(problem, self.name, found)


@dataclass(frozen=True, slots=True)
class FullBenchmark:
    """Posterior of the score on all questions of a benchmark of which the run used a part (beta-binomial)."""

    name: str = "full-benchmark"

    def unsuitable(self, problem: Problem) -> str | None:
        """Refuses other scopes, and runs that do not say how many questions the benchmark has."""
        if problem.estimand.scope != "full":
            return "is about the whole benchmark of a run with --limit; ask for --scope full"
        if reason := _not_single_binary(problem):
            return reason
        if not isinstance(problem.log.config.get("n_original"), int):
            return "needs the number of questions in the whole benchmark; the log does not say"
        return None

    def estimate(self, problem: Problem) -> Estimate:
        """Posterior of the full benchmark's score."""
        scores = scores_of(problem)
        n_all = problem.log.config["n_original"]
        posterior = finite_population_posterior(int(scores.values.sum()), len(scores.values), int(str(n_all)))
        found = credible(
            problem,
            posterior,
            plain_score(scores),
            warnings=_subset_warning(problem),
        )
        return build(problem, self.name, found)


def _subset_warning(problem: Problem) -> tuple[str, ...]:
    if problem.log.config.get("is_random_subset"):
        return ()
    return ("the run used the first questions, not a random draw: the rest of the benchmark may differ in kind",)
