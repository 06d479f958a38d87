"""Samples as they end, for runs that log none: what the reader would have read of them."""

from typing import TYPE_CHECKING

import msgspec

from harness_uq_inspect.samples import Log
from harness_uq_inspect.schema import Header, Sample, Score, Spec

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample, EvalSpec


def start(spec: "EvalSpec") -> Log:
    """An empty log of the task."""
    return Log(Header(2, msgspec.convert(spec.model_dump(mode="json"), Spec)))


def thinned(sample: "EvalSample") -> Sample:
    """Identity, input, metadata and scores of a sample."""
    scores = {name: Score(score.value) for name, score in (sample.scores or {}).items()}
    plain = sample.input if isinstance(sample.input, str) else [m.model_dump(mode="json") for m in sample.input]
    return Sample(
        id=sample.id,
        epoch=sample.epoch,
        input=plain,
        target=sample.target,
        metadata=sample.metadata,
        scores=scores,
        error=sample.error and sample.error.message,
        limit=sample.limit and sample.limit.type,
    )
