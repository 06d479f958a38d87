"""Read what the samples of a log used: tokens and cost by model, time, messages and turns.

This is a second pass over the summaries, or over the complete samples if a log has no summaries, so that reading scores
alone is not slower.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness_uq.plugin_api import LogError, Resources, TokenUsage
from harness_uq.plugin_api import paths as io_paths
from harness_uq_inspect.read.archive import Archive
from harness_uq_inspect.read.file_bytes import content_of
from harness_uq_inspect.read.samples import summary_names
from harness_uq_inspect.read.schema import Raw, Spec, decode
from harness_uq_inspect.read.score_columns import Frame

Key: TypeAlias = tuple[str, int]
Matrix: TypeAlias = NDArray[np.float64]

_GRADER: Final = "grader"  # the role under which Inspect's model_graded scorers ask for their model
_SAMPLES: Final = "samples/"


class ModelTokens(msgspec.Struct, gc=False):
    """One entry of `model_usage` or `role_usage`; Inspect's input tokens exclude those of the cache."""

    input_tokens: float = 0
    output_tokens: float = 0
    input_tokens_cache_write: float | None = None
    input_tokens_cache_read: float | None = None
    reasoning_tokens: float | None = None
    total_cost: float | None = None


class _Message(msgspec.Struct, gc=False):
    """One of `messages`, of which only the number is used."""


class SampleResources(msgspec.Struct, gc=False):
    """The part of a sample or of its summary that says what it used."""

    id: int | str
    epoch: int = 1
    model_usage: dict[str, ModelTokens] | None = None
    role_usage: dict[str, ModelTokens] | None = None
    total_time: float | None = None
    working_time: float | None = None
    message_count: float | None = None
    turn_count: float | None = None
    messages: list[_Message] | None = None

    @property
    def n_messages(self) -> float | None:
        """Number of messages; None if neither the messages nor their number were logged."""
        return self.message_count if self.messages is None else len(self.messages)


class _Log(msgspec.Struct):
    samples: list[SampleResources] | None = None


def read_sample_resources(paths: Sequence[str]) -> dict[Key, SampleResources]:
    """What each sample of a log, or of its shards, used; of a sample that was logged twice, the later one.

    Samples that cannot be read are omitted.
    """
    samples = dict[Key, SampleResources]()
    for path in paths:
        read = _read_eval if path.endswith(".eval") else _read_json
        with io_paths.reading():
            samples |= read(path)
    return samples


def samples_in(content: Raw, *, whose: str) -> dict[Key, SampleResources]:
    """What the samples of a log in JSON used, by question and epoch. Raises LogError if the content is not a log;
    `whose` names it in the message.
    """
    return _by_key(decode(content, _Log, whose=whose).samples or ())


def _by_key(samples: Iterable[SampleResources]) -> dict[Key, SampleResources]:
    return {(str(sample.id), sample.epoch): sample for sample in samples}


def _read_json(path: str) -> dict[Key, SampleResources]:
    with content_of(path) as content:
        return samples_in(content, whose="the file")


def _read_eval(path: str) -> dict[Key, SampleResources]:
    with Archive(path) as archive:
        names = archive.names(_SAMPLES)
        try:
            summaries = _summaries(archive)
        except LogError:
            summaries = []
        if summaries and len(summaries) >= len(names):
            return _by_key(summaries)
        return _by_key(_complete_samples(archive, names))


def _complete_samples(archive: Archive, names: Sequence[str]) -> Iterator[SampleResources]:
    for name in archive.fetched(names):
        try:
            yield decode(archive.read(name), SampleResources, whose=name)
        except LogError:
            continue  # the pass over the scores reports it


def _summaries(archive: Archive) -> list[SampleResources]:
    names = summary_names(archive)
    archive.check_total(names)
    return [sample for name in names for sample in decode(archive.read(name), list[SampleResources], whose=name)]


def resources_of(samples: Mapping[Key, SampleResources], cells: Iterable[Key], frame: Frame, spec: Spec) -> Resources:
    """The resources of the samples at `cells`, which are in the order of the frame.

    `spec`: `eval` of the header, which names the model, and the models of graders.
    """
    ordered = [samples.get(cell) for cell in cells]
    usage, is_separate = _usage(ordered, frame, spec)
    return Resources(
        usage=usage,
        total_time=_matrix(ordered, frame, lambda sample: sample.total_time),
        working_time=_matrix(ordered, frame, lambda sample: sample.working_time),
        messages=_matrix(ordered, frame, lambda sample: sample.n_messages),
        turns=_matrix(ordered, frame, lambda sample: sample.turn_count),
        is_grader_separate=is_separate,
    )


_Samples: TypeAlias = Sequence[SampleResources | None]
_Count: TypeAlias = Callable[[SampleResources], float | None]


def _matrix(samples: _Samples, frame: Frame, count: _Count) -> Matrix | None:
    """A number of each sample as (n_questions, n_epochs); None if no sample has it."""
    return _as_matrix([None if sample is None else count(sample) for sample in samples], frame)


def _as_matrix(values: Sequence[float | None], frame: Frame) -> Matrix | None:
    numbers = np.array([np.nan if value is None or not 0 <= value < np.inf else value for value in values], np.float64)
    return frame.matrix(numbers) if np.isfinite(numbers).any() else None


def _usage(samples: _Samples, frame: Frame, spec: Spec) -> tuple[tuple[TokenUsage, ...], bool]:
    """Usage by model, and whether the usage of graders is known to be separate."""
    models = list(dict.fromkeys(model for sample in samples if sample for model in sample.model_usage or ()))
    has_role = any(_GRADER in (sample.role_usage or ()) for sample in samples if sample)
    graders = {model for model in _grader_models(spec) if model in models}
    shared = _grader_of_role(models, graders, spec) if has_role else None
    usage = list[TokenUsage]()
    for model in models:
        if model == shared:
            answering = _tokens(samples, frame, model, _answering(model), is_grader=False)
            if model == spec.model or any(np.nansum(array) > 0 for array in Resources((answering,)).arrays()):
                usage.append(answering)
            usage.append(_tokens(samples, frame, model, _grading, is_grader=True))
        else:
            usage.append(_tokens(samples, frame, model, _all_of(model), is_grader=model in graders))
    is_separate = not has_role or shared is not None
    return tuple(usage), is_separate and (len(models) < 2 or has_role or bool(graders))


def _grader_models(spec: Spec) -> set[str]:
    """Models that the log names as graders and that are not the model under evaluation."""
    roles = spec.model_roles if isinstance(spec.model_roles, dict) else {}
    configured = roles.get(_GRADER)
    options = [configured, *(scorer.options for scorer in spec.scorers or ())]
    named = [option.get("model") for option in options if isinstance(option, dict)]
    return {model for model in named if isinstance(model, str) and model != spec.model}


def _grader_of_role(models: Sequence[str], graders: set[str], spec: Spec) -> str | None:
    """The model whose usage contains that of the role `grader`; None if it cannot be determined."""
    others = [model for model in models if model != spec.model]
    if len(graders) == 1:
        return next(iter(graders))
    if len(others) == 1:
        return others[0]
    return spec.model if not others else None


_Tokens: TypeAlias = Callable[[SampleResources], ModelTokens | None]
_NOTHING: Final = ModelTokens(0, 0, 0, 0, 0, 0)


def _all_of(model: str) -> _Tokens:
    return lambda sample: None if sample.model_usage is None else sample.model_usage.get(model, _NOTHING)


def _grading(sample: SampleResources) -> ModelTokens | None:
    return None if sample.model_usage is None else (sample.role_usage or {}).get(_GRADER, _NOTHING)


def _answering(model: str) -> _Tokens:
    def difference(sample: SampleResources) -> ModelTokens | None:
        total, grading = _all_of(model)(sample), _grading(sample)
        if total is None or grading is None:
            return None
        return ModelTokens(
            max(total.input_tokens - grading.input_tokens, 0),
            max(total.output_tokens - grading.output_tokens, 0),
            _minus(total.input_tokens_cache_write, grading.input_tokens_cache_write),
            _minus(total.input_tokens_cache_read, grading.input_tokens_cache_read),
            _minus(total.reasoning_tokens, grading.reasoning_tokens),
            _minus(total.total_cost, grading.total_cost),
        )

    return difference


def _minus(total: float | None, part: float | None) -> float | None:
    """The rest of a total, 0 up to rounding errors; None if the total is unknown."""
    return None if total is None else max(total - (part or 0), 0)


def _tokens(samples: _Samples, frame: Frame, model: str, tokens_of: _Tokens, *, is_grader: bool) -> TokenUsage:
    """Tokens of a model; a count is None if no sample that called the model has it."""
    tokens = [None if sample is None else tokens_of(sample) for sample in samples]

    def matrix(count: Callable[[ModelTokens], float | None]) -> Matrix | None:
        values = [None if one is None else count(one) for one in tokens]
        is_logged = any(value is not None for value, one in zip(values, tokens, strict=True) if one is not _NOTHING)
        return _as_matrix(values, frame) if is_logged else None

    return TokenUsage(
        model,
        is_grader,
        input_tokens=matrix(
            lambda t: t.input_tokens + (t.input_tokens_cache_read or 0) + (t.input_tokens_cache_write or 0)
        ),
        output_tokens=matrix(lambda t: t.output_tokens),
        reasoning_tokens=matrix(lambda t: t.reasoning_tokens),
        cache_read_tokens=matrix(lambda t: t.input_tokens_cache_read),
        cache_write_tokens=matrix(lambda t: t.input_tokens_cache_write),
        cost=matrix(lambda t: t.total_cost),
    )
