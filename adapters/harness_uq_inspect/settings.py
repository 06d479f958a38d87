"""The system that a run evaluated, and the settings of the run that bear on the statistics."""

import re
from collections.abc import Iterator
from typing import Final

from harness_uq_inspect.reported import Epochs
from harness_uq_inspect.schema import Header, Json

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

# Where and how fast a model runs, and what must not be printed.
_OPERATIONAL: Final = re.compile(
    r".*(key|secret|password|credential|auth|header|url|endpoint|region|project|timeout|retries|connections|cache"
    r"|batch|device|memory|parallel|port).*|.*token|seed|api|api_version|config|client|default_outputs|custom_outputs",
    re.IGNORECASE,
)


def system_name(header: Header) -> str:
    """Model and distinguishing settings, such as `openai/gpt-5 (reasoning_effort=high)`."""
    listed = ", ".join(f"{name}={value}" for name, value in _settings(header))
    return header.eval.model + (f" ({listed})" if listed else "")


def _settings(header: Header) -> Iterator[tuple[str, object]]:
    plan = header.plan.config if header.plan else None
    generation: Json = {**(header.eval.model_generate_config or {}), **(plan or {})}
    yield from ((name, generation[name]) for name in _GENERATION if generation.get(name) is not None)
    for name, value in sorted((header.eval.model_args or {}).items()):
        if isinstance(value, bool | int | float | str) and not _OPERATIONAL.fullmatch(name):
            yield name, value
    if header.eval.solver is not None:
        yield "solver", header.eval.solver


def run_config(header: Header, epochs: Epochs) -> dict[str, object]:
    """Settings of the run; absent ones are left out.

    `n_original` is the size of the data set before a limit, `is_random_subset` whether its order was random.
    """
    spec = header.eval
    is_limited = spec.config.limit is not None or spec.config.sample_id is not None
    is_shuffled = bool(spec.dataset.shuffled) or spec.config.sample_shuffle not in (None, False)
    config = {
        "status": header.status,
        "epochs": epochs.n,
        "epochs_reducer": spec.config.epochs_reducer,
        "limit": spec.config.limit,
        "sample_id": spec.config.sample_id,
        "n_original": spec.dataset.samples,
        "shuffled": spec.dataset.shuffled,
        "sample_shuffle": spec.config.sample_shuffle,
        "is_random_subset": (is_shuffled and spec.config.sample_id is None) if is_limited else None,
        "task_version": spec.task_version,
        "task_args": spec.task_args_passed or None,
    }
    return {name: value for name, value in config.items() if value is not None}
