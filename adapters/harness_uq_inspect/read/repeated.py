"""Names that stand twice in one JSON object: decoders keep the last value and say nothing."""

import json
from collections.abc import Collection, Iterable
from typing import Final

from harness_uq_inspect.read.schema import Raw, Sample

_LONGEST: Final = 64 << 20  # about a second


class _RepeatedError(Exception):
    """A name stands twice; its message is the name."""


def repeated_name(content: Raw) -> str | None:
    """The first such name; None where there is none, or where the content is too long to look or no JSON.

    >>> repeated_name(b'{"a": {"b": 1, "b": 2}}'), repeated_name(b'[{"a": 1}, {"a": 2}]')
    ('b', None)
    """
    if len(content) > _LONGEST:
        return None
    try:
        json.loads(bytes(content), object_pairs_hook=_refuse_repeats, parse_int=str, parse_float=str)
    except _RepeatedError as found:
        return str(found)
    except (ValueError, RecursionError):
        return None
    return None


def may_repeat(content: Raw, samples: Collection[Sample]) -> bool:
    """Whether names of the samples occur more often than samples and scores do; cheap, and seldom wrongly True."""
    n_scores = sum(len(sample.scores or ()) for sample in samples)
    expected = {b'"scores"': len(samples), b'"epoch"': len(samples), b'"value"': n_scores}
    text = bytes(content)
    return any(text.count(name) > n for name, n in expected.items())


def _refuse_repeats(pairs: Iterable[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise _RepeatedError(name)
        seen.add(name)
