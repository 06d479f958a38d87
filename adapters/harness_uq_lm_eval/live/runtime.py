"""Live sessions: within a context, lm-eval's `evaluate` returns results with intervals.

The context wraps `lm_eval.evaluator.evaluate`, which `simple_evaluate` looks up at each call, and the functions that
print the table and read the configuration; all are restored when the context ends. A finished evaluation is never lost:
if anything fails here, lm-eval's own results stay, and the results and a warning report the failure.
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

import harness_uq.plugin_api as uq
from harness_uq_lm_eval.json_access import Table, integer, items, table, text
from harness_uq_lm_eval.live import lm_eval_internals, native_stderr
from harness_uq_lm_eval.live.bootstrap import bootstrap_estimate
from harness_uq_lm_eval.live.preflight import check_tasks
from harness_uq_lm_eval.live.results_table import with_intervals
from harness_uq_lm_eval.live.save_results import wrap_tracker
from harness_uq_lm_eval.live.settings import LmEvalSettings, RequestedSettings
from harness_uq_lm_eval.messages import NOT_RESAMPLED, QUESTIONS_AND_ROWS_DIFFER
from harness_uq_lm_eval.read import replay
from harness_uq_lm_eval.read.in_memory_results import task_logs
from harness_uq_lm_eval.read.system_names import system_name
from harness_uq_lm_eval.results_block import (
    BLOCK,
    WITHHELD,
    Entry,
    Results,
    add_block,
    failed_block,
    failed_entry,
    recorded_trials,
)

RESAMPLING_SECONDS = 60.0  # in total, for the aggregations of all tasks

Evaluate: TypeAlias = Callable[..., Results | None]

_logger = logging.getLogger("harness_uq")


@dataclass(slots=True)
class Session:
    """State of one context of live runs.

    `requested`: the settings so far; a config file may add to them. `estimates`: estimates of the last evaluation, with
    their posteriors; empty if they failed. `comparisons`: comparisons of the last evaluation with a logged run, if
    requested. `no_comparison`: the reason why requested comparisons are missing. `n_simple`: number of
    `simple_evaluate` calls that have not returned. `logs`: task logs of the last evaluation, kept for the comparison
    until the name of the system is known. `save_errors`: one for each results file that was not saved, or was saved
    without uncertainty.
    """

    requested: RequestedSettings
    estimates: list[uq.Estimate] = field(default_factory=list)
    comparisons: list[uq.Comparison] = field(default_factory=list)
    no_comparison: str | None = None
    n_simple: int = 0
    logs: Sequence[uq.TaskLog] = ()
    save_errors: list[uq.Message] = field(default_factory=list)

    def clear(self) -> None:
        """Forget the last evaluation, in a process other than the one that reports it."""
        self.estimates, self.comparisons, self.logs, self.no_comparison = [], [], (), None


@contextmanager
def live_session(requested: RequestedSettings) -> Iterator[Session]:
    """Context in which evaluations return uncertainty, with the settings at the time of each evaluation."""
    session = Session(requested)
    if missing := lm_eval_internals.missing_internals(lm_eval_internals.EVALUATION):
        _logger.warning(lm_eval_internals.missing_message(missing, "the run is lm-eval's own, without uncertainty"))
        yield session
        return
    with ExitStack() as stack:
        for internal, wrap, consequence in (
            (lm_eval_internals.EVALUATE, partial(wrap_evaluate, session=session), ""),
            (
                lm_eval_internals.SIMPLE_EVALUATE,
                partial(wrap_simple_evaluate, session=session),
                "the system is named after its model alone",
            ),
            (lm_eval_internals.TABLE, with_intervals, "the intervals are in the results and not in the table"),
            (
                lm_eval_internals.CONFIGURATION,
                partial(wrap_configuration, requested=requested),
                "uq settings in a config file are not read",
            ),
            (
                lm_eval_internals.TRACKER,
                partial(wrap_tracker, report=session.save_errors.append),
                "a results file that cannot be written completely is not noticed",
            ),
        ):
            if not internal.is_available():
                _logger.warning(lm_eval_internals.missing_message([internal], consequence))
                continue
            module, name = import_module(internal.module), internal.name.partition(".")[0]
            stack.enter_context(mock.patch.object(module, name, wrap(getattr(module, name))))
        yield session


def wrap_evaluate(original: Evaluate, session: Session) -> Evaluate:
    """`evaluate` that always collects samples, disables lm-eval's bootstrap, and adds the `uq` block to its results."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def evaluate(*args: object, **kwargs: object) -> Results | None:
        settings = session.requested.settings()
        if settings is None:
            return original(*args, **kwargs)
        keep_bootstrap = settings.keep_bootstrap or _lacks_native_stderr()
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        tasks = _tasks(bound.arguments["task_dict"])
        check_tasks(tasks, settings)
        wants_samples, iterations = bound.arguments["log_samples"], bound.arguments["bootstrap_iters"]
        bound.arguments["log_samples"] = True
        if not keep_bootstrap:
            bound.arguments["bootstrap_iters"] = 0
        if settings.questions is None:
            results = original(*bound.args, **bound.kwargs)
        else:
            from harness_uq_lm_eval.live import rounds  # imports what only it needs

            documents_of = cast("Mapping[str, rounds.Task]", tasks)
            results = rounds.evaluate_in_rounds(original, bound.arguments, documents_of, settings)
        if results is None:  # not rank 0
            session.clear()
            return results
        if BLOCK in results:  # a nested context has added it
            session.estimates = getattr(original, "session", session).estimates
            return results
        settings = replace(settings, keep_bootstrap=keep_bootstrap)
        if iterations and not keep_bootstrap:
            _run_guarded(
                "lm-eval's own standard errors", native_stderr.restore_stderr, results, bound.arguments["task_dict"]
            )
        _run_guarded("the trials", record_trials, results, bound.arguments["task_dict"], settings)
        session.estimates, session.logs = add_estimates(results, settings, bound.arguments["task_dict"])
        if not session.n_simple:
            _finish(results, session, _origin(bound.arguments["lm"]))
        if not wants_samples:
            results.pop("samples", None)
        return results

    evaluate.session = session  # type: ignore[attr-defined]
    return evaluate


def _tasks(task_dict: Mapping[object, object]) -> Mapping[str, native_stderr.Task]:
    """Tasks by name; none if the structure of `task_dict` is unknown."""
    try:
        return native_stderr.tasks_of(task_dict)
    except Exception as error:
        _logger.debug("the tasks cannot be looked at: %s", _describe(error))
        return {}


def _lacks_native_stderr() -> bool:
    """Whether lm-eval's bootstrap stays on because its other standard errors could not be restored."""
    missing = lm_eval_internals.missing_internals(lm_eval_internals.NATIVE_STDERR)
    if missing:
        _logger.warning(lm_eval_internals.missing_message(missing, "its bootstrap stays on, which may take minutes"))
    return bool(missing)


def wrap_simple_evaluate(original: Evaluate, session: Session) -> Evaluate:
    """`simple_evaluate` that completes the results with the arguments of the run, which `evaluate` does not receive."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def simple_evaluate(*args: object, **kwargs: object) -> Results | None:
        settings = session.requested.settings()
        if settings is not None and settings.questions is not None:
            from harness_uq_lm_eval.live import rounds

            rounds.check_arguments(signature.bind(*args, **kwargs).arguments)
        session.n_simple += 1
        try:
            results = original(*args, **kwargs)
        finally:
            session.n_simple -= 1
        if results is None:  # with torchrun, `evaluate` may return results in every process
            session.clear()
        else:
            _finish(results, session, results)
        return results

    return simple_evaluate


def _finish(results: Results, session: Session, origin: Table) -> None:
    _run_guarded("the name of the system", name_system, results, origin)
    _run_guarded("the comparison", add_comparisons, results, session, origin)


def add_estimates(
    results: Results, settings: LmEvalSettings, task_dict: Mapping[object, object] = MappingProxyType({})
) -> tuple[list[uq.Estimate], list[uq.TaskLog]]:
    """Estimate, and add the block to the results; if that fails, a block with the reason.

    Returns the estimates and the task logs that they are from; empty if they failed.
    """
    # the number of bootstrap iterations that ran, not the one that was requested
    recorded = settings.recorded() | ({} if settings.keep_bootstrap else {"bootstrap_iters": 0})
    try:
        logs = task_logs(results)
        rows, failures = estimate_each(logs, settings)
        rows = _add_bootstrap_intervals(rows, logs, results, settings, task_dict)
        entries = [*(row.to_dict() for row in rows), *failures]
        add_block(results, entries, recorded, settings.keep_stderr, **recorded_trials(results))
        _report_withheld(results)
    except BaseException as error:
        reason = _describe(error)
        _logger.warning("no uncertainty in the results of this run: %s", reason)
        _run_guarded("the note", lambda: results.update({BLOCK: failed_block(results, recorded, reason)}))
        return [], []
    return rows, logs


def _report_withheld(results: Results) -> None:
    """Warn of the metrics whose value on the chosen documents is biased and not shown."""
    for value in map(table, items(table(results, BLOCK).get(WITHHELD))):
        _logger.warning(
            "%s: %s is N/A. On documents that were chosen actively it is biased, and it cannot be estimated.",
            value.get("task"),
            value.get("metric"),
        )


def _add_bootstrap_intervals(
    rows: Sequence[uq.Estimate],
    logs: Sequence[uq.TaskLog],
    results: Results,
    settings: LmEvalSettings,
    task_dict: Mapping[object, object],
) -> list[uq.Estimate]:
    """The estimates; those without an interval get a bootstrap interval, if the task's aggregation is fast enough."""
    tasks, log_of = _tasks(task_dict), {log.task: log for log in logs}
    aggregates = {
        (log.task, data.metric, data.filter) for log in logs for data in log.data if isinstance(data, uq.AggregateScore)
    }
    end = time.monotonic() + RESAMPLING_SECONDS

    def with_interval(row: uq.Estimate) -> uq.Estimate:
        samples = items(table(results, "samples").get(row.task))
        function = tasks[row.task].aggregation().get(row.metric) if row.task in tasks else None
        is_eligible = row.key in aggregates and settings.scope == "population"
        if row.interval is not None or not is_eligible or function is None or row.harness.value is None:
            return row
        try:
            values, units = _aggregation_inputs(row, samples, log_of[row.task], settings)
            seconds = max(0.0, min(end - time.monotonic(), RESAMPLING_SECONDS / 3))
            return bootstrap_estimate(row, values, function, units, level=settings.level, seconds=seconds)
        except uq.NotEstimableError as error:
            # the refusals of the row advise to run the aggregation live, which has just failed
            others = (message for message in row.messages if message.severity != "refusal")
            return replace(row, messages=(*others, NOT_RESAMPLED(reason=str(error))))

    return [with_interval(row) for row in rows]


def _aggregation_inputs(
    row: uq.Estimate, samples: Sequence[object], log: uq.TaskLog, settings: LmEvalSettings
) -> tuple[list[object], NDArray[np.int64] | None]:
    """Arguments of the task's aggregation, one per question, and the cluster of each question."""
    filtered = [table(sample) for sample in samples if table(sample).get("filter") == row.filter]
    scored = [index for index, sample in enumerate(filtered) if row.metric in sample]
    codes = uq.detect_structure([log], settings.options())[0].clusters.codes
    if codes is not None and len(codes) != len(filtered):
        raise uq.NotEstimableError(QUESTIONS_AND_ROWS_DIFFER())
    return [filtered[index][row.metric] for index in scored], None if codes is None else codes[scored]


def record_trials(results: Results, task_dict: Mapping[object, object], settings: LmEvalSettings) -> None:
    """Score each trial of repeated questions for the block; if that is not possible, record the reason."""
    tasks = native_stderr.tasks_of(task_dict)
    repeated = [name for name in tasks if (integer(table(results, "configs", name).get("repeats")) or 1) > 1]
    entries: list[dict[str, object]] = []
    for name in repeated:
        rows = [table(row) for row in items(table(results, "samples").get(name))]
        try:
            task, questions = cast("replay.Task", tasks[name]), replay.questions_of(rows)
            entries += replay.trial_entries(name, task, questions, settings.trials)
        except BaseException as error:
            reason = str(error) if isinstance(error, replay.NoReplayError) else _describe(error)
            entries.append({"task": name, "reason": reason})
    if repeated:
        results[BLOCK] = {"trials": entries}


def add_comparisons(results: Results, session: Session, origin: Table) -> None:
    """Add the comparison with a logged run to the block, if it was requested, and log each verdict."""
    logs, session.logs = session.logs, ()
    settings, block = session.requested.settings(), results.get(BLOCK)
    session.comparisons, session.no_comparison = [], None
    if settings is None or settings.compare is None or not isinstance(block, dict):
        return
    if not logs:
        session.no_comparison = "there are no estimates"
        return
    try:
        session.comparisons = settings.compared([replace(log, system=_system(origin)) for log in logs])
    except Exception as error:
        session.no_comparison = str(error)
        raise
    block["comparisons"] = [row.to_dict() for row in session.comparisons]
    for row in session.comparisons:
        _logger.info("%s, %s: %s", row.task, row.metric, row.answer)


def estimate_each(logs: Sequence[uq.TaskLog], settings: LmEvalSettings) -> tuple[list[uq.Estimate], list[Entry]]:
    """Estimates of all logs, and entries with the reason for those that failed with an unexpected error."""
    earlier = list(settings.reference_runs) or None
    rows = _replace_trial_estimates(uq.estimate(logs, settings.options(), reference_runs=earlier), logs, settings)
    failed = [row for row in rows if row.status == "failed"]
    for task, reason in dict.fromkeys((row.task, row.errors[0].text) for row in failed):
        _logger.warning("No uncertainty for %s: %s", task, reason)
    failures = [_failed_entry(row) for row in failed if row.harness.value is not None]
    return [row for row in rows if row not in failed], failures


def _failed_entry(row: uq.Estimate) -> Entry:
    harness = row.harness
    reported = {"value": harness.value, "std_error": harness.std_error, "n": harness.n}
    return failed_entry(row.task, row.metric, row.filter, row.errors[0].text, reported)


def _replace_trial_estimates(
    rows: list[uq.Estimate], logs: Sequence[uq.TaskLog], settings: LmEvalSettings
) -> list[uq.Estimate]:
    """The estimates, those of single trials with the requested estimand."""
    if settings.estimand == "mean":
        return rows
    trials = [replace(log, data=tuple(data for data in log.data if replay.is_of_trials(data.filter))) for log in logs]
    trial_rows = uq.estimate(
        [log for log in trials if log.data], replace(settings.options(), estimand=settings.estimand)
    )
    replacements = {row.key: row for row in trial_rows}
    return [replacements.get(row.key, row) for row in rows]


def name_system(results: Results, origin: Table) -> None:
    """Write the name of the system into the block's entries, from the arguments of the run or from its model."""
    system = _system(origin)
    for entry in items(table(results, BLOCK).get("estimates")):
        if isinstance(entry, dict):
            entry["system"] = system


def _system(origin: Table) -> str:
    return str(system_name({key: origin.get(key) for key in ("config", "model_name", "model_source")}))


def _origin(model: object) -> Table:
    """Name of the model from its attributes, for a run without `simple_evaluate` or with one that is not wrapped."""
    model = getattr(model, "lm", model)  # a caching model wraps another
    attributes = vars(model)
    arguments, config = table(attributes, "model_args"), attributes.get("_config")
    names = (
        attributes.get("pretrained"),
        attributes.get("model"),
        arguments.get("model"),
        getattr(config, "_name_or_path", None),
    )
    return {"model_source": next(filter(None, map(text, names)), type(model).__name__)}


def _run_guarded(what: str, step: Callable[..., object], *args: object) -> None:
    try:
        step(*args)
    except BaseException as error:  # a finished evaluation is never lost, not even to Ctrl-C
        _logger.warning("%s could not be had: %s", what, _describe(error))


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def wrap_configuration(original: type, requested: RequestedSettings) -> type:
    """lm-eval's configuration class, which then also accepts the `uq` settings in a config file."""

    class Configuration(original):  # type: ignore[misc]
        @staticmethod
        def load_yaml_config(config_path: str) -> dict[str, object]:
            content: Mapping[str, object] = original.load_yaml_config(config_path)  # type: ignore[attr-defined]
            others = requested.extract(content)
            requested.check()
            return others

    Configuration.__name__, Configuration.__qualname__ = original.__name__, original.__qualname__
    return Configuration
