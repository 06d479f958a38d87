"""Convert samples of a running task to the reader's structures, for stopping rules and for runs that log no samples."""

from typing import TYPE_CHECKING

import msgspec

from harness_uq_inspect.read.log_notes import NEWEST_VERSION
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Header, Sample, Score, Spec

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample as DatasetSample
    from inspect_ai.log import EvalSample, EvalSpec


def empty_log_of(spec: "EvalSpec") -> Log:
    """An empty log of the task."""
    return Log(Header(NEWEST_VERSION, msgspec.convert(spec.model_dump(mode="json", exclude_none=True), Spec)))


def document(sample: "EvalSample | DatasetSample", epoch: int = 1) -> Sample:
    """Identity, input and metadata of a sample."""
    is_text = isinstance(sample.input, str)
    content = sample.input if is_text else [message.model_dump(mode="json") for message in sample.input]
    return Sample(id=sample.id, epoch=epoch, input=content, target=sample.target, metadata=dict(sample.metadata or {}))


def scored_sample(sample: "EvalSample") -> Sample:
    """Identity, input, metadata, scores, error and limit of a sample."""
    scored = document(sample, sample.epoch)
    scored.scores = {name: Score(score.value) for name, score in (sample.scores or {}).items()}
    scored.error = sample.error and sample.error.message
    scored.limit = sample.limit and sample.limit.type
    return scored
