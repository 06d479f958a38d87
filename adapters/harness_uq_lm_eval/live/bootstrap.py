"""Bootstrap intervals for values that only a task's own aggregation can compute.

The bootstrap of Efron (1979) with percentile intervals; if there are clusters, whole clusters are resampled. It is
rejected for functions such as a maximum, whose value lies at an end of the bootstrap distribution.
"""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import Estimate, Interval, NotEstimableError
from harness_uq_lm_eval.messages import AGGREGATION_NOT_REPRODUCED, FEW_RESAMPLED_UNITS, RESAMPLED

METHOD = "resampled"
N_DRAWS = 1000
FEWEST_DRAWS = 200
FEW_UNITS = 30

_TOLERANCE = 1e-6
_N_CHECKED = 50  # draws: a question that differs from the others is in 63 % of them


def bootstrap_estimate(
    row: Estimate,
    values: Sequence[object],
    function: Callable[[list[object]], object],
    units: NDArray[np.int64] | None,
    *,
    level: float,
    seconds: float,
    seed: int = 0,
) -> Estimate:
    """The estimate with a percentile interval for the value that the harness printed.

    `row`: an estimate without an interval, whose `harness.value` the function computed. `values`: arguments of the
    function, one per question. `function`: the task's aggregation. `units`: int (n_questions,), cluster of each
    question; None if the questions are independent. `seconds`: time after which no further draw begins. Raises
    NotEstimableError if the function does not reproduce the printed value, depends on the order of the questions,
    fails, is too slow, or its value is constant or an extreme of the bootstrap distribution.
    """
    printed, values = row.harness.value, copy.deepcopy(list(values))
    if printed is None or not math.isclose(_number(function, values), printed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        raise NotEstimableError(AGGREGATION_NOT_REPRODUCED(reason="it does not reproduce the reported value"))
    codes = np.arange(len(values)) if units is None else units
    members = [np.flatnonzero(codes == code).tolist() for code in np.unique(codes)]
    end, rng = time.monotonic() + seconds, np.random.default_rng(seed)
    _check_order(function, values, printed, end, rng)
    draws = _draws(function, values, members, end, rng)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    if not low < printed < high:
        raise NotEstimableError(
            AGGREGATION_NOT_REPRODUCED(
                reason="the reported value lies at the end of the range of the resampled values, like a maximum"
            )
        )
    names = "questions" if units is None else "clusters"
    few = FEW_RESAMPLED_UNITS(n_units=len(members), unit=names.removesuffix("s"))
    return replace(
        row,
        method=METHOD,
        method_reason="the aggregation function of the task is called on resamples of the questions",
        value=printed,
        std_error=float(draws.std(ddof=1)),
        interval=Interval(float(low), float(high), level, "confidence"),
        n_questions=len(values),
        n_clusters=None if units is None else len(members),
        diagnostics={"n_draws": float(len(draws))},
        messages=(*row.notes, RESAMPLED(n_draws=len(draws), unit=names), *([few] if len(members) < FEW_UNITS else [])),
    )


def _check_order(
    function: Callable[[list[object]], object],
    values: Sequence[object],
    printed: float,
    end: float,
    rng: np.random.Generator,
) -> None:
    """Reject a function that depends on the order of the questions, which a resample does not have."""
    for _ in range(_N_CHECKED):
        if time.monotonic() >= end:
            return
        permuted = _number(function, [values[index] for index in rng.permutation(len(values))])
        if not math.isclose(permuted, printed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
            raise NotEstimableError(
                AGGREGATION_NOT_REPRODUCED(reason="its value depends on the order of the questions")
            )


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
        resample = rng.integers(0, len(members), len(members)).tolist()
        if len(draws) == _N_CHECKED and len(set(draws)) == 1:
            raise NotEstimableError(
                AGGREGATION_NOT_REPRODUCED(reason=f"it returns {draws[0]:g} for every resample of the questions")
            )
        draws.append(_number(function, [values[q] for unit in resample for q in members[unit]]))
    if len(draws) < FEWEST_DRAWS:
        raise NotEstimableError(
            AGGREGATION_NOT_REPRODUCED(
                reason=f"it is too slow ({len(draws)} of the {FEWEST_DRAWS} required calls were completed)"
            )
        )
    if not np.isfinite(draws).all():
        raise NotEstimableError(
            AGGREGATION_NOT_REPRODUCED(reason="it does not return a finite number for some resamples")
        )
    return np.array(draws)


def _number(function: Callable[[list[object]], object], values: Sequence[object]) -> float:
    try:
        return float(function(list(values)))  # type: ignore[arg-type]
    except (KeyboardInterrupt, SystemExit) as stop:
        raise NotEstimableError(AGGREGATION_NOT_REPRODUCED(reason=f"it was stopped by {type(stop).__name__}")) from None
    except Exception as error:
        raise NotEstimableError(
            AGGREGATION_NOT_REPRODUCED(reason=f"it raised {type(error).__name__}: {error}")
        ) from None
