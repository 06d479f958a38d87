"""Names of logs as they are read: without control characters, and at most 500 characters long."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256

from harness_uq.data.task_log import TaskLog
from harness_uq.messages.control_characters import visible

_SETTINGS = re.compile(r" \([^()]*=[^()]*\)$")
MAX_NAME = 500
_N_DIGITS = 16


def bounded_name(name: str) -> str:
    r"""The name with visible escapes for control characters; a longer one ends in a digest instead of the rest.

    Different names remain different. A name that has been bounded does not change again.

    >>> print(bounded_name("two\nlines"))
    two\nlines
    >>> len(bounded_name("x" * 100_000))
    500
    """
    name = visible(name)
    if len(name) <= MAX_NAME:
        return name
    return f"{name[: MAX_NAME - 1 - _N_DIGITS]}…{sha256(name.encode()).hexdigest()[:_N_DIGITS]}"


def without_settings(system: str) -> str:
    """The name of a system without the settings at its end, as tables show it if they do not distinguish systems.

    >>> without_settings("model (ability=1.3)"), without_settings("model (chat)")
    ('model', 'model (chat)')
    """
    return _SETTINGS.sub("", system)


def names_without_settings(names: Iterable[str]) -> dict[str, str]:
    """Each name that ends with settings in parentheses, and the name without them, unless they distinguish two names.

    >>> names_without_settings(["a (top_k=1)", "b (top_k=1)", "b (top_k=2)"])
    {'a (top_k=1)': 'a'}
    """
    plain = {name: without_settings(name) for name in names}
    counts = Counter(plain.values())
    return {name: short for name, short in plain.items() if short != name and counts[short] == 1}


def with_bounded_names(log: TaskLog) -> TaskLog:
    """The log with bounded names of its system, tasks, metrics, filters, metadata fields, version and time."""
    if all(bounded_name(name) == name for name in _names_in(log)):
        return log
    declared, questions = log.declared, log.questions
    return replace(
        log,
        system=bounded_name(log.system),
        task=bounded_name(log.task),
        source=replace(log.source, version=_optional(log.source.version), time=_optional(log.source.time)),
        questions=replace(questions, fields={bounded_name(name): field for name, field in questions.fields.items()}),
        data=tuple(
            replace(data, metric=bounded_name(data.metric), filter=bounded_name(data.filter)) for data in log.data
        ),
        reported={
            (bounded_name(metric), bounded_name(filter_name)): result
            for (metric, filter_name), result in log.reported.items()
        },
        declared=declared and replace(declared, cluster=bounded_name(declared.cluster)),
        higher_is_better={bounded_name(metric): is_better for metric, is_better in log.higher_is_better.items()},
        subtasks=tuple(map(bounded_name, log.subtasks)),
    )


def _names_in(log: TaskLog) -> Iterator[str]:
    yield from (log.system, log.task, *log.subtasks, *log.questions.fields, *log.higher_is_better)
    yield from (name for name in (log.source.version, log.source.time) if name is not None)
    for data in log.data:
        yield from (data.metric, data.filter)
    for key in log.reported:
        yield from key
    if log.declared is not None:
        yield log.declared.cluster


def _optional(name: str | None) -> str | None:
    return None if name is None else bounded_name(name)
