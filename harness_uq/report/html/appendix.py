"""Formulas and sources of the methods that a report used."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec

from harness_uq.comparisons import Comparison, Plan, Ranking
from harness_uq.results import Estimate

Kind: TypeAlias = Literal["estimators", "comparisons", "other"]

_FILE = "templates/methods.toml"


@dataclass(frozen=True, slots=True)
class MethodText:
    """One method of the appendix.

    Attributes
    ----------
    name : as in the tables
    title : plain text
    formula, text : HTML of this package; no formula for a method that a plugin brings
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
    estimators: dict[str, _Entry]
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
    used: list[tuple[Kind, str]] = [("estimators", row.method) for row in estimates if row.interval is not None]
    used += [("comparisons", row.method) for row in comparisons if row.difference is not None]
    for ranking in rankings:
        used += [("other", name) for name in ("ranking", ranking.correction) if name]
    used += [("other", "plan") for _ in plans]
    return [_method_text(kind, name) for kind, name in dict.fromkeys(used)]


def _method_text(kind: Kind, name: str) -> MethodText:
    # the difference of two scores may carry the name of the estimator that gave them
    entry = _entries(kind).get(name) or _document().estimators.get(name)
    if entry is None:
        return MethodText(name, name, "", "Brought by a plugin; see its documentation.", ())
    citations = tuple(_document().citations[key] for key in entry.sources)
    return MethodText(name, entry.title, entry.formula, entry.text, citations)


def _entries(kind: Kind) -> dict[str, _Entry]:
    document = _document()
    return {"estimators": document.estimators, "comparisons": document.comparisons, "other": document.other}[kind]


@cache
def _document() -> _Document:
    text = files("harness_uq.report.html").joinpath(_FILE).read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_Document)
