"""Messages with codes: notes, warnings, refusals and errors, and the catalogues that define them."""

from harness_uq.messages.catalogue import CORE
from harness_uq.messages.message import (
    HasMessages,
    Message,
    MessageCatalogue,
    MessageRegistry,
    MessageType,
    Severity,
    Status,
    distinct,
    join_messages,
    mark_ignored,
    message_types_in,
    status_of,
    with_severity,
)

MESSAGE_REGISTRY = MessageRegistry()
MESSAGE_REGISTRY.register(CORE)

__all__ = [
    "CORE",
    "MESSAGE_REGISTRY",
    "HasMessages",
    "Message",
    "MessageCatalogue",
    "MessageRegistry",
    "MessageType",
    "Severity",
    "Status",
    "distinct",
    "join_messages",
    "mark_ignored",
    "message_types_in",
    "status_of",
    "with_severity",
]
