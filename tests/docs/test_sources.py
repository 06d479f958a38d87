"""Sources live in one file: the pages of methods show BibTeX entries from it, and cite what the methods cite."""

import re
from pathlib import Path

import pytest
from bibtex import BibTeX
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import directives

from harness_uq.analyses import cite as sentences
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.results import method_texts as methods_appendix
from harness_uq.results.method_texts import bibliography
from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
_BLOCK = re.compile(r"^## BibTeX\n```{bibtex}\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def keys_of(page: Path) -> list[str]:
    """The keys of the page's one block."""
    (block,) = _BLOCK.findall(page.read_text())
    return str(block).split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_method_page_shows_the_bibtex_of_the_sources_that_it_names(page: Path) -> None:
    keys = keys_of(page)
    assert keys == sorted(set(keys))
    assert set(keys) <= bibliography().keys()
    text = page.read_text().replace("\n", " ").replace("et al.", "et al")
    named = {
        key
        for key, source in bibliography().items()
        if re.search(
            rf"{re.split(', | and ', source.fields['author'])[0]}[^.;()]{{0,70}}\(?{source.fields['year']}", text
        )
    }
    assert named <= set(keys)


@pytest.mark.parametrize("name", sorted(load_plugins().estimators))
def test_the_sources_of_a_method_are_on_a_page_that_describes_it(name: str) -> None:
    sources = set(load_plugins().estimators[name].info.sources)
    shown = {key for page in PAGES if f"`{name}`" in page.read_text() for key in keys_of(page)}
    assert sources <= shown


def test_every_source_is_cited_by_a_page_or_by_a_methods_paragraph() -> None:
    document = methods_appendix._document()
    cited = {key for page in PAGES for key in keys_of(page)}
    cited |= {key for entry in (*document.comparisons.values(), *document.other.values()) for key in entry.sources}
    for constant in ("_EFFECTS", "_HISTORY", "_AGREEMENT", "_POOLING"):
        cited |= set(getattr(sentences, constant))
    assert bibliography().keys() == cited


def test_the_directive_shows_the_entries_and_refuses_unknown_keys() -> None:
    directives.register_directive("bibtex", BibTeX)
    tree = publish_doctree(".. bibtex::\n\n   wilson1927\n")
    (block,) = tree.findall(nodes.literal_block)
    assert block.astext() == bibliography()["wilson1927"].bibtex
    wrong = publish_doctree(".. bibtex::\n\n   nobody1900\n", settings_overrides={"report_level": 5})
    assert "nobody1900" in wrong.astext()
