"""The estimate of an active evaluation as a result object."""

from harness_uq.active.history import ActiveHistory
from harness_uq.data.task_log import Source
from harness_uq.errors import DataError
from harness_uq.estimation.active import METHOD, METHOD_INFO
from harness_uq.messages import Message
from harness_uq.messages.catalogue.planning import (
    EFFECTIVE_SUBSET,
    INTERVAL_ALLOWS_STOPPING,
    SUBSET_WITH_REFERENCE_RUNS,
)
from harness_uq.results.comparison import Difference
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.active.repeated_looks import simultaneous_level
from harness_uq.stats.subsets.estimate import SubsetEstimate


def make_estimate(
    subset: SubsetEstimate, history: ActiveHistory, system: str, level: float, looks: tuple[float, ...] = ()
) -> Estimate:
    """Build the estimate of the mean score on all questions.

    If the evaluation may end early, `looks` has the planned numbers of answers after each round.

    Raises
    ------
    DataError
        If the level is not between 0 and 1.
    NotEstimableError
        If all questions of the benchmark have a score.
    """
    posterior, interval = subset.posterior, _interval(subset, level, looks)
    model = history.predictor.model
    diagnostics = {
        "n_all": float(subset.n_all),
        "n_systems": float(len(history.scores)),
        "rank": float(model.rank),
        "std_error_uniform": subset.std_error_uniform,
    }
    return Estimate(
        system=system,
        task=history.task,
        metric=history.metric,
        filter=history.filter,
        estimand="mean",
        scope="full",
        method=METHOD,
        value=subset.mean,
        std_error=posterior.sd,
        interval=interval,
        source=Source(system, "array"),
        n_questions=subset.n_questions,
        n_trials=1,
        n_scores=subset.n_questions,
        posterior_mean=posterior.mean,
        effective_questions=subset.effective_questions,
        posterior=posterior,
        diagnostics={name: value for name, value in diagnostics.items() if value is not None},
        messages=_notes(subset, len(history.scores), len(looks)),
        method_reason="the questions were chosen actively",
        info=METHOD_INFO,
    )


def make_difference(subset: SubsetEstimate, level: float, looks: tuple[float, ...]) -> Difference:
    """Build the difference of the mean scores of two systems.

    Raises
    ------
    DataError
        If the level is not between 0 and 1.
    NotEstimableError
        If all questions of the benchmark have a score.
    """
    return Difference(subset.mean, subset.posterior.sd, _interval(subset, level, looks))


def _interval(subset: SubsetEstimate, level: float, looks: tuple[float, ...]) -> Interval:
    """Interval with this nominal coverage, for repeated looks if there are any."""
    if not 0 < level < 1:
        raise DataError(f"level must lie strictly between 0 and 1, such as 0.95; got {level}")
    low, high = subset.posterior.interval(simultaneous_level(looks, level) if looks else level)
    return Interval(low, high, level, "quantile")


def _notes(subset: SubsetEstimate, n_systems: int, n_looks: int) -> tuple[Message, ...]:
    notes = (
        SUBSET_WITH_REFERENCE_RUNS(n_questions=subset.n_questions, n_all=subset.n_all, n_systems=n_systems),
        None if subset.effective_questions is None else EFFECTIVE_SUBSET(effective=subset.effective_questions),
        INTERVAL_ALLOWS_STOPPING(n_rounds=n_looks) if n_looks else None,
    )
    return tuple(note for note in notes if note is not None)
