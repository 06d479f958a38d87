"""Which settings differ between the logs of one model, and how that is known."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_uq.errors import DataError
from harness_uq.logs.data import TaskLog

REPEAT = "run"
_UNKNOWN = "not logged"

# What a run did or how far it came, not how it was set up.
_NO_SETTING = re.compile(
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
    """A setting that differs between logs.

    Attributes
    ----------
    name : such as `seed`, `prompt` or `judge`
    levels : its value in each log
    evidence : where it was found, and its values
    """

    name: str
    levels: tuple[str, ...]
    evidence: str

    @property
    def n_levels(self) -> int:
        """Different values."""
        return len(set(self.levels))


def model_of(log: TaskLog) -> str:
    """The model without the settings in brackets that some harnesses add to a system's name."""
    return re.sub(r" \([^()]*=.*\)$", "", log.system)


def settings_of(log: TaskLog) -> dict[str, str]:
    """Settings of a log by name, as text: those it logs, those in the system's name, and `task`, `path` and `run`."""
    found = {"task": log.task, "path": log.source.path, "run": log.source.run}
    for name, value in log.facts.settings.items():
        parts = value.items() if isinstance(value, Mapping) else [(None, value)]
        found |= {f"{name}.{key}" if key else name: _text(part) for key, part in parts}
    for part in log.system.removeprefix(model_of(log)).strip(" ()").split(", "):
        name, equals, value = part.partition("=")
        if equals:
            found[name] = value
    return found


def find_factors(logs: Sequence[TaskLog], asked: Mapping[str, str]) -> tuple[Factor, ...]:
    """Settings that differ between logs; those that always change together are one factor.

    Parameters
    ----------
    logs : of one model, at least two
    asked : factor by name to the setting it stands for, taken as they are

    Raises
    ------
    DataError : if a setting that was asked for is in no log, or does not differ
    """
    settings = [settings_of(log) for log in logs]
    found = [_asked(name, field, settings) for name, field in asked.items()]
    taken = [_split(factor.levels) for factor in found]
    for split, fields in _differing(settings).items():
        if split not in taken:
            levels = tuple(held.get(fields[0], _UNKNOWN) for held in settings)
            found.append(Factor(_name(fields[0]), levels, _evidence(fields, levels)))
    if not found:
        paths = tuple(f"{i}" for i in range(len(logs)))
        return (Factor(REPEAT, paths, f"no setting differs between {len(logs)} runs: repeats"),)
    return tuple(_numbered(found))


def _differing(settings: Sequence[Mapping[str, str]]) -> dict[tuple[int, ...], list[str]]:
    """Settings that differ, by which logs are alike in them; those with a common name come first."""
    fields = dict.fromkeys(name for held in settings for name in held)
    chosen = [f for f in fields if f not in ("task", "path", "run") and not _NO_SETTING.fullmatch(f)]
    order = [name for name, _ in _NAMES]
    rank = {field: order.index(name) if (name := _name(field)) in order else len(order) for field in chosen}
    found: dict[tuple[int, ...], list[str]] = {}
    for field in sorted(chosen, key=lambda f: rank[f]):
        split = _split([held.get(field, _UNKNOWN) for held in settings])
        if max(split) > 0:
            found.setdefault(split, []).append(field)
    return found


def _name(field: str) -> str:
    return next((name for name, pattern in _NAMES if pattern.fullmatch(field.lower())), field)


def _split(levels: Sequence[str]) -> tuple[int, ...]:
    """Which logs are alike, whatever the values are called."""
    known: dict[str, int] = {}
    return tuple(known.setdefault(level, len(known)) for level in levels)


def _asked(name: str, field: str, settings: Sequence[Mapping[str, str]]) -> Factor:
    known = sorted({key for held in settings for key in held})
    if field not in known:
        raise DataError(f"no log has a setting {field!r}; there are {', '.join(known)}")
    levels = tuple(held.get(field, _UNKNOWN) for held in settings)
    if len(set(levels)) < 2:
        raise DataError(f"{field} is {levels[0]} in all {len(levels)} logs: it cannot be a factor")
    return Factor(name, levels, _evidence([field], levels))


def _evidence(fields: Sequence[str], levels: Sequence[str]) -> str:
    values = [value if len(value) <= 24 else value[:21] + "..." for value in dict.fromkeys(levels)]
    more = f" and {len(values) - 4} more" if len(values) > 4 else ""
    verb = "differs" if len(fields) == 1 else "differ together"
    return f"{', '.join(fields)} {verb}: {', '.join(values[:4])}{more} in {len(levels)} logs"


def _numbered(factors: Sequence[Factor]) -> list[Factor]:
    """Factors with names of their own: the second `prompt` is `prompt 2`."""
    seen: dict[str, int] = {}
    found = []
    for factor in factors:
        seen[factor.name] = seen.get(factor.name, 0) + 1
        name = factor.name if seen[factor.name] == 1 else f"{factor.name} {seen[factor.name]}"
        found.append(Factor(name, factor.levels, factor.evidence))
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
