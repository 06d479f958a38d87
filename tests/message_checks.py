"""What tests ask of messages: their codes or names, and their parameters, never their text."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from harness_uq import HarnessUqError
from harness_uq.messages import Message, Severity


def messages_of(held: Any) -> list[Message]:
    """The messages of a result, a log, an error, or a sequence of messages."""
    if isinstance(held, Message):
        return [held]
    if isinstance(held, HarnessUqError):
        return [held.message]
    messages: Iterable[Message] = getattr(held, "messages", held)
    return list(messages)


def find(held: Any, label: str) -> list[Message]:
    """The messages with this code or name."""
    return [message for message in messages_of(held) if label in (message.code, message.name)]


def has(held: Any, label: str, /, **params: object) -> bool:
    """Whether there is a message with this code or name and, among others, these parameters."""
    return any(params.items() <= dict(message.params).items() for message in find(held, label))


def params_of(held: Any, label: str) -> Mapping[str, Any]:
    """Parameters of the only message with this code or name."""
    (message,) = find(held, label)
    return message.params


def names_of(held: Any) -> list[str]:
    """Names of the messages, in order."""
    return [message.name for message in messages_of(held)]


def made(text: str, severity: Severity = "warning") -> Message:
    """A message that no catalogue has."""
    return Message("XX001", "made-up", severity, text)


@contextmanager
def raises_message(kind: type[HarnessUqError], label: str, /, **params: object) -> Iterator[None]:
    """Expect an error whose message has this code or name and these parameters."""
    with pytest.raises(kind) as raised:
        yield
    assert has(raised.value, label, **params), raised.value.message.to_dict()
