"""Metrics for a task's `metrics=[…]`: the score with its interval, from the trials before their reduction.

A metric of Inspect may end a paid run: it must not raise, must return plain finite numbers, and is called again and
again while the run goes on. These return what can be said, an empty dictionary where nothing can, and warn. Arguments
that make no sense are refused when the task is made.
"""

import logging
from collections.abc import Callable
from typing import Literal, ParamSpec, get_args

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from harness_uq import DataError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
PassKind = Literal["at", "hat"]


def _on_trials(make: Callable[P, Metric]) -> Callable[P, Metric]:
    """Register a metric that sees every trial; before Inspect 0.3.241 it sees the reduced scores of the questions."""
    try:
        registered: Callable[P, Metric] = metric(scores="unreduced")(make)
    except TypeError:
        registered = metric(make)
    return registered


@_on_trials
def uq(method: str = "bayes", level: float = 0.95, scope: str = "population", cluster: str | None = None) -> Metric:
    """Score with its interval: `uq_mean`, `uq_lower`, `uq_upper` and `uq_sd`.

    The scorer, the metadata and the trials of each question are all that a metric sees: a cluster field that only the
    catalogue of known tasks would tell has to be named.

    Parameters
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of an estimator
    level : coverage of the interval, in (0, 1)
    scope : `population` or `benchmark`
    cluster : metadata field that groups the questions, `none` for no groups, None to look for one

    Raises
    ------
    DataError : if `level` or `scope` makes no sense
    """
    return _Measured("uq", {"method": method, "level": level, "scope": scope}, cluster)


@_on_trials
def bayes_at_n(level: float = 0.95) -> Metric:
    """Bayes@N as published (Hariri et al. 2025, algorithm 1), on exactly these questions: `bayes_at_n_mean` and so on.

    Parameters
    ----------
    level : coverage of the interval, in (0, 1)

    Raises
    ------
    DataError : if `level` makes no sense
    """
    return _Measured("bayes_at_n", {"method": "bayes-at-n", "level": level, "scope": "benchmark"}, "none")


@_on_trials
def pass_k(k: int = 1, kind: PassKind = "at", level: float = 0.95, scope: str = "population") -> Metric:
    """pass@k, or pass^k where `kind` is `hat`, with its interval: `pass_at_2_mean` and so on.

    Parameters
    ----------
    k : trials, at most as many as there are epochs
    kind : `at` for at least one right among k, `hat` for all right
    level : coverage of the interval, in (0, 1)
    scope : `population` or `benchmark`

    Raises
    ------
    DataError : if an argument makes no sense
    """
    if kind not in get_args(PassKind):
        raise DataError(f"kind must be {' or '.join(get_args(PassKind))}; got {kind!r}")
    estimand = f"pass{'^' if kind == 'hat' else '@'}{k}"
    return _Measured(f"pass_{kind}_{k}", {"estimand": estimand, "level": level, "scope": scope}, "none")


class _Measured:
    """A metric's second half, as a class so that Inspect never resolves annotations of a closure."""

    def __init__(self, prefix: str, options: dict[str, str | float], cluster: str | None) -> None:
        from harness_uq_inspect.live.checks import check

        check(**options)  # type: ignore[arg-type]
        self._prefix, self._options, self._cluster = prefix, options, cluster

    def __call__(self, scores: list[SampleScore]) -> Value:
        if not scores:
            return {}
        try:
            from harness_uq_inspect.live.measure import measure

            found = measure(scores, self._options, self._cluster)
        except Exception as error:
            logger.warning("harness_uq: no %s: %s: %s", self._prefix, type(error).__name__, error)
            return {}
        return {f"{key}{self._prefix}_{name}": value for (key, name), value in found.items()}
