"""What differs in the configuration of two successive runs: settings, versions, model, questions and prompts."""

from collections.abc import Iterator, Mapping

from harness_uq.data.factors import settings_of
from harness_uq.data.task_log import Questions, TaskLog

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
    old, new = (set(_labels(log.questions, by_content=by_content)) for log in (before, after))
    if old != new:
        yield f"questions: {len(new - old)} added, {len(old - new)} removed"
    old_prompts, new_prompts = (_prompts(log.questions, by_content=by_content) for log in (before, after))
    shared = old_prompts.keys() & new_prompts.keys()
    n_changed = sum(old_prompts[label] != new_prompts[label] for label in shared)
    if n_changed:
        yield f"prompts: {n_changed} changed"


def _labels(questions: Questions, *, by_content: bool) -> tuple[str, ...]:
    return questions.hashes if by_content else questions.ids


def _prompts(questions: Questions, *, by_content: bool) -> dict[str, str]:
    """Hash of the prompt of each question; empty if the log has no prompts."""
    if not questions.prompt_hashes:
        return {}
    return dict(zip(_labels(questions, by_content=by_content), questions.prompt_hashes, strict=True))
