"""Intervals of what only a task's own code computes: its aggregation, called on resampled questions.

The bootstrap of Efron (1979) with percentile intervals; whole clusters are drawn where there are any. It says nothing
of functions such as a maximum, whose value lies at the end of what resampling gives, and is refused for them.
"""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness_uq import Estimate, Interval, NotEstimableError

METHOD = "resampled"
N_DRAWS = 1000
FEWEST_DRAWS = 200
FEW_UNITS = 30

_SAME = 1e-6
_TELLING = 50  # draws: one differing question shows in 63 % of them


def resampled(
    row: Estimate,
    values: Sequence[object],
    function: Callable[[list[object]], object],
    units: NDArray[np.int64] | None,
    *,
    level: float,
    seconds: float,
    seed: int = 0,
) -> Estimate:
    """The row with the interval of its harness's value.

    Parameters
    ----------
    row : an estimate without an interval, whose `harness.value` the function gives
    values : what the function takes, one a question
    function : the task's aggregation
    units : int (n_questions,), cluster of each question; None where questions are independent
    level : coverage aimed at
    seconds : after which no draw is begun

    Raises
    ------
    NotEstimableError : if the function does not give the printed value again, depends on the order of the questions,
        fails, is too slow, or gives one value or an extreme
    """
    printed, kept = row.harness.value, copy.deepcopy(list(values))
    if printed is None or not math.isclose(_number(function, kept), printed, rel_tol=_SAME, abs_tol=_SAME):
        raise NotEstimableError("the task's aggregation does not give the printed value again")
    members, end, rng = _members(units, len(kept)), time.monotonic() + seconds, np.random.default_rng(seed)
    _check_order(function, kept, printed, end, rng)
    draws = _draws(function, kept, members, end, rng)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    if not low < printed < high:
        raise NotEstimableError("the value lies at the end of what resampling gives, as a maximum does")
    names = "questions" if units is None else "clusters"
    few = (f"{len(members)} {names} are few for resampling: the interval tends to be too narrow",)
    return replace(
        row,
        method=METHOD,
        method_reason="only the task's own aggregation computes the value: it is called on resampled questions",
        value=printed,
        std_error=float(draws.std(ddof=1)),
        interval=Interval(float(low), float(high), level, "confidence"),
        n_questions=len(kept),
        n_clusters=None if units is None else len(members),
        diagnostics={"n_draws": float(len(draws))},
        notes=(*row.notes, f"{len(draws)} resamples of the {names}, percentile interval"),
        warnings=few if len(members) < FEW_UNITS else (),
    )


def _members(units: NDArray[np.int64] | None, n: int) -> list[list[int]]:
    """Questions of each unit."""
    codes = np.arange(n) if units is None else units
    return [np.flatnonzero(codes == code).tolist() for code in np.unique(codes)]


def _check_order(
    function: Callable[[list[object]], object],
    values: Sequence[object],
    printed: float,
    end: float,
    rng: np.random.Generator,
) -> None:
    """Refuse a function of the order, such as the value in the middle of a list: a resample has none."""
    for _ in range(_TELLING):
        if time.monotonic() >= end:
            return
        again = _number(function, [values[place] for place in rng.permutation(len(values))])
        if not math.isclose(again, printed, rel_tol=_SAME, abs_tol=_SAME):
            raise NotEstimableError("the task's aggregation gives another value where the questions are in other order")


def _draws(
    function: Callable[[list[object]], object],
    values: Sequence[object],
    members: Sequence[Sequence[int]],
    end: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Values of the function on resamples, float (n_draws,)."""
    draws: list[float] = []
    while len(draws) < N_DRAWS and time.monotonic() < end:
        chosen = rng.integers(0, len(members), len(members)).tolist()
        if len(draws) == _TELLING and len(set(draws)) == 1:
            raise NotEstimableError(f"the task's aggregation gives {draws[0]:g} whatever questions are drawn")
        draws.append(_number(function, [values[q] for unit in chosen for q in members[unit]]))
    if len(draws) < FEWEST_DRAWS:
        raise NotEstimableError(f"the task's aggregation is too slow: {len(draws)} calls of the {FEWEST_DRAWS} needed")
    if not np.isfinite(draws).all():
        raise NotEstimableError("the task's aggregation gives no number for some resamples")
    return np.array(draws)


def _number(function: Callable[[list[object]], object], values: Sequence[object]) -> float:
    try:
        return float(function(list(values)))  # type: ignore[arg-type]
    except (KeyboardInterrupt, SystemExit) as stop:
        raise NotEstimableError(f"the task's aggregation was stopped by {type(stop).__name__}") from None
    except Exception as error:
        raise NotEstimableError(f"the task's aggregation fails: {type(error).__name__}: {error}") from None
