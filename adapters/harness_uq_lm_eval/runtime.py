"""Live runs: within a context, lm-eval's `evaluate` returns results with honest uncertainty.

The seam is `lm_eval.evaluator.evaluate`, which `simple_evaluate` looks up when it calls it. Display and
configuration are wrapped beside it, and everything is put back when the context ends. A run is never harmed: whatever
goes wrong here leaves lm-eval's own numbers, and says so in the results and in a warning.
"""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast
from unittest import mock

from harness_uq import Comparison, Estimate, TaskLog, compare, estimate
from harness_uq_lm_eval import replay, stock
from harness_uq_lm_eval.block import BLOCK, Entry, Results, add_block, failed_block, failed_entry, recorded_trials
from harness_uq_lm_eval.jsontree import Table, integer, items, table, text
from harness_uq_lm_eval.memory import task_logs
from harness_uq_lm_eval.settings import Asked, Settings
from harness_uq_lm_eval.systems import system_name
from harness_uq_lm_eval.table import with_intervals

Evaluate: TypeAlias = Callable[..., Results | None]

_logger = logging.getLogger("harness_uq")


@dataclass(slots=True)
class Session:
    """One context of live runs.

    Attributes
    ----------
    asked : the settings as far as they are known; a config file adds to them
    estimates : of the last evaluation, with their posteriors; empty where it failed
    comparisons : of the last evaluation with a logged run, where that was asked for
    no_comparison : why there are none although they were asked for
    n_simple : calls of `simple_evaluate` under way
    logs : of the last evaluation, to be compared once their system has a name
    """

    asked: Asked
    estimates: list[Estimate] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    no_comparison: str | None = None
    n_simple: int = 0
    logs: Sequence[TaskLog] = ()

    def settings(self) -> Settings | None:
        """What was asked for, None where nothing was."""
        return self.asked.settings()


@contextmanager
def live(asked: Asked) -> Iterator[Session]:
    """Within the context, evaluations give uncertainty as asked for at the time they run."""
    from lm_eval import evaluator, utils
    from lm_eval.config import evaluate_config

    session = Session(asked)
    with ExitStack() as stack:
        for module, name, wrapped in (
            (evaluator, "evaluate", wrap_evaluate(evaluator.evaluate, session)),
            (evaluator, "simple_evaluate", wrap_simple_evaluate(evaluator.simple_evaluate, session)),
            (utils, "make_table", with_intervals(utils.make_table)),
            (evaluate_config, "EvaluatorConfig", configured(evaluate_config.EvaluatorConfig, asked)),
        ):
            stack.enter_context(mock.patch.object(module, name, wrapped))
        yield session


def wrap_evaluate(original: Evaluate, session: Session) -> Evaluate:
    """`evaluate` with samples always collected, lm-eval's bootstrap off, and our block in what it returns."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def evaluate(*args: object, **kwargs: object) -> Results | None:
        settings = session.settings()
        if settings is None:
            return original(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        wants_samples, iterations = bound.arguments["log_samples"], bound.arguments["bootstrap_iters"]
        bound.arguments["log_samples"] = True
        if not settings.keep_bootstrap:
            bound.arguments["bootstrap_iters"] = 0
        results = original(*bound.args, **bound.kwargs)
        if results is None or BLOCK in results:  # not rank 0, or a context within this one has done it
            return results
        if iterations and not settings.keep_bootstrap:
            _guarded("lm-eval's own standard errors", stock.put_back, results, bound.arguments["task_dict"])
        _guarded("the trials", record_trials, results, bound.arguments["task_dict"])
        session.estimates, session.logs = enrich(results, settings)
        if not session.n_simple:
            _conclude(results, session, _origin(bound.arguments["lm"]))
        if not wants_samples:
            results.pop("samples", None)
        return results

    return evaluate


def wrap_simple_evaluate(original: Evaluate, session: Session) -> Evaluate:
    """`simple_evaluate`, after which the arguments of the run are known, which `evaluate` is not told."""

    @functools.wraps(original)
    def simple_evaluate(*args: object, **kwargs: object) -> Results | None:
        session.n_simple += 1
        try:
            results = original(*args, **kwargs)
        finally:
            session.n_simple -= 1
        if results is not None:
            _conclude(results, session, results)
        return results

    return simple_evaluate


def _conclude(results: Results, session: Session, origin: Table) -> None:
    _guarded("the name of the system", name_system, results, origin)
    _guarded("the comparison", add_comparisons, results, session, origin)


def enrich(results: Results, settings: Settings) -> tuple[list[Estimate], list[TaskLog]]:
    """Estimate, and put the block into the results; where that fails, a block that says why.

    Returns
    -------
    The estimates and what they are made from, none where they failed
    """
    try:
        logs = task_logs(results)
        rows, failures = estimate_each(logs, settings)
        entries = [*(row.to_dict() for row in rows), *failures]
        add_block(results, entries, settings.recorded(), **_truth(settings), **recorded_trials(results))
    except Exception as error:
        _logger.warning("no uncertainty in the results of this run: %s", _said(error))
        _guarded("the note of the failure", _add_failure, results, settings, _said(error))
        return [], []
    return rows, logs


def record_trials(results: Results, task_dict: Mapping[object, object]) -> None:
    """Score every trial of repeated questions by itself, for the block; where that cannot be done, why."""
    tasks = stock.tasks_of(task_dict)
    repeated = [name for name in tasks if (integer(table(results, "configs", name).get("repeats")) or 1) > 1]
    entries: list[dict[str, object]] = []
    for name in repeated:
        rows = [table(row) for row in items(table(results, "samples").get(name))]
        try:
            entries += replay.trial_entries(name, cast("replay.Task", tasks[name]), replay.questions_of(rows))
        except Exception as error:
            reason = str(error) if isinstance(error, replay.NoReplayError) else _said(error)
            entries.append({"task": name, "reason": reason})
    if repeated:
        results[BLOCK] = {"trials": entries}


def add_comparisons(results: Results, session: Session, origin: Table) -> None:
    """Put this run's differences to a logged one into the block, where that was asked for, and say each verdict."""
    logs, session.logs = session.logs, ()
    settings, block = session.settings(), results.get(BLOCK)
    session.comparisons, session.no_comparison = [], None
    if settings is None or settings.compare is None or not isinstance(block, dict):
        return
    if not logs:
        session.no_comparison = "there are no estimates"
        return
    named = [replace(log, system=_system(origin)) for log in logs]
    try:
        session.comparisons = compare(named, settings.compare, settings.compare_options())
    except Exception as error:
        session.no_comparison = str(error)
        raise
    block["comparisons"] = [row.to_dict() for row in session.comparisons]
    for row in session.comparisons:
        _logger.info("%s, %s: %s", row.task, row.metric, row.verdict_text)


def estimate_each(logs: Sequence[TaskLog], settings: Settings) -> tuple[list[Estimate], list[Entry]]:
    """Estimates of every log; where one of them fails unexpectedly, entries that say why, and those of the others."""
    options = settings.options()
    try:
        return estimate(logs, options), []
    except Exception as error:
        _logger.debug("estimating the tasks one by one: %s", _said(error))
    rows: list[Estimate] = []
    failures: list[Entry] = []
    for log in logs:
        needed = logs if log.subtasks else [log]
        try:
            rows += [row for row in estimate(needed, options) if row.task == log.task]
        except Exception as error:
            _logger.warning("no uncertainty for %s: %s", log.task, _said(error))
            failures += [failed_entry(log.task, *key, _said(error), _reported(log, key)) for key in log.reported]
    return rows, failures


def name_system(results: Results, origin: Table) -> None:
    """Name the system in the block's entries, from the arguments of the run or from what its model says of itself."""
    system = _system(origin)
    for entry in items(table(results, BLOCK).get("estimates")):
        if isinstance(entry, dict):
            entry["system"] = system


def _system(origin: Table) -> str:
    return system_name({key: origin.get(key) for key in ("config", "model_name", "model_source")})


def _origin(model: object) -> Table:
    """What a model says of itself, for a run whose `simple_evaluate` is not ours or that has none."""
    model = getattr(model, "lm", model)  # in a cache of replies
    own = vars(model)
    arguments, config = table(own, "model_args"), own.get("_config")
    given = (own.get("pretrained"), own.get("model"), arguments.get("model"), getattr(config, "_name_or_path", None))
    return {"model_source": next(filter(None, map(text, given)), type(model).__name__)}


def _truth(settings: Settings) -> dict[str, object]:
    """`config.bootstrap_iters` in the results says what the caller passed; this is what was run."""
    return {} if settings.keep_bootstrap else {"bootstrap_iters": 0}


def _reported(log: TaskLog, key: tuple[str, str]) -> dict[str, object]:
    reported = log.reported[key]
    return {"value": reported.value, "std_error": reported.std_error, "n": reported.n}


def _add_failure(results: Results, settings: Settings, error: str) -> None:
    results[BLOCK] = failed_block(results, {**settings.recorded(), **_truth(settings)}, error)


def _guarded(what: str, step: Callable[..., object], *args: object) -> None:
    try:
        step(*args)
    except Exception as error:
        _logger.warning("%s could not be had: %s", what, _said(error))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def configured(original: type, asked: Asked) -> type:
    """lm-eval's configuration, which then also takes `uq: bayes` and its companions in a config file."""

    class Configuration(original):  # type: ignore[misc]
        @staticmethod
        def load_yaml_config(config_path: str) -> dict[str, object]:
            content: Mapping[str, object] = original.load_yaml_config(config_path)  # type: ignore[attr-defined]
            others = asked.take(content)
            asked.check()
            return others

    Configuration.__name__, Configuration.__qualname__ = original.__name__, original.__qualname__
    return Configuration
