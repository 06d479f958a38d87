"""Metrics for `metrics=[…]` of a task: the score with its interval, computed from the trials before their reduction.

An exception in a metric ends the whole run, and Inspect calls metrics repeatedly while the run goes on. These metrics
return finite numbers only; if they cannot compute a value, they warn and return an empty dictionary. Invalid arguments
are rejected when the task is created.
"""

import logging
from collections.abc import Callable
from typing import Literal, ParamSpec, get_args

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from harness_uq.plugin_api import DataError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
PassKind = Literal["at", "hat"]


def _on_trials(make: Callable[P, Metric]) -> Callable[P, Metric]:
    """Register a metric that receives every trial; before Inspect 0.3.241 it receives the reduced scores."""
    try:
        registered: Callable[P, Metric] = metric(scores="unreduced")(make)
    except TypeError:
        registered = metric(make)
    return registered


@_on_trials
def uq(method: str = "bayes", level: float = 0.95, scope: str = "population", cluster: str | None = None) -> Metric:
    """Score with its interval: `uq_mean`, `uq_lower`, `uq_upper` and `uq_sd`.

    A metric receives only the scorer, the metadata and the trials of each question. Pass `cluster` if the cluster field
    is otherwise known only from the catalogue of tasks.

    Parameters
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of another method
    level : nominal coverage of the interval, in (0, 1)
    scope : `population` or `benchmark`
    cluster : metadata field that groups the questions, `none` for no clusters, or None to detect one

    Raises
    ------
    DataError : if `level` or `scope` is invalid
    """
    return _UncertaintyMetric("uq", {"method": method, "level": level, "scope": scope}, cluster)


@_on_trials
def bayes_at_n(level: float = 0.95) -> Metric:
    """Bayes@N (Hariri et al. 2025, algorithm 1) with `scope="benchmark"`: `bayes_at_n_mean`, `bayes_at_n_lower`, ….

    Parameters
    ----------
    level : nominal coverage of the interval, in (0, 1)

    Raises
    ------
    DataError : if `level` is invalid
    """
    return _UncertaintyMetric("bayes_at_n", {"method": "bayes-at-n", "level": level, "scope": "benchmark"}, "none")


@_on_trials
def pass_k(k: int = 1, kind: PassKind = "at", level: float = 0.95, scope: str = "population") -> Metric:
    """pass@k, or pass^k if `kind` is `hat`, with its interval: `pass_at_2_mean`, `pass_at_2_lower`, ….

    Parameters
    ----------
    k : number of trials, at most the number of epochs
    kind : `at` if at least one of the k trials must be correct, `hat` if all must be
    level : nominal coverage of the interval, in (0, 1)
    scope : `population` or `benchmark`

    Raises
    ------
    DataError : if an argument is invalid
    """
    if kind not in get_args(PassKind):
        raise DataError(f"kind must be {' or '.join(get_args(PassKind))}; got {kind!r}")
    estimand = f"pass{'^' if kind == 'hat' else '@'}{k}"
    return _UncertaintyMetric(f"pass_{kind}_{k}", {"estimand": estimand, "level": level, "scope": scope}, "none")


class _UncertaintyMetric:
    """Function of a metric, written as a class because Inspect resolves the annotations of closures."""

    def __init__(self, prefix: str, options: dict[str, str | float], cluster: str | None) -> None:
        from harness_uq_inspect.live.settings import check_options

        check_options(**options)  # type: ignore[arg-type]
        self._prefix, self._options, self._cluster = prefix, options, cluster

    def __call__(self, scores: list[SampleScore]) -> Value:
        if not scores:
            return {}
        try:
            from harness_uq_inspect.live.compute_metric import metric_values

            values = metric_values(scores, self._options, self._cluster)
        except Exception as error:
            logger.warning("harness_uq: no %s: %s: %s", self._prefix, type(error).__name__, error)
            return {}
        return {f"{key}{self._prefix}_{name}": value for (key, name), value in values.items()}
