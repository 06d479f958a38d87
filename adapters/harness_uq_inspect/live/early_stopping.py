"""`Task(early_stopping=stop_when(...))`: skip epochs once the interval is narrow enough or a comparison is decided.

Except in the last epoch, every question gets the same number of trials, so that the mean over questions stays unbiased:
no question gets more or fewer trials because of its answers. Only `valid="anytime"` skips questions, the last ones in
the scheduled order.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread
from inspect_ai.util import EarlyStop

from harness_uq.plugin_api import DataError
from harness_uq_inspect.live.anytime_stopping import AnytimeMonitor
from harness_uq_inspect.live.collect_samples import document, empty_log_of
from harness_uq_inspect.live.settings import check_options
from harness_uq_inspect.live.stopping_rules import Decision, EpochMonitor, Rule
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import STOP_WHEN, Json, Sample, Score

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample as DatasetSample
    from inspect_ai.log import EvalSpec
    from inspect_ai.scorer import SampleScore

logger = logging.getLogger(__name__)


def stop_when(
    *,
    width: float | None = None,
    level: float = 0.95,
    min_trials: int | None = None,
    compare_to: str | None = None,
    scope: str = "population",
    cluster: str | None = None,
    metric: str | None = None,
    valid: Literal["anytime"] | None = None,
) -> "StopWhen":
    """Early-stopping manager that skips the remaining epochs or questions of a task when its condition is met.

    Parameters
    ----------
    width : stop when the interval that `--uq bayes` would report is at most this wide
    level : nominal coverage of the interval; 1 - level is the probability of deciding a comparison of equal systems
    min_trials : number of trials of every question before the first decision, at least 2 (the default)
    compare_to : path of a logged run of the same task; stop when it is decided which of the two systems is better
    scope : `population` or `benchmark`. More epochs narrow the population interval only up to a point, because the
        questions differ. With `valid="anytime"`: `population`, or `full` for the score on all questions of the run
    cluster : metadata field that groups the questions, `none` for no clusters, or None to detect one
    metric : name of the score to monitor, as in reports; the first score by default
    valid : `anytime` evaluates the rule while the questions are asked for the first time, in random order
        (`--sample-shuffle`), with anytime-valid intervals, and ends the run when the condition is met

    Raises
    ------
    DataError : if neither `width` nor `compare_to` is given, or an argument has an invalid value
    """
    if width is None and compare_to is None:
        raise DataError("stop_when needs a width, such as width=0.05, or a run to compare_to")
    if width is not None and not width > 0:
        raise DataError(f"width must be above 0; got {width}")
    n_first = _first_trials(min_trials, valid)
    check_options(level=level, scope="population" if (valid, scope) == ("anytime", "full") else scope)
    if (valid, scope) == ("anytime", "benchmark"):
        raise DataError("scope must be 'population' or 'full' with valid='anytime', because each question counts once")
    return StopWhen(Rule(width, level, n_first, compare_to, scope, cluster, metric, valid))


def _first_trials(min_trials: int | None, valid: str | None) -> int:
    """Number of trials of every question before the first decision."""
    if valid not in (None, "anytime"):
        raise DataError(f"valid must be 'anytime' or None; got {valid!r}")
    if valid and min_trials is not None:
        raise DataError(
            "min_trials cannot be used with valid='anytime', which checks the scores from the first question on"
        )
    if min_trials is not None and min_trials < 2:
        raise DataError(f"min_trials must be 2 or more, so that trials of a question can be compared; got {min_trials}")
    return 0 if valid else (min_trials or 2)


class StopWhen:
    """The manager; implements `inspect_ai.util.EarlyStopping`."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._monitor: EpochMonitor | AnytimeMonitor | None = None
        self._decision: Decision | None = None
        self._n_skipped = 0
        self._evaluation: anyio.Event | None = None

    async def start_task(self, task: "EvalSpec", samples: "list[DatasetSample]", epochs: int) -> str:
        """Record the questions and read the baseline; if this fails, the rule is disabled."""
        self._monitor, self._decision, self._n_skipped = None, None, 0
        try:
            self._start(task, samples, epochs)
        except Exception as error:
            logger.warning("harness_uq: %s runs all its epochs: %s: %s", task.task, type(error).__name__, error)
        return STOP_WHEN

    def _start(self, task: "EvalSpec", samples: "list[DatasetSample]", epochs: int) -> None:
        documents = {str(sample.id): document(sample) for sample in samples}
        self._monitor = self._new_monitor(empty_log_of(task), documents, epochs)
        n_trials, in_flight = len(documents) * epochs, task.config.max_samples or 0
        if in_flight >= n_trials - len(documents) * self._rule.min_trials > 0:
            logger.warning(
                "harness_uq: stop_when may come too late: with max_samples=%d nearly all %d trials start at once; "
                "set max_samples to %d or less",
                in_flight,
                n_trials,
                max(1, len(documents) // 10),
            )

    def _new_monitor(self, log: Log, documents: dict[str, Sample], epochs: int) -> EpochMonitor | AnytimeMonitor:
        if self._rule.valid is None:
            return EpochMonitor(log, documents, epochs, self._rule)
        spec = log.header.eval
        if not spec.dataset.shuffled and spec.config.sample_shuffle in (None, False):
            logger.warning(
                "harness_uq: stop_when(valid='anytime') takes the questions for a random draw in random order, and "
                "they come in the order of the data set; --sample-shuffle makes it random"
            )
        return AnytimeMonitor(log, documents, self._rule)

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002 - Inspect's protocol
        """Skip the trial if a decision was reached; while the rule is being evaluated, wait for it."""
        if self._evaluation is not None:
            await self._evaluation.wait()
        if self._decision is None or epoch <= self._rule.min_trials:
            return None
        self._n_skipped += 1
        return EarlyStop(id=id, epoch=epoch, reason=self._decision.kind)

    async def complete_sample(self, id: str | int, epoch: int, scores: "dict[str, SampleScore]") -> None:  # noqa: A002
        """Record a trial, and evaluate the rule if it is due."""
        monitor = self._monitor
        if monitor is None or self._decision is not None:
            return
        values = {name: Score(score.score.value) for name, score in scores.items()}
        monitor.add(Sample(id=id, epoch=epoch, scores=values))
        if not monitor.is_due or self._evaluation is not None:
            return
        self._evaluation = anyio.Event()
        try:
            self._decision = await anyio.to_thread.run_sync(partial(monitor.look))
        except Exception as error:
            self._monitor = None
            logger.warning("harness_uq: all epochs are run: %s: %s", type(error).__name__, error)
        finally:
            self._evaluation.set()
            self._evaluation = None

    async def complete_task(self) -> Mapping[str, object]:
        """The rule, the decision and its reason, for the log."""
        monitor = self._monitor
        record: Json = {"rule": self._rule.to_dict(), "n_skipped": self._n_skipped}
        if monitor is None:
            return record | {"decision": None, "reason": "the rule could not be applied; see the warnings of the run"}
        record |= {"n_looks": monitor.n_looks, "n_trials_seen": monitor.n_trials}
        if isinstance(monitor, AnytimeMonitor):  # `estimate` needs the clusters of questions that are never asked
            record |= monitor.clusters
        if self._decision is None:
            return record | {"decision": None, "reason": monitor.undecided_reason}
        late = "" if self._n_skipped else "; every trial had been started by then: set max_samples lower"
        return record | self._decision.to_dict() | {"reason": self._decision.reason + late}
