"""Name of the system that a run evaluated: the model and the settings that may change its answers."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath

from harness_uq.plugin_api import RedactedText, redact, redact_value
from harness_uq_lm_eval.json_access import Table, table, text

_NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")

# where and how fast a model runs, which should not change its answers
_OPERATIONAL = re.compile(
    r"device.*|.*batch.*|.*url|.*tokeniz.*|.*(api_?key|token|secret|header|auth|password).*|trust_remote_code"
    r"|gpu_memory_utilization|.*parallel.*|num_concurrent|max_retries|timeout|.*cache.*|offload.*|swap_space|seed"
    r"|verify_certificate|max_gpu_memory|max_cpu_memory|disable_log.*|enforce_eager|dtype|max_model_len|max_length"
)
_RANDOM_NAME = re.compile(r"[a-z0-9]{8}")


def system_name(results: Table) -> str:
    """Model and settings without secrets, such as `Qwen/Qwen3-8B (enable_thinking=False)`.

    If the arguments contain no name, lm-eval generates one of eight characters, which is the same for all such models.
    The class of the model is used instead.
    """
    config, arguments = table(results, "config"), _arguments(results)
    full_name = _name(results, config, arguments)
    redacted = {key: redact_value(value, key) for key, value in arguments.items()}
    shown = _name(results, {**config, "gen_kwargs": redact_value(config.get("gen_kwargs"))}, redacted)
    shown = redact(shown)
    return shown if shown == full_name else RedactedText(shown, full_name)


def _name(results: Table, config: Table, values: Mapping[str, object]) -> str:
    arguments = {key: str(value) for key, value in values.items()}
    settings = {key: value for key, value in arguments.items() if not _OPERATIONAL.fullmatch(key)}
    key = next((key for key in _NAMING if key in arguments), None)
    name = text(results.get("model_name"))
    if key is not None:
        name = arguments[key]
        settings.pop(key)
    elif name is None or _RANDOM_NAME.fullmatch(name):
        name = text(results.get("model_source")) or text(config.get("model")) or "unnamed model"
    settings |= {key: str(value) for key, value in table(config, "gen_kwargs").items()}
    listed = ", ".join(f"{key}={_short_path(value)}" for key, value in settings.items())
    return _short_path(name) + (f" ({listed})" if listed else "")


def model_arguments(results: Table) -> dict[str, str]:
    """`model_args` by name; they are logged as text up to lm-eval 0.4.9, as an object since.

    >>> model_arguments({"config": {"model_args": "pretrained=gpt2,dtype=auto"}})
    {'pretrained': 'gpt2', 'dtype': 'auto'}
    """
    return {key: str(value) for key, value in _arguments(results).items()}


def _arguments(results: Table) -> dict[str, object]:
    arguments = table(results, "config").get("model_args")
    if isinstance(arguments, Mapping):
        return {str(key): value for key, value in arguments.items()}
    if not isinstance(arguments, str):
        return {}
    parts = (part.partition("=") for part in arguments.split(",") if "=" in part)
    return {key.strip(): value for key, _, value in parts}


def _short_path(name: str) -> str:
    """The last two parts of an absolute path, which distinguish checkpoints without revealing the user's folders."""
    path = PureWindowsPath(name) if re.match(r"[A-Za-z]:\\", name) else PurePosixPath(name)
    return "/".join(path.parts[1:][-2:]) if path.is_absolute() else name
