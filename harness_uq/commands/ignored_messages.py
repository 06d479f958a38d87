"""`--ignore`: notes and warnings that the running command does not print.

Values, verdicts and exit codes are the same as without the option: messages are marked when a command prints its
results. JSON documents contain marked messages with `ignored: true`.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from harness_uq.errors import UsageError
from harness_uq.messages import MESSAGE_REGISTRY, Message, MessageType, mark_ignored
from harness_uq.messages.catalogue.command_line import NOT_IGNORABLE, UNKNOWN_MESSAGE
from harness_uq.messages.similar_names import did_you_mean

T = TypeVar("T")

_CODES: ContextVar[frozenset[str]] = ContextVar("ignored messages", default=frozenset())


@contextmanager
def ignoring(labels: Iterable[str]) -> Iterator[None]:
    """Ignore the messages with these codes or names in the context; a label may be several, separated by commas.

    Raises
    ------
    UsageError : if there is no such message, or it is a refusal or an error
    """
    names = [name.strip() for label in labels for name in label.split(",")]
    token = _CODES.set(frozenset(_ignorable(name).code for name in names if name))
    try:
        yield
    finally:
        _CODES.reset(token)


def marked(value: T) -> T:
    """The value with the ignored messages in it marked, in results, sequences and mappings too."""
    codes = _CODES.get()
    return _marked(value, codes) if codes else value


def _marked(value: Any, codes: frozenset[str]) -> Any:
    if isinstance(value, Message):
        return mark_ignored((value,), codes)[0]
    if isinstance(value, list | tuple):
        items = [_marked(item, codes) for item in value]
        is_same = all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else type(value)(items)
    if isinstance(value, Mapping):
        changed = {name: _marked(item, codes) for name, item in value.items()}
        return value if all(changed[name] is item for name, item in value.items()) else changed
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changes = {name: new for name, item in old.items() if (new := _marked(item, codes)) is not item}
        return replace(value, **changes) if changes else value
    return value


def _ignorable(label: str) -> MessageType:
    kind = MESSAGE_REGISTRY.find(label)
    if kind is None:
        from harness_uq.inference.load_plugins import load_plugins

        load_plugins()  # registers the messages of the adapters
        kind = MESSAGE_REGISTRY.find(label)
    if kind is None:
        raise UsageError(UNKNOWN_MESSAGE(label=label, suggestion=did_you_mean(label, MESSAGE_REGISTRY.labels)))
    if kind.severity not in ("note", "warning"):
        raise UsageError(NOT_IGNORABLE(code=kind.code, name=kind.name, severity=kind.severity))
    return kind
