"""Find the best design of a run for a target."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_uq.planning.components import Components
from harness_uq.results.plan import PlanRow
from harness_uq.stats.design.budget_allocation import fewest
from harness_uq.stats.design.power import required_questions

MAX_QUESTIONS = 10**7
MAX_TRIALS = 10_000


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """The target of a run: a difference to detect with `power`, an interval width, or the best result for a budget."""

    difference: float | None
    width: float | None
    level: float
    power: float
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """Price of a question, for any number of trials, and price of a trial.

    Attributes
    ----------
    is_given : whether the user specified the prices; otherwise each answer costs 1, only to choose between designs
    """

    question: float
    trial: float
    is_given: bool

    def of(self, n_questions: int, n_trials: int) -> float:
        """Return the cost of a design for one system."""
        return n_questions * (self.question + n_trials * self.trial)


def plan_row(components: Components, n_questions: int, n_trials: int, target: PlanTarget, prices: UnitCosts) -> PlanRow:
    """Compute the expected precision of a design."""
    return PlanRow(
        n_questions,
        n_trials,
        components.width(n_questions, n_trials, level=target.level),
        components.detectable(n_questions, n_trials, level=target.level, power=target.power),
        prices.of(n_questions, n_trials) if prices.is_given else None,
    )


def best_design(
    components: Components, target: PlanTarget, prices: UnitCosts, trials: Sequence[int], n_questions: int | None
) -> PlanRow | None:
    """Find the cheapest design that meets the target or, for a budget, the most precise one; None if there is none.

    Parameters
    ----------
    trials : candidate numbers of trials
    n_questions : the fixed number of questions, for which the number of trials is minimized; None if it is free
    """
    if n_questions is not None and (target.difference is not None or target.width is not None):
        n_trials = _fewest_trials(components, target, n_questions, trials)
        return None if n_trials is None else plan_row(components, n_questions, n_trials, target, prices)
    if target.difference is not None or target.width is not None:
        sizes = [(n, k) for k in trials if (n := _fewest_questions(components, target, k)) is not None]
    elif target.budget is not None:
        sizes = [(n, k) for k in trials if (n := math.floor(target.budget / prices.of(1, k) * (1 + 1e-12))) >= 1]
    elif n_questions is not None:
        sizes = [(n_questions, components.trials if components.trials in trials else trials[0])]
    else:
        return None
    rows = [plan_row(components, n, k, target, prices) for n, k in sizes]
    if target.budget is not None and (target.difference is not None or target.width is not None):
        rows = [row for row in rows if prices.of(row.n_questions, row.n_trials) <= target.budget * (1 + 1e-12)]
    return min(rows, key=_rank(target, prices), default=None)


def _rank(target: PlanTarget, prices: UnitCosts) -> Callable[[PlanRow], tuple[float, ...]]:
    """Return the quantity that the best design minimizes."""
    if target.difference is not None or target.width is not None:
        return lambda row: (prices.of(row.n_questions, row.n_trials), row.n_trials)
    return lambda row: (row.detectable if row.detectable is not None else row.expected_width or 0.0, row.n_trials)


def _fewest_trials(components: Components, target: PlanTarget, n_questions: int, trials: Sequence[int]) -> int | None:
    """Return the number of trials that meets the target: the only candidate, or at most 10,000; None if none does."""
    if len(trials) == 1:
        return trials[0] if _meets(components, target, n_questions, trials[0]) else None
    return fewest(lambda n_trials: _meets(components, target, n_questions, n_trials), 1, MAX_TRIALS)


def _meets(components: Components, target: PlanTarget, n_questions: int, n_trials: int) -> bool:
    if target.difference is not None:
        detectable = components.detectable(n_questions, n_trials, level=target.level, power=target.power)
        return detectable is not None and detectable <= target.difference * (1 + 1e-12)
    width = components.width(n_questions, n_trials, level=target.level)
    return width is not None and target.width is not None and width <= target.width


def _fewest_questions(components: Components, target: PlanTarget, n_trials: int) -> int | None:
    """Return the number of questions that meets the target with this many trials; None if unknown or above 10^7."""
    if target.difference is not None:
        variance = components.variance_of_difference(n_trials)
        if variance is None:
            return None
        return int(required_questions(target.difference, variance, level=target.level, power=target.power))
    if components.variance(n_trials) is None:
        return None
    return fewest(lambda n_questions: _meets(components, target, n_questions, n_trials), 2, MAX_QUESTIONS)
