"""`Task(early_stopping=stop_when(...))`: no more epochs once the answer is precise enough, or a comparison decided.

Every question gets the same number of trials, but for the last epoch under way, so that the plain mean over questions
stays what it was; no question is favoured for how it was answered. Questions are dropped with `valid="anytime"` only,
and those last in line.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread
from inspect_ai.util import EarlyStop

from harness_uq import DataError
from harness_uq_inspect.live.anytime import AnytimeWatch
from harness_uq_inspect.live.checks import check
from harness_uq_inspect.live.collect import document, start
from harness_uq_inspect.live.stopping import Decision, Rule, Watch
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
    """An early-stopping manager that ends a task's epochs, or its questions, when enough is known.

    Parameters
    ----------
    width : stop when the interval that `--uq bayes` would report is at most this wide
    level : coverage of the interval; 1 - level is the chance of deciding a comparison of equal systems
    min_trials : trials of every question before anything is decided, at least 2 (the default)
    compare_to : a logged run of the same task; stop when it is decided which of the two is better
    scope : `population` or `benchmark`; more epochs narrow the population interval only so far, since the questions
        themselves differ. With `valid="anytime"` `population`, or `full` for the score on all questions of the run
    cluster : metadata field that groups the questions, `none`, or None to look for one
    metric : score to watch, as reports name it; the first by default
    valid : `anytime` looks while the questions are asked for the first time, in random order (`--sample-shuffle`), and
        ends the run when enough is known; its intervals hold whenever one looks

    Raises
    ------
    DataError : if neither `width` nor `compare_to` is given, or a value makes no sense
    """
    if width is None and compare_to is None:
        raise DataError("stop_when needs a width, such as width=0.05, or a run to compare_to")
    if width is not None and not width > 0:
        raise DataError(f"width must be above 0; got {width}")
    n_first = _first_trials(min_trials, valid)
    check(level=level, scope="population" if (valid, scope) == ("anytime", "full") else scope)
    if (valid, scope) == ("anytime", "benchmark"):
        raise DataError("with valid='anytime' every question counts once; scope must be population or full")
    return StopWhen(Rule(width, level, n_first, compare_to, scope, cluster, metric, valid))


def _first_trials(min_trials: int | None, valid: str | None) -> int:
    """Trials of every question before anything is decided."""
    if valid not in (None, "anytime"):
        raise DataError(f"valid must be 'anytime' or None; got {valid!r}")
    if valid and min_trials is not None:
        raise DataError("min_trials has no meaning with valid='anytime', which looks from the first question on")
    if min_trials is not None and min_trials < 2:
        raise DataError(f"min_trials must be 2 or more, so that trials of a question can be compared; got {min_trials}")
    return 0 if valid else (min_trials or 2)


class StopWhen:
    """The manager; implements `inspect_ai.util.EarlyStopping`."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._watch: Watch | AnytimeWatch | None = None
        self._decision: Decision | None = None
        self._n_skipped = 0
        self._look: anyio.Event | None = None

    async def start_task(self, task: "EvalSpec", samples: "list[DatasetSample]", epochs: int) -> str:
        """Note the questions, and read the run to compare with; a failure here turns the rule off."""
        self._watch, self._decision, self._n_skipped = None, None, 0
        try:
            self._start(task, samples, epochs)
        except Exception as error:
            logger.warning("harness_uq: %s runs all its epochs: %s: %s", task.task, type(error).__name__, error)
        return STOP_WHEN

    def _start(self, task: "EvalSpec", samples: "list[DatasetSample]", epochs: int) -> None:
        documents = {str(sample.id): document(sample) for sample in samples}
        self._watch = self._new_watch(start(task), documents, epochs)
        n_trials, in_flight = len(documents) * epochs, task.config.max_samples or 0
        if in_flight >= n_trials - len(documents) * self._rule.min_trials > 0:
            logger.warning(
                "harness_uq: stop_when may come too late: with max_samples=%d nearly all %d trials start at once; "
                "set max_samples to %d or less",
                in_flight,
                n_trials,
                max(1, len(documents) // 10),
            )

    def _new_watch(self, log: Log, documents: dict[str, Sample], epochs: int) -> Watch | AnytimeWatch:
        if self._rule.valid is None:
            return Watch(log, documents, epochs, self._rule)
        spec = log.header.eval
        if not spec.dataset.shuffled and spec.config.sample_shuffle in (None, False):
            logger.warning(
                "harness_uq: stop_when(valid='anytime') takes the questions for a random draw in random order, and "
                "they come in the order of the data set; --sample-shuffle makes it random"
            )
        return AnytimeWatch(log, documents, self._rule)

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002 - Inspect's protocol
        """Skip the trial if everything is decided; while that is being looked at, wait."""
        if self._look is not None:
            await self._look.wait()
        if self._decision is None or epoch <= self._rule.min_trials:
            return None
        self._n_skipped += 1
        return EarlyStop(id=id, epoch=epoch, reason=self._decision.kind)

    async def complete_sample(self, id: str | int, epoch: int, scores: "dict[str, SampleScore]") -> None:  # noqa: A002
        """Take in a trial, and look now and then."""
        watch = self._watch
        if watch is None or self._decision is not None:
            return
        values = {name: Score(score.score.value) for name, score in scores.items()}
        watch.add(Sample(id=id, epoch=epoch, scores=values))
        if not watch.is_due or self._look is not None:
            return
        self._look = anyio.Event()
        try:
            self._decision = await anyio.to_thread.run_sync(partial(watch.look))
        except Exception as error:
            self._watch = None
            logger.warning("harness_uq: all epochs are run: %s: %s", type(error).__name__, error)
        finally:
            self._look.set()
            self._look = None

    async def complete_task(self) -> Mapping[str, object]:
        """What was decided and why, for the log."""
        watch = self._watch
        found: Json = {"rule": self._rule.to_dict(), "n_skipped": self._n_skipped}
        if watch is None:
            return found | {"decision": None, "reason": "the rule could not be applied; see the warnings of the run"}
        found |= {"n_looks": watch.n_looks, "n_trials_seen": watch.n_trials, **_clusters(watch)}
        if self._decision is None:
            return found | {"decision": None, "reason": watch.why_not}
        late = "" if self._n_skipped else "; every trial had been started by then: set max_samples lower"
        return found | self._decision.to_dict() | {"reason": self._decision.reason + late}


def _clusters(watch: Watch | AnytimeWatch) -> Json:
    """What `estimate` needs to know of the questions that are never asked."""
    return watch.clusters if isinstance(watch, AnytimeWatch) else {}
