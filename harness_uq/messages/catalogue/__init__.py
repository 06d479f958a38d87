"""The messages of the core package, by topic."""

from harness_uq.messages.catalogue import (
    breakdown,
    command_line,
    comparison,
    estimation,
    graders,
    overall,
    planning,
    plugins,
    reading,
    resources,
    score_structure,
    trends,
)
from harness_uq.messages.catalogue import result_store as store
from harness_uq.messages.message import MessageCatalogue

_TOPICS = (
    estimation,
    comparison,
    overall,
    reading,
    score_structure,
    breakdown,
    planning,
    graders,
    trends,
    store,
    plugins,
    resources,
    command_line,
)
CORE = MessageCatalogue("UQ", "Core", tuple(kind for topic in _TOPICS for kind in topic.TYPES))
