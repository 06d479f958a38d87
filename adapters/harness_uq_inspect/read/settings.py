"""Name of the system that a run evaluated, and the settings of the run that are relevant to the statistics."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from harness_uq.plugin_api import Attempt, RedactedText, RunMetadata, redact, redact_value
from harness_uq_inspect.read.harness_results import Epochs
from harness_uq_inspect.read.schema import Header, Json, Sample

_GENERATION: Final = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "frequency_penalty",
    "presence_penalty",
    "effort",
    "verbosity",
    "reasoning_effort",
    "reasoning_tokens",
)

_UNFINISHED: Final = ("started", "error", "cancelled")

# where and how fast a model runs, and with whose account
_OPERATIONAL: Final = re.compile(
    r".*(key|secret|password|credential|auth|header|url|endpoint|region|project|timeout|retries|connections|cache"
    r"|batch|device|memory|parallel|port).*|.*token|seed|api|api_version|config|client|default_outputs|custom_outputs",
    re.IGNORECASE,
)


def system_name(header: Header) -> str:
    """Model and settings, such as `openai/gpt-5 (reasoning_effort=high)`."""
    settings = dict(_settings(header))
    redacted = {name: redact_value(value, name) for name, value in settings.items()}
    shown = _with_settings(redact(header.eval.model), redacted)
    full_name = _with_settings(header.eval.model, settings)
    return shown if shown == full_name else RedactedText(shown, full_name)


def _with_settings(model: str, settings: Json) -> str:
    listed = ", ".join(f"{name}={value}" for name, value in settings.items())
    return model + (f" ({listed})" if listed else "")


def _settings(header: Header) -> Iterator[tuple[str, object]]:
    plan = header.plan.config if header.plan else None
    generation: Json = {**(header.eval.model_generate_config or {}), **(plan or {})}
    yield from ((name, generation[name]) for name in _GENERATION if generation.get(name) is not None)
    for name, value in sorted((header.eval.model_args or {}).items()):
        if isinstance(value, bool | int | float | str) and not _OPERATIONAL.fullmatch(name):
            yield name, value
    if header.eval.solver is not None:
        yield "solver", header.eval.solver


def run_metadata(header: Header, epochs: Epochs, questions: Sequence[str] = ()) -> RunMetadata:
    """Metadata of the run; `questions` are its questions in the order of the task log."""
    spec = header.eval
    is_limited = spec.config.limit is not None or spec.config.sample_id is not None
    is_shuffled = bool(spec.dataset.shuffled) or spec.config.sample_shuffle not in (None, False)
    settings = {
        "status": header.status,
        "epochs": epochs.n,
        "epochs_reducer": spec.config.epochs_reducer,
        "limit": spec.config.limit,
        "sample_id": spec.config.sample_id,
        "shuffled": spec.dataset.shuffled,
        "sample_shuffle": spec.config.sample_shuffle,
        "task_version": spec.task_version,
        # an argument that was passed with its default is the same setting as one that was left out
        "task_args": spec.task_args or spec.task_args_passed or None,
        "scorer_model": dict(_scorer_models(header)) or None,
    }
    return RunMetadata(
        n_all=spec.dataset.samples,
        is_limited=is_limited,
        is_random_subset=is_limited and is_shuffled and spec.config.sample_id is None,
        is_finished=header.status not in _UNFINISHED,
        n_watched=_watched_questions(header, epochs),
        watched_clusters=_watched_clusters(header, questions),
        settings={name: value for name, value in settings.items() if value is not None},
    )


def _scorer_models(header: Header) -> Iterator[tuple[str, str]]:
    """The model of each scorer that has one, with the name of the scorer."""
    for scorer in header.eval.scorers or ():
        model = scorer.options.get("model") if isinstance(scorer.options, dict) else None
        name = model.get("model") if isinstance(model, dict) else model
        if isinstance(scorer.name, str) and isinstance(name, str):
            yield scorer.name, redact(name)


def chance_of(samples: Iterable[Sample]) -> float | None:
    """Mean probability that a random choice is right, if only scorer `choice` scored; None if it is unknown."""
    shares = []
    for sample in samples:
        is_one_of_several = isinstance(sample.target, str) and len(sample.choices or ()) > 1
        if not is_one_of_several or (sample.scores is not None and set(sample.scores) != {"choice"}):
            return None
        shares.append(1 / len(sample.choices or ()))
    return sum(shares) / len(shares) if shares else None


def attempt_of(header: Header, n_trials: int, content: str) -> Attempt | None:
    """The attempt at the task that the log contains: `inspect eval-retry` and eval sets keep the task's identifier.

    Attempts in old logs, which have no `eval_id`, are distinguished by their time. `content`: hash of the scores.
    """
    spec = header.eval
    attempt_id = spec.eval_id or spec.created
    if not spec.task_id or not attempt_id:
        return None
    return Attempt(spec.task_id, attempt_id, header.status not in _UNFINISHED, n_trials, content)


def _watched_questions(header: Header, epochs: Epochs) -> int | None:
    results = header.results
    if results is None or results.early_stopping is None or not results.early_stopping.is_anytime:
        return None
    return results.total_samples // max(1, epochs.n)


def _watched_clusters(header: Header, questions: Sequence[str]) -> tuple[int, ...] | None:
    """Cluster code of each planned question, those of `questions` first; None if no rule logged them."""
    stopping = header.results.early_stopping if header.results else None
    planned = [str(question) for question in header.eval.dataset.sample_ids or ()]
    codes = stopping.clusters if stopping else None
    if codes is None or len(codes) != len(planned) or not set(questions) <= set(planned):
        return None
    code_of = dict(zip(planned, codes, strict=True))
    return tuple(code_of[question] for question in dict.fromkeys((*questions, *planned)))
