"""Samples as they end, for runs that log none and for rules that watch a run: what the reader would read of them."""

from typing import TYPE_CHECKING

import msgspec

from harness_uq_inspect.read.remarks import NEWEST_VERSION
from harness_uq_inspect.read.samples import Log
from harness_uq_inspect.read.schema import Header, Sample, Score, Spec

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample as DatasetSample
    from inspect_ai.log import EvalSample, EvalSpec


def start(spec: "EvalSpec") -> Log:
    """An empty log of the task."""
    return Log(Header(NEWEST_VERSION, msgspec.convert(spec.model_dump(mode="json", exclude_none=True), Spec)))


def document(sample: "EvalSample | DatasetSample", epoch: int = 1) -> Sample:
    """Identity, input and metadata of a sample."""
    is_text = isinstance(sample.input, str)
    plain = sample.input if is_text else [message.model_dump(mode="json") for message in sample.input]
    return Sample(id=sample.id, epoch=epoch, input=plain, target=sample.target, metadata=dict(sample.metadata or {}))


def thinned(sample: "EvalSample") -> Sample:
    """Identity, input, metadata, scores and end of a sample."""
    kept = document(sample, sample.epoch)
    kept.scores = {name: Score(score.value) for name, score in (sample.scores or {}).items()}
    kept.error = sample.error and sample.error.message
    kept.limit = sample.limit and sample.limit.type
    return kept
