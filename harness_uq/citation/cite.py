"""BibTeX entries of the methods behind results, and a paragraph on these methods for a paper."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from harness_uq._version import __version__
from harness_uq.citation.sentences import Row, methods_sentences
from harness_uq.errors import DataError, LogError
from harness_uq.io.paths import read_bytes
from harness_uq.references.bibliography import bibliography
from harness_uq.results._render import document, lists_of
from harness_uq.results.declaration import Declared

Results: TypeAlias = "str | PathLike[str] | Mapping[str, object] | Declared | Sequence[object]"

_REMEDY = "Write one with a command such as harness-uq estimate LOG --output results.json."
_CITED = re.compile(r"\\cite\{([^}]+)\}")
_SOFTWARE = f"""\
@misc{{harness_uq,
  author = {{{{harness\\_uq developers}}}},
  title = {{harness\\_uq: statistically sound uncertainty for {{LLM}} evaluation harnesses}},
  note = {{Version {__version__}}},
}}"""


@dataclass(frozen=True, slots=True)
class Citation:
    r"""How to cite the methods behind results.

    Attributes
    ----------
    paragraph : text for the methods section of a paper, in LaTeX; it cites the sources with `\cite`
    keys : the cited sources, sorted
    bibtex : their BibTeX entries
    """

    paragraph: str
    keys: tuple[str, ...]
    bibtex: str

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
        return document(results.lists)
    return document(lists_of([results] if isinstance(results, Declared) else list(results)))


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
