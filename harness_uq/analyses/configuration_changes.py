"""What differs in the configuration of two successive runs: settings, versions, model, questions and prompts."""

from collections.abc import Iterator, Mapping

from harness_uq.data.factors import settings_of
from harness_uq.data.task_log import TaskLog

_NOT_SETTINGS = ("path", "run", "task", "status")
_LONGEST_VALUE = 36  # longer values are hashes or prompts, and only the name of the setting is listed


def configuration_changes(before: TaskLog, after: TaskLog) -> tuple[str, ...]:
    """Each difference as a short text, such as `lm-eval version: 0.4.8 → 0.4.9`."""
    return (*_changed_settings(_settings(before), _settings(after)), *_changed_questions(before, after))


def _settings(log: TaskLog) -> dict[str, str]:
    settings = {name: value for name, value in settings_of(log).items() if name not in _NOT_SETTINGS}
    return settings | ({f"{log.source.harness} version": log.source.version} if log.source.version else {})


def _changed_settings(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, "none"), after.get(name, "none")
        if old != new:
            is_short = max(len(old), len(new)) <= _LONGEST_VALUE
            yield f"{name}: {old} → {new}" if is_short else f"{name} changed"


def _changed_questions(before: TaskLog, after: TaskLog) -> Iterator[str]:
    """Numbers of added and removed questions, by content if both logs have it, and of changed prompts."""
    by_content = bool(before.questions.hashes and after.questions.hashes)
    old, new = (log.questions.hashes if by_content else log.questions.ids for log in (before, after))
    added, removed = set(new) - set(old), set(old) - set(new)
    if added or removed:
        yield f"questions: {len(added)} added, {len(removed)} removed"
    # logs without prompts have no hashes of them
    old_prompts = dict(zip(old, before.questions.prompt_hashes, strict=False))
    new_prompts = dict(zip(new, after.questions.prompt_hashes, strict=False))
    n_changed = sum(old_prompts[label] != new_prompts[label] for label in old_prompts.keys() & new_prompts.keys())
    if n_changed:
        yield f"prompts: {n_changed} changed"
