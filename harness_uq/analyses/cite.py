r"""BibTeX entries of the methods behind results, and a paragraph on these methods for a paper.

Each sentence of the paragraph is LaTeX and cites its sources with `\cite` and the keys of the bibliography.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from harness_uq._version import __version__
from harness_uq.inference import labels, subset
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.paths import read_bytes
from harness_uq.messages.errors import DataError, LogError
from harness_uq.messages.message import join_words
from harness_uq.output.data import result_document
from harness_uq.output.declared import Declared
from harness_uq.output.document import OVERALL
from harness_uq.output.words import counted, join_names
from harness_uq.results.documents import lists_of, result_set
from harness_uq.results.method_texts import Kind, MethodText, bibliography, text_of_analysis, text_of_estimator

Row: TypeAlias = Mapping[str, Any]
Results: TypeAlias = "str | PathLike[str] | Mapping[str, object] | Declared | Sequence[object]"

_REMEDY = "Write one with a command such as harness-uq estimate LOG --output results.json."
_CITED = re.compile(r"\\cite\{([^}]+)\}")
_SOFTWARE = f"""\
@misc{{harness_uq,
  author = {{{{harness\\_uq developers}}}},
  title = {{harness\\_uq: statistically sound uncertainty for {{LLM}} evaluation harnesses}},
  note = {{Version {__version__}}},
}}"""
_SPECIAL = re.compile(r"[&%$#_{}]")
_KINDS = {
    "hdi": "highest-density credible",
    "quantile": "equal-tailed credible",
    "confidence": "confidence",
}
_TARGETS = {
    "population": "new questions from the same population",
    "benchmark": "exactly these questions",
    "full": "all questions of the benchmark, of which a subset was evaluated",
}
_NOT_ESTIMATORS = {
    labels.METHOD: labels.METHOD_INFO,
    subset.METHOD: subset.METHOD_INFO,
    subset.ACTIVE: subset.ACTIVE_INFO,
}
_EFFECTS = ("liang1986", "patterson1971", "ferguson1973")
_HISTORY = ("wasserman2020", "ville1939")
_AGREEMENT = ("cohen1960", "gwet2008")
_POOLING = ("gelman2013",)


@dataclass(frozen=True, slots=True, repr=False)
class Citation:
    r"""How to cite the methods behind results.

    `paragraph`: text for the methods section of a paper, in LaTeX; it cites the sources with `\cite`. `keys`: the cited
    sources, sorted.
    """

    paragraph: str
    keys: tuple[str, ...]
    bibtex: str

    def __repr__(self) -> str:
        return f"Citation(keys={self.keys})"

    def __str__(self) -> str:
        return f"{self.paragraph}\n\n{self.bibtex}"


def cite(*results: Results) -> Citation:
    r"""BibTeX entries of the methods behind these results, and a paragraph on these methods for a paper.

    Parameters
    ----------
    *results : results of functions such as `estimate` and `compare`, or JSON documents of commands: paths, URLs or
        mappings

    Raises
    ------
    DataError : if there are no results, or none with methods to cite
    LogError : if a file is not a JSON document of a command

    Examples
    --------
    >>> from harness_uq import cite, estimate_scores
    >>> citation = cite(estimate_scores([1, 0, 1, 1]))
    >>> citation.keys
    ('bowyer2025', 'harness_uq')
    >>> print(citation.paragraph.partition(". ")[0])
    Scores are reported with 95\,\% highest-density credible intervals for new questions from the same population
    """
    lists: dict[str, list[Row]] = {}
    for one in results:
        for name, rows in _rows_of(_document(one)).items():
            lists.setdefault(name, []).extend(rows)
    written = methods_sentences(lists)
    if not written:
        raise DataError("The results contain no estimate, comparison, ranking or other result with methods to cite.")
    paragraph = " ".join([*written, f"All results were computed with harness\\_uq {__version__}~\\cite{{harness_uq}}."])
    keys = tuple(sorted({key for cited in _CITED.findall(paragraph) for key in cited.split(",")}))
    entries = [_SOFTWARE if key == "harness_uq" else bibliography()[key].bibtex for key in keys]
    return Citation(paragraph, keys, "\n\n".join(entries))


def _document(results: Results) -> Mapping[str, object]:
    """The JSON document of results."""
    if isinstance(results, str | PathLike):
        return _read(str(results))
    if isinstance(results, Mapping):
        return results
    if hasattr(results, "lists"):  # a report
        return result_document(result_set(results.lists))
    rows = [results] if isinstance(results, Declared) else list(results)
    return result_document(result_set(lists_of(rows)))


def _read(path: str) -> Mapping[str, object]:
    try:
        found = json.loads(read_bytes(path))
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}. {_REMEDY}") from None
    except ValueError as error:
        raise LogError(f"{path}: Not a JSON document: {error}. {_REMEDY}") from None
    if not isinstance(found, dict) or "schema" not in found:
        raise LogError(f"{path}: Not a JSON document of harness-uq. {_REMEDY}")
    return found


def _rows_of(found: Mapping[str, object]) -> dict[str, list[Row]]:
    """The rows of each list of a document; the overall result is a list of one."""
    rows: dict[str, list[Any]] = {}
    for name, entries in found.items():
        if isinstance(entries, Mapping):
            rows[name] = [entries]
        elif isinstance(entries, Sequence) and not isinstance(entries, str):
            rows[name] = list(entries)
    return rows


def latex(text: str) -> str:
    r"""Plain text as LaTeX: `passage_id` becomes `passage\_id`."""
    return _SPECIAL.sub(r"\\\g<0>", text).replace("^", r"\^{}")


def methods_sentences(lists: Mapping[str, Sequence[Row]]) -> list[str]:
    """The sentences about the results of these lists, in the order of a methods section."""
    return [sentence for name, write in _WRITERS.items() if lists.get(name) for sentence in write(lists[name])]


def _about_scores(rows: Sequence[Row]) -> Iterator[str]:
    rows = [row for row in rows if row["interval"]]
    if not rows:
        return
    targets = join_words(_TARGETS[scope] for scope in _distinct(row["scope"] for row in rows))
    yield f"Scores are reported with {_intervals(row['interval'] for row in rows)} for {targets}."
    of_trials = [row for row in rows if "@" in row["estimand"]]
    if of_trials:
        quantities = join_words(latex(name) for name in _distinct(row["estimand"] for row in of_trials))
        yield f"The estimand of {_tasks(of_trials)} is {quantities}."
    yield _methods("score", (_score_method(row["method"]) for row in rows))
    yield from _about_clusters(rows, "The intervals")
    repeated = [row for row in rows if (row["n_trials"] or 1) > 1]
    if repeated:
        n_trials = max(row["n_trials"] for row in repeated)
        yield (
            f"Questions of {_tasks(repeated)} were answered up to {n_trials} times; the intervals account for the "
            "dependence of trials of the same question."
        )
    if len(rows) > 1:
        yield "Intervals of scores are not corrected for multiplicity."


def _about_comparisons(rows: Sequence[Row]) -> Iterator[str]:
    rows = [row for row in rows if row["difference"]]
    if not rows:
        return
    intervals = _intervals(row["difference"]["interval"] for row in rows)
    targets = join_words(_TARGETS[scope] for scope in _distinct(row["scope"] for row in rows))
    matched = "" if any(row["method"] == "independent" for row in rows) else ", matched by question,"
    yield f"Differences between systems{matched} are reported with {intervals} for {targets}."
    yield _methods("difference", (_comparison_method(row["method"]) for row in rows))
    yield from _about_clusters(rows, "The intervals of differences")
    margins = _distinct(row["margin"] for row in rows if row["margin"])
    if margins:
        yield f"The smallest difference of interest is {join_words(f'{margin:g}' for margin in margins)}."
    adjusted = [row for row in rows if row["verdict_p_adjusted"] is not None and row["task"] != OVERALL]
    if adjusted:
        yield _corrected(f"Verdicts are corrected for multiplicity ({counted(len(adjusted), 'comparison')})", "holm")


def _about_gates(rows: Sequence[Row]) -> Iterator[str]:
    for gate in rows:
        tests = [*gate["rows"], *gate["requirements"]]
        yield from _about_comparisons(gate["rows"])
        yield _corrected(
            f"The gate over {counted(len(tests), 'score')} passes if each score passes its own test at the level "
            f"{_percent(gate['alpha'])}, and failures are corrected for multiplicity",
            "holm",
        )


def _about_rankings(rows: Sequence[Row]) -> Iterator[str]:
    text = text_of_analysis("other", "ranking")
    yield f"Ranks follow from the joint posterior of all systems on the questions that they share{_cite(text.keys)}."
    if any(system["rank_set"] for row in rows for system in row["systems"]):
        yield f"Rank sets hold for all systems at once{_cite(text_of_analysis('other', 'rank-sets').keys)}."
    for name in _distinct(row["correction"] for row in rows if row["correction"]):
        yield _corrected(f"Paired tests are corrected for {counted(rows[0]['n_comparisons'], 'comparison')}", name)


def _about_overall(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if not row["systems"]:
            continue
        scope = "new tasks of the same kind" if row["generalizes_over_tasks"] else "new questions in these tasks"
        normalized = ", normalized by the score of random answers" if row["normalization"] == "chance" else ""
        yield (
            f"The overall score is the weighted mean of the scores of {counted(len(row['tasks']), 'task')} "
            f"(weights: {latex(row['weights'])}{normalized}); its intervals refer to {scope}{_cite(('zou2008',))}."
        )


def _about_plans(_: Sequence[Row]) -> Iterator[str]:
    yield f"The numbers of questions and trials follow from a power analysis{_of_analysis('other', 'plan')}."


def _sentence(text: str, sources: Sequence[str]) -> Callable[[Sequence[Row]], Iterator[str]]:
    """A function that writes the same sentence about any results."""
    return lambda _: iter([f"{text}{_cite(sources)}."])


def _about_breakdowns(rows: Sequence[Row]) -> Iterator[str]:
    fields = join_words(latex(str(name)) for name in _distinct(row["field"] for row in rows))
    yield f"Scores of groups of questions (by {fields}) are also partially pooled{_cite(_POOLING)}."


_WRITERS: Mapping[str, Callable[[Sequence[Row]], Iterator[str]]] = {
    "estimates": _about_scores,
    "breakdowns": _about_breakdowns,
    "overall": _about_overall,
    "comparisons": _about_comparisons,
    "gates": _about_gates,
    "rankings": _about_rankings,
    "effects": _sentence("Variance components were estimated with crossed random effects", _EFFECTS),
    "histories": _sentence("Changes of the score between runs were detected with an anytime-valid test", _HISTORY),
    "agreements": _sentence("Agreement of graders is reported with chance-corrected coefficients", _AGREEMENT),
    "plans": _about_plans,
}


def _about_clusters(rows: Sequence[Row], subject: str) -> Iterator[str]:
    rows = [row for row in rows if row["task"] != OVERALL]
    clustered = [row for row in rows if row["n_clusters"]]
    if not clustered:
        yield f"{subject} treat questions as independent."
        return
    names = {row["task"]: f"{latex(row['task'])}: {_clusters(row)}" for row in clustered}
    others = {row["task"] for row in rows} - names.keys()
    rest = "; questions of the other tasks are treated as independent" if others else ""
    yield f"{subject} account for clusters of questions ({join_names(names.values())}){rest}."


def _clusters(row: Row) -> str:
    key = f" by {latex(row['cluster_key'])}" if row["cluster_key"] else ""
    return f"{counted(row['n_clusters'], 'cluster')}{key}"


def _score_method(name: str) -> MethodText:
    estimators = load_plugins().estimators
    return text_of_estimator(name, estimators[name].info if name in estimators else _NOT_ESTIMATORS.get(name))


def _comparison_method(name: str) -> MethodText:
    text = text_of_analysis("comparisons", name)
    return text if text.keys else _score_method(name)


def _methods(noun: str, methods: Iterable[MethodText]) -> str:
    """A sentence that names each method with its sources; with their numbers of results if there are several."""
    counts = Counter(methods)
    names = [f"{latex(method.title.replace('–', '--'))}{_cite(method.keys)}" for method in counts]
    if len(counts) == 1:
        return f"The method is: {names[0]}."
    numbers = [f"{name} ({counted(n, noun)})" for name, n in zip(names, counts.values(), strict=True)]
    return f"The methods are: {'; '.join(numbers)}."


def _corrected(text: str, correction: str) -> str:
    name = {"holm": "Holm's method", "bh": "the method of Benjamini and Hochberg"}[correction]
    return f"{text} by {name}{_of_analysis('other', correction)}."


def _of_analysis(kind: Kind, name: str) -> str:
    return _cite(text_of_analysis(kind, name).keys)


def _cite(sources: Sequence[str]) -> str:
    r"""`~\cite{…}` for sources in the bibliography, followed by the other sources, which plugins name in full."""
    known = [source for source in sources if source in bibliography()]
    others = [latex(source) for source in sources if source not in bibliography()]
    return (f"~\\cite{{{','.join(known)}}}" if known else "") + (f" ({'; '.join(others)})" if others else "")


def _intervals(intervals: Iterable[Row]) -> str:
    kinds: dict[float, dict[str, None]] = {}
    for interval in intervals:
        kinds.setdefault(interval["level"], {})[_KINDS[interval["kind"]]] = None
    return join_words(f"{_percent(level)} {join_words(names)} intervals" for level, names in kinds.items())


def _percent(share: float) -> str:
    return f"{100 * share:g}\\,\\%"


def _tasks(rows: Iterable[Row]) -> str:
    return join_names(latex(row["task"]) for row in rows)


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
