"""Suggestions for mistyped names."""

from collections.abc import Iterable


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """A question that suggests the most similar valid name, with a space in front; empty if none is similar.

    >>> did_you_mean("wilsn", ["bayes", "wilson"]), did_you_mean("x", ["bayes"])
    (" Did you mean 'wilson'?", '')
    """
    similar = most_similar(name, valid)
    return f" Did you mean {similar!r}?" if similar else ""


def most_similar(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that is most similar to `name`, ignoring case; None if none is similar.

    >>> most_similar("Wilsn", ["bayes", "wilson"]), most_similar("bayesian", ["bayes", "bayes-at-n"])
    ('wilson', 'bayes')
    """
    from difflib import get_close_matches  # imported here, because few runs have a mistyped name

    lowered, by_lower = name.lower(), {one.lower(): one for one in valid}
    with_same_start = [one for one in by_lower if _begins_equal(one, lowered)]
    matches = get_close_matches(lowered, with_same_start or by_lower, n=1)
    return by_lower[matches[0]] if matches else None


def _begins_equal(a: str, b: str) -> bool:
    """Whether one of the names begins with the other, which has three letters or more."""
    shorter, longer = sorted((a, b), key=len)
    return len(shorter) > 2 and longer.startswith(shorter)
