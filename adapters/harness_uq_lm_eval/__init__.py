"""Adapter for lm-evaluation-harness: live runs of lm-eval 0.4.11 and later, and logs of lm-eval 0.4.0 and later.

with harness_uq_lm_eval.uq("bayes"):
    results = lm_eval.simple_evaluate(...)
"""

from typing import TYPE_CHECKING

from harness_uq.plugin_api import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

    from harness_uq_lm_eval.harness import LmEvalHarness
    from harness_uq_lm_eval.live.runtime import Session
    from harness_uq_lm_eval.live.settings import Scope
    from harness_uq_lm_eval.read.replay import Trials


@hookimpl
def harness_uq_harnesses() -> "Iterable[LmEvalHarness]":
    """Register lm-eval as a harness."""
    from harness_uq_lm_eval.harness import LmEvalHarness

    return [LmEvalHarness()]


def uq(
    method: str,
    *,
    level: float = 0.95,
    scope: "Scope | None" = None,
    cluster: "str | Iterable[str] | None" = None,
    compare: str | None = None,
    keep_stderr: bool = False,
    keep_bootstrap: bool = False,
    estimand: str = "mean",
    trials: "Trials" = "auto",
    questions: int | None = None,
    reference_runs: "str | Iterable[str] | None" = None,
    rounds: int = 5,
) -> "AbstractContextManager[Session]":
    """Context in which lm-eval's evaluations return intervals, and standard errors from the same method.

    If you imported `evaluate` by name before (`from lm_eval.evaluator import evaluate`), its results have no intervals.
    `simple_evaluate` works if imported by name, but the system is then named after its model alone, without the other
    arguments of the run.

    Parameters
    ----------
    method : `bayes`, `wilson`, `t`, `clt` or the name of another method
    level : nominal coverage, in (0, 1)
    scope : `population` (similar questions), `benchmark` (exactly these questions) or `full` (the whole
        benchmark, of which the run uses a part); default `population`, with `questions` `full`
    cluster : `FIELD`, `TASK=FIELD`, `none` or `auto`, or several of them
    compare : path of a logged run to compare with
    keep_stderr : whether the standard errors that lm-eval computes stay in its results
    keep_bootstrap : whether lm-eval also computes its own bootstrap standard errors
    estimand : estimand of repeated trials: `mean`, `pass@K`, `pass^K`, `G-pass@K:TAU`, `mG-pass@K` or `maj@K`
    trials : whether to score each of the repeated trials: `auto` (if that takes at most one minute and calls no other
        service), `on` or `off`
    questions : number of documents of each task to run, chosen in rounds; by default all
    reference_runs : paths of runs of other systems on all documents, with `questions`
    rounds : number of rounds, with `questions`

    Raises
    ------
    HarnessUqError : if the method does not exist, a setting is invalid or `compare` does not exist
    """
    from harness_uq_lm_eval.live.runtime import live_session
    from harness_uq_lm_eval.live.settings import RequestedSettings

    clusters = (cluster,) if isinstance(cluster, str) else tuple(cluster or ())
    earlier = (reference_runs,) if isinstance(reference_runs, str) else tuple(reference_runs or ())
    requested = RequestedSettings(
        {
            "method": method,
            "level": level,
            "scope": scope,
            "cluster": clusters,
            "compare": compare,
            "keep_bootstrap": keep_bootstrap,
            "keep_stderr": keep_stderr,
            "estimand": estimand,
            "trials": trials,
            "questions": questions,
            "reference_runs": earlier or None,
            "rounds": None if questions is None else rounds,
        }
    )
    requested.check()
    return live_session(requested)


def make_table(results: "Mapping[str, object]", column: str = "results") -> str:
    """The table of `lm_eval.utils.make_table`, with a column of intervals.

    Parameters
    ----------
    results : results of an evaluation within `uq`; other results are shown without intervals
    column : `results`, or `groups` for the groups of tasks
    """
    from lm_eval import utils

    from harness_uq_lm_eval.live.results_table import with_intervals

    return with_intervals(utils.make_table)(results, column)
