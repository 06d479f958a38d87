"""Formulas and published sources of the methods, for `cite`, the HTML report and the documentation."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec

from harness_uq.data.estimands import MethodInfo
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking

Kind: TypeAlias = Literal["comparisons", "other"]

_ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)\n\}$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
_PLAIN = (("``", "“"), ("''", "”"), ("'", "’"), ("--", "–"), (r"\&", "&"), ("{", ""), ("}", ""))


@dataclass(frozen=True, slots=True)
class MethodText:
    """One method of the appendix.

    `sources`: full references, plain text. `keys`: the sources as `MethodInfo` names them: keys of the bibliography, or
    full references of plugins.
    """

    name: str
    title: str
    formula: str
    text: str
    sources: tuple[str, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """One published source.

    `key`: first author and year, such as `wilson1927`. `fields`: the fields of the entry by name, in BibTeX.
    """

    key: str
    bibtex: str
    fields: Mapping[str, str]

    @property
    def text(self) -> str:
        """The reference as plain text, such as “Wilson, E. B. (1927). Probable inference. JASA 22, 209–212.”."""
        place = " ".join(self.fields.get(name, "") for name in ("journal", "booktitle", "publisher", "volume")).split()
        pages = f", {self.fields['pages']}" if "pages" in self.fields else ""
        preprint = f"arXiv:{self.fields['eprint']}" if "eprint" in self.fields else ""
        parts = (
            f"{self._authors()} ({self.fields['year']})",
            self.fields["title"],
            " ".join(place) + pages or preprint,
        )
        text = ". ".join(parts) + "."
        for latex, plain in _PLAIN:
            text = text.replace(latex, plain)
        return text

    def _authors(self) -> str:
        *others, last = map(_with_initials, self.fields["author"].split(" and "))
        if last == "others":
            return f"{', '.join(others)} et al."
        return f"{', '.join(others)} & {last}" if others else last


@cache
def bibliography() -> Mapping[str, Reference]:
    """Every source by its key."""
    text = files("harness_uq.results").joinpath("references.bib").read_text(encoding="utf-8")
    return {
        entry[1]: Reference(entry[1], entry[0], dict(_FIELD.findall(f"{entry[2]}\n")))
        for entry in _ENTRY.finditer(text)
    }


def _with_initials(name: str) -> str:
    """`Wilson, Edwin B.` as `Wilson, E. B.`; a part with a hyphen keeps it: `Huey-Miin` becomes `H.-M.`."""
    surname, comma, given = name.partition(", ")
    initials = " ".join("-".join(f"{part[0]}." for part in word.split("-")) for word in given.split())
    return f"{surname}{comma}{initials}"


class _Entry(msgspec.Struct, frozen=True):
    title: str
    formula: str
    text: str
    sources: tuple[str, ...]


class _Document(msgspec.Struct, frozen=True):
    comparisons: dict[str, _Entry]
    other: dict[str, _Entry]


def methods_used(
    estimates: Iterable[Estimate],
    comparisons: Iterable[Comparison] = (),
    rankings: Iterable[Ranking] = (),
    plans: Iterable[Plan] = (),
) -> list[MethodText]:
    """The text of every method behind these results, each once, in the order of first use."""
    methods = {row.method: text_of_estimator(row.method, row.info) for row in estimates if row.interval is not None}
    used: list[tuple[Kind, str]] = []
    for row in comparisons:
        if row.info is not None:
            methods[row.method] = text_of_estimator(row.method, row.info)
        elif row.difference is not None:
            used.append(("comparisons", row.method))
    for ranking in rankings:
        used += [("other", name) for name in ("ranking", "rank-sets", ranking.correction) if name]
    used += [("other", "plan") for _ in plans]
    return [*methods.values(), *(text_of_analysis(kind, name) for kind, name in dict.fromkeys(used))]


def text_of_estimator(name: str, info: MethodInfo | None) -> MethodText:
    """The text of a method for scores."""
    if info is None:
        return MethodText(name, name, "", "This method is part of a plugin; see its documentation.", ())
    # the only markup is subscripts and superscripts
    formula, text = (
        re.sub(r"&lt;(/?su[bp])&gt;", r"<\1>", escape(part, quote=False)) for part in (info.formula, info.text)
    )
    return MethodText(name, info.title, formula, text, _full(info.sources), info.sources)


def text_of_analysis(kind: Kind, name: str) -> MethodText:
    """The text of a method for comparisons, or of what is common to rankings and plans."""
    document = _document()
    entry = (document.comparisons if kind == "comparisons" else document.other).get(name)
    if entry is None:
        return text_of_estimator(name, None)
    return MethodText(name, entry.title, entry.formula, entry.text, _full(entry.sources), entry.sources)


def _full(sources: tuple[str, ...]) -> tuple[str, ...]:
    known = bibliography()
    return tuple(known[source].text if source in known else source for source in sources)


@cache
def _document() -> _Document:
    text = files("harness_uq.results").joinpath("methods.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_Document)
