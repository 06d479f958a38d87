"""Suggestions for mistyped names."""

from collections.abc import Iterable

# other names in the glossary, by the name that commands and options use
_SYNONYMS = {
    "baseline": "reference control champion",
    "by": "slice subgroup category facet stratum group",
    "cluster": "block passage testlet stem",
    "estimand": "pass@k statistic",
    "gate": "regression-test",
    "grader": "judge autorater verifier",
    "labels": "annotations gold ground-truth",
    "level": "confidence credible alpha ci",
    "margin": "tolerance allowed-regression",
    "missing": "nan unscored",
    "model": "system agent submission solver candidate",
    "overall": "aggregate average macro-average index",
    "questions": "samples docs items examples instances problems",
    "reference-runs": "anchor anchors",
    "resources": "usage spend latency tokens",
    "trials": "epochs repeats attempts rollouts generations replicates",
}
_LONGEST_LIST = 160  # two lines of 80 columns
_PART_OF_LIST = 120
_BY_SYNONYM = {synonym: name for name, words in _SYNONYMS.items() for synonym in words.split()}


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """A question that suggests the most similar valid name, with a space in front; empty if none is similar.

    >>> did_you_mean("wilsn", ["bayes", "wilson"]), did_you_mean("x", ["bayes"])
    (" Did you mean 'wilson'?", '')
    """
    similar = most_similar(name, valid)
    return f" Did you mean {similar!r}?" if similar else ""


def suggestion(name: str, valid: Iterable[str], plural: str) -> str:
    """The most similar valid name, and the list of the valid names, with a space in front; of a list longer than two
    lines, only the most similar names. `plural`: what the names are.

    >>> suggestion("wilsn", ["bayes", "wilson"], "methods")
    " Did you mean 'wilson'? Available methods: bayes, wilson."
    >>> suggestion("a", [f"topic{number:03}" for number in range(200)], "tasks")[-13:]
    'and 188 more.'
    """
    names = list(valid)
    listed = ", ".join(names)
    if len(listed) > _LONGEST_LIST:
        from difflib import get_close_matches

        similar = get_close_matches(name, names, n=len(names), cutoff=0.0)
        n = max(1, sum(1 for k in range(len(similar)) if len(", ".join(similar[: k + 1])) <= _PART_OF_LIST))
        listed = f"{', '.join(similar[:n])} and {len(names) - n} more"
    return f"{did_you_mean(name, names)} Available {plural}: {listed}."


def most_similar(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that means the same as `name` or is most similar, ignoring case; None if there is none.

    >>> most_similar("Wilsn", ["bayes", "wilson"]), most_similar("bayesian", ["bayes", "bayes-at-n"])
    ('wilson', 'bayes')
    >>> most_similar("--epochs", ["--trials", "--task"])
    '--trials'
    """
    from difflib import get_close_matches  # imported here, because few runs have a mistyped name

    lowered, by_lower = name.lower(), {one.lower(): one for one in valid}
    term = lowered.lstrip("-").replace("_", "-")
    synonym = _BY_SYNONYM.get(term) or _BY_SYNONYM.get(f"{term}s") or _BY_SYNONYM.get(term.removesuffix("s"))
    if synonym is not None:
        found = [one for one in by_lower if one.lstrip("-").replace("_", "-") == synonym]
        if found:
            return by_lower[found[0]]
    with_same_start = [one for one in by_lower if _begins_equal(one, lowered)]
    matches = get_close_matches(lowered, with_same_start or by_lower, n=1)
    return by_lower[matches[0]] if matches else None


def _begins_equal(a: str, b: str) -> bool:
    """Whether one of the names begins with the other, which has three letters or more."""
    shorter, longer = sorted((a, b), key=len)
    return len(shorter) > 2 and longer.startswith(shorter)
