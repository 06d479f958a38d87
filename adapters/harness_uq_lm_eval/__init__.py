"""lm-evaluation-harness for harness_uq: live runs of lm-eval 0.4.11 and later, and the logs of 0.4.0 and later.

with harness_uq_lm_eval.uq("bayes"):
    results = lm_eval.simple_evaluate(...)
"""

from typing import TYPE_CHECKING

from harness_uq import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from harness_uq_lm_eval.harness import LmEvalHarness
    from harness_uq_lm_eval.live.runtime import Session
    from harness_uq_lm_eval.live.settings import Scope
    from harness_uq_lm_eval.read.replay import Trials


@hookimpl
def harness_uq_harnesses() -> "Iterable[LmEvalHarness]":
    """Offer the reader of lm-eval logs."""
    from harness_uq_lm_eval.harness import LmEvalHarness

    return [LmEvalHarness()]


def uq(
    method: str,
    *,
    level: float = 0.95,
    scope: "Scope" = "population",
    cluster: "str | Iterable[str] | None" = None,
    compare: str | None = None,
    keep_bootstrap: bool = False,
    estimand: str = "mean",
    trials: "Trials" = "auto",
) -> "AbstractContextManager[Session]":
    """Context in which lm-eval's evaluations return intervals and honest standard errors.

    `evaluate` imported by its name before (`from lm_eval.evaluator import evaluate`) is not reached. `simple_evaluate`
    imported so is; the system is then named after its model alone, without the other arguments of the run.

    Parameters
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of an estimator
    level : coverage aimed at, in (0, 1)
    scope : `population` (new questions of the kind), `benchmark` (exactly these) or `full` (the whole benchmark, of
        which the run uses a part)
    cluster : `FIELD`, `TASK=FIELD`, `none` or `auto`, or several of them
    compare : a logged run to compare with
    keep_bootstrap : let lm-eval compute its own bootstrap standard errors too
    estimand : of repeated trials, one by one: `mean`, `pass@K`, `pass^K`, `G-pass@K:TAU`, `mG-pass@K` or `maj@K`
    trials : `auto` scores repeated trials one by one where that takes a minute at most and asks no other service,
        `on` whatever it takes, `off` never

    Raises
    ------
    HarnessUqError : if the method does not exist, a setting makes no sense or there is no run to compare with
    """
    from harness_uq_lm_eval.live.runtime import live
    from harness_uq_lm_eval.live.settings import Asked

    clusters = (cluster,) if isinstance(cluster, str) else tuple(cluster or ())
    asked = Asked(
        {
            "method": method,
            "level": level,
            "scope": scope,
            "cluster": clusters,
            "compare": compare,
            "keep_bootstrap": keep_bootstrap,
            "estimand": estimand,
            "trials": trials,
        }
    )
    asked.check()
    return live(asked)
