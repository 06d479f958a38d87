"""The hook: after each task its log gets intervals. Imported only where the environment asks for them.

A finished run is never harmed: whatever goes wrong here becomes a warning.
"""

import logging
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread
from inspect_ai.hooks import Hooks, RunEnd, SampleEnd, SampleStart, TaskEnd, TaskStart, hooks
from inspect_ai.log import EvalLog, EvalResults, LogUpdate, read_eval_log_async, write_eval_log_async
from inspect_ai.util import display_type
from pydantic import TypeAdapter

from harness_uq_inspect.live.location import identity, local_path
from harness_uq_inspect.live.seam import active_log, shown_results
from harness_uq_inspect.live.wanted import Wanted, from_environment, is_wanted
from harness_uq_inspect.read.schema import Json

if TYPE_CHECKING:
    from harness_uq_inspect.live.finish import Outcome
    from harness_uq_inspect.read.samples import Log

logger = logging.getLogger(__name__)


@hooks(name="uq", description="intervals by harness_uq")
class UncertaintyHooks(Hooks):  # type: ignore[misc]
    """Estimates from each log as soon as it is on disk, writes the header back and prints a table."""

    def __init__(self) -> None:
        self._finished: set[str] = set()
        self._collected: dict[str, Log] = {}
        self._locations: dict[str, str] = {}

    def enabled(self) -> bool:
        """Whether the environment still asks for intervals."""
        return is_wanted()

    async def on_task_start(self, data: TaskStart) -> None:
        """Samples that no log will hold are collected as they end."""
        if data.spec.config.log_samples is False:
            from harness_uq_inspect.live.collect import start

            self._collected[data.eval_id] = start(data.spec)

    async def on_sample_start(self, data: SampleStart) -> None:
        """Note where the log is: nobody tells when a run is cancelled."""
        if data.eval_id not in self._locations and (location := active_log()) is not None:
            self._locations[data.eval_id] = location

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Keep the scores of a sample that is not logged."""
        if (collected := self._collected.get(data.eval_id)) is not None:
            from harness_uq_inspect.live.collect import thinned

            collected.add([thinned(data.sample)])

    async def on_task_end(self, data: TaskEnd) -> None:
        """The log is on disk and the console still to be written."""
        await self._finish(data.log)

    async def on_run_end(self, data: RunEnd) -> None:
        """Logs of failed and cancelled tasks, for which no task end is emitted."""
        for log in data.logs:
            await self._finish(log)
        for eval_id, location in list(self._locations.items()):
            await self._finish_partial(location)  # if cancelled, it stays: Inspect calls again
            self._locations.pop(eval_id, None)
        self._collected.clear()

    async def _finish_partial(self, location: str) -> None:
        """Scores so far of a task whose log a cancelled run does not hand over."""
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
            await self._estimate(log, from_environment())
        except Exception as error:
            logger.warning("harness_uq: no intervals for %s: %s: %s", log.eval.task, type(error).__name__, error)

    async def _estimate(self, log: EvalLog, wanted: Wanted) -> None:
        from harness_uq_inspect.live.finish import finish

        if log.results is None:
            return
        collected = self._collected.pop(log.eval.eval_id, None)
        outcome = await anyio.to_thread.run_sync(partial(finish, log.location, wanted, collected))
        if outcome.header is not None:
            _show(log, outcome.header)
            if not outcome.is_written:
                await write_eval_log_async(log, log.location, if_match_etag=log.etag, header_only=True)
        _print(outcome)


def _show(log: EvalLog, header: Json) -> None:
    """Put the new results into the log that `eval()` returns and into those that the console is about to show."""
    changed = EvalResults.model_validate(header["results"])
    log.log_updates = TypeAdapter(list[LogUpdate]).validate_python(header["log_updates"])
    log.metadata = header["metadata"]
    for results in filter(None, (log.results, log.results and shown_results(log.results))):
        _take_over(results, changed)


def _take_over(results: EvalResults, changed: EvalResults) -> None:
    results.metadata = changed.metadata
    for score, new in zip(results.scores, changed.scores, strict=True):
        score.metrics = new.metrics


def _print(outcome: "Outcome") -> None:
    if display_type() != "none":
        print(f"\n{outcome.text}\n", flush=True)  # noqa: T201
