"""Formulas and sources of the methods that a report used."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec

from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.method_info import MethodInfo
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking

Kind: TypeAlias = Literal["comparisons", "other"]

_FILE = "templates/methods.toml"


@dataclass(frozen=True, slots=True)
class MethodText:
    """One method of the appendix.

    Attributes
    ----------
    name : as in the tables
    title : plain text
    formula, text : HTML
    sources : full references, plain text
    """

    name: str
    title: str
    formula: str
    text: str
    sources: tuple[str, ...]


class _Entry(msgspec.Struct, frozen=True):
    title: str
    formula: str
    text: str
    sources: tuple[str, ...]


class _Document(msgspec.Struct, frozen=True):
    comparisons: dict[str, _Entry]
    other: dict[str, _Entry]
    citations: dict[str, str]


def methods_used(
    estimates: Iterable[Estimate],
    comparisons: Iterable[Comparison] = (),
    rankings: Iterable[Ranking] = (),
    plans: Iterable[Plan] = (),
) -> list[MethodText]:
    """The text of every method behind these results, each once, in the order of first use."""
    methods = {row.method: _of_estimator(row.method, row.info) for row in estimates if row.interval is not None}
    used: list[tuple[Kind, str]] = []
    for row in comparisons:
        if row.info is not None:
            methods[row.method] = _of_estimator(row.method, row.info)
        elif row.difference is not None:
            used.append(("comparisons", row.method))
    for ranking in rankings:
        used += [("other", name) for name in ("ranking", "rank-sets", ranking.correction) if name]
    used += [("other", "plan") for _ in plans]
    return [*methods.values(), *(_of_document(kind, name) for kind, name in dict.fromkeys(used))]


def _of_estimator(name: str, info: MethodInfo | None) -> MethodText:
    if info is None:
        return MethodText(name, name, "", "This method is part of a plugin; see its documentation.", ())
    citations = tuple(_document().citations.get(source, source) for source in info.sources)
    # the only markup is subscripts and superscripts
    formula, text = (
        re.sub(r"&lt;(/?su[bp])&gt;", r"<\1>", escape(part, quote=False)) for part in (info.formula, info.text)
    )
    return MethodText(name, info.title, formula, text, citations)


def _of_document(kind: Kind, name: str) -> MethodText:
    document = _document()
    entry = (document.comparisons if kind == "comparisons" else document.other).get(name)
    if entry is None:
        return _of_estimator(name, None)
    return MethodText(name, entry.title, entry.formula, entry.text, tuple(document.citations[k] for k in entry.sources))


@cache
def _document() -> _Document:
    text = files("harness_uq.output.html").joinpath(_FILE).read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_Document)
