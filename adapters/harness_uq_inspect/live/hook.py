"""The hook that adds intervals to the log of each task. It is imported only if the environment enables it.

A finished evaluation is never lost: every exception in this module becomes a warning.
"""

import logging
import math
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
from inspect_ai.hooks import Hooks, RunEnd, SampleEnd, SampleStart, TaskEnd, TaskStart, hooks
from inspect_ai.log import EvalLog, EvalResults, LogUpdate, read_eval_log_async, write_eval_log_async
from inspect_ai.util import display_type
from pydantic import TypeAdapter

from harness_uq.plugin_api import LiveSettings, UsageError
from harness_uq_inspect.live.environment import is_enabled
from harness_uq_inspect.live.inspect_internals import active_log_location, displayed_results, identity, local_path
from harness_uq_inspect.live.settings import settings_from_environment
from harness_uq_inspect.read.schema import Json

if TYPE_CHECKING:
    from harness_uq_inspect.read.samples import Log

PROMPT_PREFIX = "prompt_prefix"  # a field of every question that is not in its metadata
logger = logging.getLogger(__name__)
_SECONDS: Final = 60  # for all logs of a run that was interrupted


@hooks(name="uq", description="intervals by harness_uq")
class UncertaintyHooks(Hooks):  # type: ignore[misc]
    """Estimates from each log as soon as it is on disk, annotates its header, and prints tables when the run ends."""

    def __init__(self) -> None:
        self._tables: list[str] = []
        self._finished: set[str] = set()
        self._collected: dict[str, Log] = {}
        self._locations: dict[str, str] = {}
        self._unchecked: dict[str, str] = {}  # task without a sample so far, by the id of its run

    def enabled(self) -> bool:
        """Whether the environment still enables intervals."""
        return is_enabled()

    async def on_task_start(self, data: TaskStart) -> None:
        """If the log will not contain samples, start collecting them."""
        self._unchecked[data.eval_id] = data.spec.task
        if data.spec.config.log_samples is False:
            from harness_uq_inspect.live.collect_samples import empty_log_of

            self._collected[data.eval_id] = empty_log_of(data.spec)

    async def on_sample_start(self, data: SampleStart) -> None:
        """Check the fields of the first sample, and record the location of the log, which Inspect does not report when
        a run is cancelled.
        """
        if (task := self._unchecked.pop(data.eval_id, None)) is not None:
            _check_cluster_fields(task, data)
        if data.eval_id not in self._locations and (location := active_log_location()) is not None:
            self._locations[data.eval_id] = location

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Collect the scores of a sample that is not logged."""
        if (collected := self._collected.get(data.eval_id)) is not None:
            from harness_uq_inspect.live.collect_samples import scored_sample

            collected.add([scored_sample(data.sample)])

    async def on_task_end(self, data: TaskEnd) -> None:
        """Process the log: it is on disk, and Inspect has not printed its results yet."""
        await self._finish(data.log)

    async def on_run_end(self, data: RunEnd) -> None:
        """Process logs of failed and cancelled tasks, for which Inspect emits no task end.

        After an interruption, Inspect calls this in a cancelled scope, and an error in an await would change the exit
        code of the run. Therefore, this is shielded, and takes a limited time.
        """
        is_cancelled = anyio.current_effective_deadline() == -math.inf
        with anyio.move_on_after(_SECONDS if is_cancelled else None, shield=is_cancelled) as scope:
            for log in data.logs:
                await self._finish(log)
            for location in self._locations.values():
                await self._finish_partial(location)
        if scope.cancelled_caught:
            logger.warning("harness_uq: no intervals for all logs within %d s; add them with rescore", _SECONDS)
        self._locations.clear()
        self._collected.clear()
        if display_type() != "none":
            for text in self._tables:  # not earlier, since a display may show the progress of other tasks
                print(f"\n{text}\n", flush=True)  # noqa: T201
        self._tables.clear()

    async def _finish_partial(self, location: str) -> None:
        """Process the log of a cancelled task, which Inspect does not pass to the hook."""
        if identity(location) in self._finished or local_path(location) is None:
            return
        try:
            await self._finish(await read_eval_log_async(location, header_only=True))
        except Exception as error:
            logger.warning("harness_uq: no intervals for %s: %s: %s", location, type(error).__name__, error)

    async def _finish(self, log: EvalLog) -> None:
        if not log.location or (name := identity(log.location)) in self._finished:
            return
        self._finished.add(name)
        try:
            await self._estimate(log, settings_from_environment())
        except Exception as error:
            logger.warning("harness_uq: no intervals for %s: %s: %s", log.eval.task, type(error).__name__, error)

    async def _estimate(self, log: EvalLog, settings: LiveSettings) -> None:
        from harness_uq_inspect.live.postprocess import annotate_finished_log

        if log.results is None:
            return
        collected = self._collected.pop(log.eval.eval_id, None)
        outcome = await anyio.to_thread.run_sync(
            partial(annotate_finished_log, log.location, settings, collected),
            abandon_on_cancel=anyio.current_effective_deadline() < math.inf,  # only if the run was interrupted
        )
        if outcome.header is not None:
            _update_results(log, outcome.header)
            if not outcome.is_written:
                await write_eval_log_async(log, log.location, if_match_etag=log.etag, header_only=True)
        self._tables.append(outcome.text)


def annotate_scored_log(location: str, log: EvalLog) -> None:
    """Process a log that `inspect score` has written."""
    from harness_uq_inspect.live.postprocess import annotate_finished_log

    try:
        if local_path(location) is None:
            logger.warning("harness_uq: %s is remote: add the intervals with harness-uq rescore --in-place", location)
            return
        outcome = annotate_finished_log(location, settings_from_environment())
        if outcome.header is not None:
            _update_results(log, outcome.header)
        print(f"\n{outcome.text}\n", flush=True)  # noqa: T201
    except Exception as error:
        logger.warning("harness_uq: no intervals for %s: %s: %s", location, type(error).__name__, error)


def _check_cluster_fields(task: str, data: SampleStart) -> None:
    """Warn at once if the first sample lacks a field of `--uq-cluster`; a solver may still add it."""
    try:
        settings = settings_from_environment()
        if settings.cluster and (fields := getattr(data.summary, "metadata", None)) is not None:
            settings.check_cluster_fields({task: [*fields, PROMPT_PREFIX]})
    except UsageError as error:
        logger.warning("harness_uq: %s: %s The run continues, without these clusters.", task, error)
    except Exception as error:
        logger.debug("harness_uq: the fields of %s are not checked: %s", task, error)


def _update_results(log: EvalLog, header: Json) -> None:
    """Put the annotated results into the log that `eval()` returns and into those that the console will show."""
    annotated = EvalResults.model_validate(header["results"])
    log.log_updates = TypeAdapter(list[LogUpdate]).validate_python(header["log_updates"])
    log.metadata = header["metadata"]
    for results in filter(None, (log.results, log.results and displayed_results(log.results))):
        results.metadata = annotated.metadata
        for score, annotated_score in zip(results.scores, annotated.scores, strict=True):
            score.metrics = annotated_score.metrics
