"""`Task(dataset=ActiveSource(...))`: choose the samples of a task while it runs, with the scores of earlier runs."""

import logging
import math
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, cast

import anyio.to_thread
import numpy as np
from inspect_ai import SampleSource
from inspect_ai.dataset import Sample

from harness_uq.plugin_api import ActiveHistory, ActiveSampler, DataError
from harness_uq_inspect.annotated_names import NAME
from harness_uq_inspect.live.collect_samples import document
from harness_uq_inspect.read.parse_scores import Numbers, numbers
from harness_uq_inspect.read.questions import build_questions
from harness_uq_inspect.read.schema import Value

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

logger = logging.getLogger(__name__)


class ActiveSource(SampleSource):  # type: ignore[misc]
    """Run only some samples of a dataset, chosen while their scores become known.

    The log contains the samples that were run. Their metadata state how they were chosen, so that
    ``harness-uq estimate LOG --scope full --reference-runs RUNS`` estimates the score on the whole dataset. Exactly
    `n_questions` samples are run, for any number of concurrent samples. A retry of a failed run reuses its scores.

    Parameters
    ----------
    dataset : samples of the task. Samples without an id are numbered from 1, as Inspect does without shuffling
    reference_runs : runs of other systems on the whole dataset: paths, logs or an `ActiveHistory`
    n_questions : number of samples to run
    task, metric : task and metric of the reference runs, if these contain several
    n_rounds : number of rounds. The next round starts when all samples of a round have been completed
    seed : random seed. Runs with the same seed, reference runs and scores choose the same samples

    Raises
    ------
    DataError : if an option is out of range, or the reference runs have other questions than the dataset
    LogError : if the reference runs cannot be read
    NotEstimableError : if a sample is missing in the reference runs

    Notes
    -----
    Create one `ActiveSource` for each run, for example in the function of the task.

    A sample without a score, for example because of an error, counts as the lowest score. If the task has several
    epochs, the score of a sample is its mean over them.
    """

    def __init__(
        self,
        dataset: Iterable[Sample],
        reference_runs: object,
        *,
        n_questions: int,
        task: str | None = None,
        metric: str | None = None,
        n_rounds: int = 5,
        seed: int = 0,
    ) -> None:
        history = reference_runs
        if not isinstance(history, ActiveHistory):
            history = ActiveHistory(cast(str, reference_runs), task=task, metric=metric)
        self._samples = _by_question(dataset, history)
        self._identifiers = {str(sample.id): identifier for identifier, sample in self._samples.items()}
        self._history = history
        self.sampler = ActiveSampler(history, n_questions=n_questions, n_rounds=n_rounds, seed=seed)
        self._scores: dict[str, list[float]] = {}
        self._initial = self._next()

    def initial_samples(self) -> list[Sample]:
        """The samples of the first round."""
        return deepcopy(self._initial)

    async def sample_complete(self, sample: "EvalSample") -> None:
        """Record the score of a sample."""
        value = _score_of(sample, self._history.metric)
        self._scores.setdefault(self._identifiers[str(sample.id)], []).append(value)

    async def next_samples(self) -> list[Sample] | None:
        """The samples of the next round; None after the last."""
        try:
            return await anyio.to_thread.run_sync(self._learn_and_choose)
        except Exception as error:  # the samples that were run stay valid
            logger.warning("harness_uq: no further samples are chosen: %s: %s", type(error).__name__, error)
            return None

    def _learn_and_choose(self) -> list[Sample] | None:
        pending = self.sampler.pending
        scores = np.array([_mean(self._scores.get(str(identifier), [])) for identifier in pending])
        if n_missing := int(np.isnan(scores).sum()):
            logger.warning("harness_uq: %d samples have no %s and count as 0", n_missing, self._history.metric)
        self.sampler.tell(cast(list[str], pending), np.where(np.isnan(scores), self._history.range[0], scores))
        return None if self.sampler.done else self._next()

    def _next(self) -> list[Sample]:
        return [self._chosen(str(identifier)) for identifier in self.sampler.ask()]

    def _chosen(self, identifier: str) -> Sample:
        """A copy of the sample whose metadata state how it was chosen."""
        sample = deepcopy(self._samples[identifier])
        sample.metadata = {**(sample.metadata or {}), NAME: self.sampler.draw_of(identifier)}
        return sample


def _by_question(dataset: Iterable[Sample], history: ActiveHistory) -> dict[str, Sample]:
    """The samples by the ids of their questions in the history. Raises DataError if the history has other questions
    than the dataset, and NotEstimableError if the history lacks a question.
    """
    samples = [deepcopy(sample) for sample in dataset]
    for number, sample in enumerate(samples, 1):
        sample.id = number if sample.id is None else sample.id
    documents = {str(sample.id): document(sample) for sample in samples}
    if len(documents) < len(samples):
        raise DataError("two samples of the dataset have the same id")
    columns = history.columns_of(build_questions(documents, list(documents)))
    if len(set(columns)) < len(history.ids):
        raise DataError(
            f"the reference runs have {len(history.ids)} questions, but the dataset only {len(set(columns))} of them"
        )
    return {str(history.ids[column]): sample for column, sample in zip(columns, samples, strict=True)}


def _score_of(sample: "EvalSample", metric: str) -> float:
    """The value of the score that a metric of the reference runs names, as a number; NaN if there is none."""
    scores = sample.scores or {}
    name, _, key = (metric, "", "") if metric in scores else metric.partition("/")
    value = None if name not in scores else scores[name].value
    if key:
        value = value.get(key) if isinstance(value, dict) else None
    parsed = numbers([cast(Value, value)])
    return float(parsed.values[0]) if isinstance(parsed, Numbers) else math.nan


def _mean(scores: Sequence[float]) -> float:
    """Mean over the epochs with a score; NaN if there is none."""
    scored = [score for score in scores if not math.isnan(score)]
    return sum(scored) / len(scored) if scored else math.nan
