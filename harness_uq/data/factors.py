"""Factors: settings that differ between the logs of one model."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness_uq.data.task_log import TaskLog
from harness_uq.messages.catalogue.reading import CONSTANT_FACTOR, UNKNOWN_SETTING_OF_LOGS
from harness_uq.messages.errors import DataError

REPEAT = "run"
LOGGED_SYSTEM = "logged system"  # setting that contains the name of the system in the log, if the user renamed it
_LONGEST_VALUE = 24  # characters of a value in a text; longer ones are hashes or prompts
_UNKNOWN = "not logged"

# Fields that describe the progress and outcome of a run, not its setup.
_NOT_A_SETTING = re.compile(
    r"status|limit|sample_id|epochs|epochs_reducer|repeats|aggregation|task_hash|.*version.*|shuffled"
)
_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("prompt", re.compile(r".*(prompt|template|description|doc_to_text|instruction).*")),
    ("judge", re.compile(r".*(judge|grader|scorer_model).*")),
    ("shots", re.compile(r".*(num_fewshot|n_shot|shots)")),
    ("language", re.compile(r".*(language|lang)")),
    ("temperature", re.compile(r".*temperature")),
    ("back end", re.compile(r".*(backend|engine|dtype|device)")),
    ("seed", re.compile(r".*seed")),
)


@dataclass(frozen=True, slots=True)
class Factor:
    """A setting that differs between logs."""

    name: str  # for example `seed`, `prompt` or `judge`
    levels: tuple[str, ...]  # its value in each log
    evidence: str  # the fields in which it was found, and their values


def model_of(log: TaskLog) -> str:
    """Return the name of the model, without the settings that some harnesses append in parentheses."""
    return re.sub(r" \([^()]*=.*\)$", "", log.system)


def common_system(logs: Iterable[TaskLog]) -> str:
    """Return the name of the model of these logs with the settings that all of them share, as in the systems' names.

    >>> from harness_uq.data.task_log import log_of_array
    >>> names = "gpt (temperature=0, seed=1)", "gpt (temperature=0, seed=2)"
    >>> common_system(log_of_array([0, 1], name, clusters=None, metric="acc") for name in names)
    'gpt (temperature=0)'
    """
    first, *others = logs
    shared = [part for part in _settings_in_name(first) if all(part in _settings_in_name(log) for log in others)]
    return model_of(first) + (f" ({', '.join(shared)})" if shared else "")


def _settings_in_name(log: TaskLog) -> list[str]:
    settings = log.system.removeprefix(model_of(log)).strip(" ")
    return settings[1:-1].split(", ") if settings else []


def settings_of(log: TaskLog) -> dict[str, str]:
    """Collect settings as strings: those in the log, those in the system's name, and `task`, `path` and `run`."""
    settings = {"task": log.task, "path": log.source.path, "run": log.source.run}
    for name, value in log.facts.settings.items():
        parts = value.items() if isinstance(value, Mapping) else [(None, value)]
        for key, part in parts:
            text = part if isinstance(part, str) else json.dumps(part, sort_keys=True, default=str)
            settings[f"{name}.{key}" if key else name] = text
    for part in _settings_in_name(log):
        name, equals, value = part.partition("=")
        if equals:
            settings[name] = value
    return settings


def find_factors(logs: Sequence[TaskLog], requested: Mapping[str, str]) -> tuple[Factor, ...]:
    """Find the settings that differ between at least two logs of one model.

    Settings that always change together are one factor. `requested` has the setting of each factor that the user
    requests, by name of the factor; DataError if one is in no log, or does not differ.
    """
    settings = [settings_of(log) for log in logs]
    factors = [_requested_factor(name, field, settings) for name, field in requested.items()]
    requested_splits = [_split(factor.levels) for factor in factors]
    for split, fields in _differing(settings).items():
        if split not in requested_splits:
            levels = tuple(log_settings.get(fields[0], _UNKNOWN) for log_settings in settings)
            factors.append(Factor(_name(fields[0]), levels, _evidence(fields, levels)))
    if not factors:
        paths = tuple(f"{i}" for i in range(len(logs)))
        return (Factor(REPEAT, paths, f"no setting differs between {len(logs)} runs: repeats"),)
    return tuple(_with_unique_names(factors))


def _differing(settings: Sequence[Mapping[str, str]]) -> dict[tuple[int, ...], list[str]]:
    """Group the settings that differ by the logs that share their values; settings with a common name come first."""
    fields = dict.fromkeys(name for log_settings in settings for name in log_settings)
    candidates = [
        f for f in fields if f not in ("task", "path", "run", LOGGED_SYSTEM) and not _NOT_A_SETTING.fullmatch(f)
    ]
    order = [name for name, _ in _NAMES]
    rank = {field: order.index(name) if (name := _name(field)) in order else len(order) for field in candidates}
    fields_of: dict[tuple[int, ...], list[str]] = {}
    for field in sorted(candidates, key=lambda f: rank[f]):
        split = _split([log_settings.get(field, _UNKNOWN) for log_settings in settings])
        if max(split) > 0:
            fields_of.setdefault(split, []).append(field)
    return fields_of


def _name(field: str) -> str:
    return next((name for name, pattern in _NAMES if pattern.fullmatch(field.lower())), field)


def _split(levels: Sequence[str]) -> tuple[int, ...]:
    """Number the values in the order of their first appearance, so that equal splits of the logs are equal tuples."""
    known: dict[str, int] = {}
    return tuple(known.setdefault(level, len(known)) for level in levels)


def _requested_factor(name: str, field: str, settings: Sequence[Mapping[str, str]]) -> Factor:
    known = sorted({key for log_settings in settings for key in log_settings})
    if field not in known:
        raise DataError(UNKNOWN_SETTING_OF_LOGS(field=field, known=known or ["none"]))
    levels = tuple(log_settings.get(field, _UNKNOWN) for log_settings in settings)
    if len(set(levels)) < 2:
        raise DataError(CONSTANT_FACTOR(field=field, value=levels[0], n_logs=len(levels)))
    return Factor(name, levels, _evidence([field], levels))


def _evidence(fields: Sequence[str], levels: Sequence[str]) -> str:
    values = list(dict.fromkeys(levels))
    more = f" and {len(values) - 4} more" if len(values) > 4 else ""
    is_short = all(len(value) <= _LONGEST_VALUE for value in values)
    listed = f": {', '.join(values[:4])}{more}" if is_short else ""
    verb = "has" if len(fields) == 1 else "have"
    return f"{' and '.join(fields)} {verb} {len(values)} values in {len(levels)} logs{listed}"


def _with_unique_names(factors: Sequence[Factor]) -> list[Factor]:
    """Make names unique: the second `prompt` becomes `prompt 2`."""
    counts: dict[str, int] = {}
    renamed = []
    for factor in factors:
        counts[factor.name] = counts.get(factor.name, 0) + 1
        name = factor.name if counts[factor.name] == 1 else f"{factor.name} {counts[factor.name]}"
        renamed.append(Factor(name, factor.levels, factor.evidence))
    return renamed
