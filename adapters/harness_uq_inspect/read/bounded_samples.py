"""Bound the size of samples: their scores remain, and as much of their texts as hashes and cluster fields need.

Complete samples may contain tens of megabytes of metadata and messages each. They are bounded as soon as they are
decoded, so that memory holds one complete sample at a time. A bounded value depends only on the value itself, so equal
values remain equal and different ones different.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Final, cast

import msgspec

from harness_uq.plugin_api import MAX_FIELDS
from harness_uq_inspect.read.schema import Json, Sample

MAX_TEXT: Final = 5120  # summaries truncate texts of the input at this length
CUT: Final = "...\n(content truncated)"
_DIGEST: Final = "... (SHA-256 {})"


def bound_sample(sample: Sample) -> None:
    """Bound all parts of a sample, in place; a second call changes nothing."""
    sample.input = _bounded_input(sample.input)
    sample.metadata = bounded_metadata(sample.metadata)
    if sample.target is not None:
        sample.target = str(sample.target)[:MAX_TEXT]
    if sample.error is not None:
        sample.error = True
    if sample.limit is not None:
        limit = sample.limit.get("type") if isinstance(sample.limit, dict) else sample.limit
        sample.limit = str(limit)[:MAX_TEXT]
    if sample.invalidation:
        sample.invalidation = True
    for score in (sample.scores or {}).values():
        if isinstance(score.value, str):
            score.value = _bounded_text(score.value)


def truncate_text(text: str) -> str:
    """A text as summaries contain it.

    >>> truncate_text("short")
    'short'
    """
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + CUT


def bounded_metadata(metadata: Json | None) -> Json | None:
    """The first fields of the metadata to depth two, without objects below; long values end in a digest.

    >>> bounded_metadata({"level": 1, "source": {"page": 2, "other": {}}})
    {'level': 1, 'source': {'page': 2}}
    """
    if not metadata:
        return metadata
    return {
        name: dict(_bounded_leaves(value)) if isinstance(value, dict) else _bounded_leaf(value)
        for name, value in islice(metadata.items(), MAX_FIELDS)
    }


def _bounded_leaves(leaves: Json) -> Iterator[tuple[str, object]]:
    named = ((name, leaf) for name, leaf in leaves.items() if not isinstance(leaf, dict))
    yield from ((name, _bounded_leaf(leaf)) for name, leaf in islice(named, MAX_FIELDS))


def _bounded_leaf(value: object) -> object:
    if isinstance(value, str):
        return _bounded_text(value)
    if isinstance(value, list):
        content = msgspec.json.encode(value)
        return value if len(content) <= MAX_TEXT else [_DIGEST.format(hashlib.sha256(content).hexdigest())]
    return value


def _bounded_text(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    digest = _DIGEST.format(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    return text[: MAX_TEXT - len(digest)] + digest


def _bounded_input(value: object) -> object:
    """The texts of an input, and the types of its other parts; None if there is no text."""
    if isinstance(value, str):
        return truncate_text(value)
    if not isinstance(value, list) or not all(isinstance(message, dict) and "content" in message for message in value):
        return None
    return [
        {"role": truncate_text(str(message.get("role"))), "content": _bounded_content(message["content"])}
        for message in cast(list[Json], value)
    ]


def _bounded_content(content: object) -> object:
    return [_bounded_part(part) for part in content] if isinstance(content, list) else _bounded_part(content)


def _bounded_part(part: object) -> object:
    if not isinstance(part, dict):
        return truncate_text(str(part))
    kind = truncate_text(str(part.get("type")))
    return {"type": kind, "text": truncate_text(str(part.get("text")))} if kind == "text" else {"type": kind}
