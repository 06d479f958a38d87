"""Find names that occur twice in one JSON object, of which decoders silently use the last value."""

import json
from collections.abc import Collection, Iterable
from typing import Final

from harness_uq_inspect.read.schema import Raw, Sample

_MAX_SIZE: Final = 64 << 20  # takes about one second


class _RepeatedError(Exception):
    """A name occurs twice in an object; the message is the name."""


def repeated_name(content: Raw) -> str | None:
    """The first name that occurs twice in one object; None if there is none, or if the content is too long or not JSON.

    >>> repeated_name(b'{"a": {"b": 1, "b": 2}}'), repeated_name(b'[{"a": 1}, {"a": 2}]')
    ('b', None)
    """
    if len(content) > _MAX_SIZE:
        return None
    try:
        json.loads(bytes(content), object_pairs_hook=_refuse_repeats, parse_int=str, parse_float=str)
    except _RepeatedError as error:
        return str(error)
    except (ValueError, RecursionError):
        return None
    return None


def may_repeat(content: Raw, samples: Collection[Sample]) -> bool:
    """Whether names of the samples occur more often than samples and scores; fast, with few false positives."""
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
