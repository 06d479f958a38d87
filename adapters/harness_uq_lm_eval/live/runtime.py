"""Live runs: within a context, lm-eval's `evaluate` returns results with honest uncertainty.

The seam is `lm_eval.evaluator.evaluate`, which `simple_evaluate` looks up when it calls it. Display and
configuration are wrapped beside it, and everything is put back when the context ends. A run is never harmed: whatever
goes wrong here leaves lm-eval's own numbers, and says so in the results and in a warning.
"""

import functools
import inspect
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias, cast
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from harness_uq import Comparison, Estimate, NotEstimableError, TaskLog, Totals, compare, estimate, structures
from harness_uq_lm_eval.block import BLOCK, Entry, Results, add_block, failed_block, failed_entry, recorded_trials
from harness_uq_lm_eval.jsontree import Table, integer, items, table, text
from harness_uq_lm_eval.live import seams, stock
from harness_uq_lm_eval.live.memory import task_logs
from harness_uq_lm_eval.live.precheck import check_tasks
from harness_uq_lm_eval.live.resampled import resampled
from harness_uq_lm_eval.live.settings import Asked, Settings
from harness_uq_lm_eval.live.table import with_intervals
from harness_uq_lm_eval.read import replay
from harness_uq_lm_eval.read.systems import system_name

RESAMPLING_SECONDS = 60.0  # in all, for the tasks' own aggregations

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
    session = Session(asked)
    if lost := seams.missing(seams.EVALUATION):
        _logger.warning(seams.gone(lost, "the run is lm-eval's own, without uncertainty"))
        yield session
        return
    with ExitStack() as stack:
        for seam, wrap, consequence in (
            (seams.EVALUATE, partial(wrap_evaluate, session=session), ""),
            (
                seams.SIMPLE_EVALUATE,
                partial(wrap_simple_evaluate, session=session),
                "the system is named after its model alone",
            ),
            (seams.TABLE, with_intervals, "the intervals are in the results and not in the table"),
            (seams.CONFIGURATION, partial(configured, asked=asked), "uq settings in a config file are not read"),
        ):
            if not seam.is_there():
                _logger.warning(seams.gone([seam], consequence))
                continue
            module, name = import_module(seam.module), seam.name.partition(".")[0]
            stack.enter_context(mock.patch.object(module, name, wrap(getattr(module, name))))
        yield session


def wrap_evaluate(original: Evaluate, session: Session) -> Evaluate:
    """`evaluate` with samples always collected, lm-eval's bootstrap off, and our block in what it returns."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def evaluate(*args: object, **kwargs: object) -> Results | None:
        settings = session.settings()
        if settings is None:
            return original(*args, **kwargs)
        keep_bootstrap = settings.keep_bootstrap or _cannot_put_back()
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        check_tasks(_tasks(bound.arguments["task_dict"]), settings)
        wants_samples, iterations = bound.arguments["log_samples"], bound.arguments["bootstrap_iters"]
        bound.arguments["log_samples"] = True
        if not keep_bootstrap:
            bound.arguments["bootstrap_iters"] = 0
        results = original(*bound.args, **bound.kwargs)
        if results is None:  # not rank 0
            return results
        if BLOCK in results:  # a context within this one has done it
            session.estimates = getattr(original, "session", session).estimates
            return results
        settings = replace(settings, keep_bootstrap=keep_bootstrap)
        if iterations and not keep_bootstrap:
            _guarded("lm-eval's own standard errors", stock.put_back, results, bound.arguments["task_dict"])
        _guarded("the trials", record_trials, results, bound.arguments["task_dict"], settings)
        session.estimates, session.logs = enrich(results, settings, bound.arguments["task_dict"])
        if not session.n_simple:
            _conclude(results, session, _origin(bound.arguments["lm"]))
        if not wants_samples:
            results.pop("samples", None)
        return results

    evaluate.session = session  # type: ignore[attr-defined]
    return evaluate


def _tasks(task_dict: Mapping[object, object]) -> Mapping[str, stock.Task]:
    """Tasks by name, none where lm-eval keeps them in a way that is not known."""
    try:
        return stock.tasks_of(task_dict)
    except Exception as error:
        _logger.debug("the tasks cannot be looked at: %s", _said(error))
        return {}


def _cannot_put_back() -> bool:
    """Whether lm-eval's bootstrap has to stay on because its other standard errors could not be put back."""
    lost = seams.missing(seams.OWN_ERRORS)
    if lost:
        _logger.warning(seams.gone(lost, "its bootstrap stays on, which may take minutes"))
    return bool(lost)


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


def enrich(
    results: Results, settings: Settings, task_dict: Mapping[object, object] = MappingProxyType({})
) -> tuple[list[Estimate], list[TaskLog]]:
    """Estimate, and put the block into the results; where that fails, a block that says why.

    Returns
    -------
    The estimates and what they are made from, none where they failed
    """
    try:
        logs = task_logs(results)
        rows, failures = estimate_each(logs, settings)
        rows = _resampled(rows, logs, results, settings, task_dict)
        entries = [*(row.to_dict() for row in rows), *failures]
        add_block(results, entries, settings.recorded(), **_truth(settings), **recorded_trials(results))
    except BaseException as error:
        _logger.warning("no uncertainty in the results of this run: %s", _said(error))
        _guarded("the note of the failure", _add_failure, results, settings, _said(error))
        return [], []
    return rows, logs


def _resampled(
    rows: Sequence[Estimate],
    logs: Sequence[TaskLog],
    results: Results,
    settings: Settings,
    task_dict: Mapping[object, object],
) -> list[Estimate]:
    """The rows, with intervals by the task's own aggregation where nothing else gives one and it is fast enough."""
    tasks, of_task = _tasks(task_dict), {log.task: log for log in logs}
    opaque = {(log.task, data.metric, data.filter) for log in logs for data in log.data if isinstance(data, Totals)}
    end = time.monotonic() + RESAMPLING_SECONDS

    def found(row: Estimate) -> Estimate:
        samples = items(table(results, "samples").get(row.task))
        function = tasks[row.task].aggregation().get(row.metric) if row.task in tasks else None
        is_opaque = (row.task, row.metric, row.filter) in opaque and settings.scope == "population"
        if row.interval is not None or not is_opaque or function is None or row.harness.value is None:
            return row
        try:
            values, units = _values(row, samples, of_task[row.task], settings)
            seconds = max(0.0, min(end - time.monotonic(), RESAMPLING_SECONDS / 3))
            return resampled(row, values, function, units, level=settings.level, seconds=seconds)
        except NotEstimableError as error:
            return replace(row, warnings=(*row.warnings, f"not resampled: {error}"))

    return [found(row) for row in rows]


def _values(
    row: Estimate, samples: Sequence[object], log: TaskLog, settings: Settings
) -> tuple[list[object], NDArray[np.int64] | None]:
    """What the task's aggregation takes, one a question, and the cluster of each."""
    of_filter = [table(sample) for sample in samples if table(sample).get("filter") == row.filter]
    kept = [place for place, sample in enumerate(of_filter) if row.metric in sample]
    codes = structures([log], settings.options().structure)[0].clusters.codes
    if codes is not None and len(codes) != len(of_filter):
        raise NotEstimableError("questions and logged rows differ in number, so that clusters are unknown")
    return [of_filter[place][row.metric] for place in kept], None if codes is None else codes[kept]


def record_trials(results: Results, task_dict: Mapping[object, object], settings: Settings) -> None:
    """Score every trial of repeated questions by itself, for the block; where that cannot be done, why."""
    tasks = stock.tasks_of(task_dict)
    repeated = [name for name in tasks if (integer(table(results, "configs", name).get("repeats")) or 1) > 1]
    entries: list[dict[str, object]] = []
    for name in repeated:
        rows = [table(row) for row in items(table(results, "samples").get(name))]
        try:
            task, questions = cast("replay.Task", tasks[name]), replay.questions_of(rows)
            entries += replay.trial_entries(name, task, questions, settings.trials)
        except BaseException as error:
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
        _logger.info("%s, %s: %s", row.task, row.metric, row.answer)


def estimate_each(logs: Sequence[TaskLog], settings: Settings) -> tuple[list[Estimate], list[Entry]]:
    """Estimates of every log; entries that say why in the place of those that failed unexpectedly."""
    rows = _with_trials(estimate(logs, settings.options()), logs, settings)
    failed = [row for row in rows if row.failure is not None and row.interval is None]
    for task, said in dict.fromkeys((row.task, row.failure) for row in failed):
        _logger.warning("no uncertainty for %s: %s", task, said)
    failures = [_failed_entry(row) for row in failed if row.harness.value is not None]
    return [row for row in rows if row not in failed], failures


def _failed_entry(row: Estimate) -> Entry:
    harness = row.harness
    reported = {"value": harness.value, "std_error": harness.std_error, "n": harness.n}
    return failed_entry(row.task, row.metric, row.filter, row.failure or "", reported)


def _with_trials(rows: list[Estimate], logs: Sequence[TaskLog], settings: Settings) -> list[Estimate]:
    """The rows, those of single trials with the estimand asked for."""
    if settings.estimand == "mean":
        return rows
    trials = [replace(log, data=tuple(data for data in log.data if replay.is_of_trials(data.filter))) for log in logs]
    asked = estimate([log for log in trials if log.data], replace(settings.options(), estimand=settings.estimand))
    instead = {(row.task, row.metric, row.filter): row for row in asked}
    return [instead.get((row.task, row.metric, row.filter), row) for row in rows]


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


def _add_failure(results: Results, settings: Settings, error: str) -> None:
    results[BLOCK] = failed_block(results, {**settings.recorded(), **_truth(settings)}, error)


def _guarded(what: str, step: Callable[..., object], *args: object) -> None:
    try:
        step(*args)
    except BaseException as error:  # a run that has finished is never lost, not even to Ctrl-C
        _logger.warning("%s could not be had: %s", what, _said(error))


def _said(error: BaseException) -> str:
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
