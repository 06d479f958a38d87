"""The documentation lists what there is: every method, every page, every field; and its links lead somewhere."""

import itertools
import re
from pathlib import Path

import pytest

from harness_uq.analyses.estimate import estimate_scores
from harness_uq.inference.defaults import method_names
from harness_uq.inference.load_plugins import load_plugins
from tests.conftest import ROOT

DOCS = ROOT / "docs"
WHICH_METHOD = (DOCS / "concepts" / "methods.md").read_text()
PAGES = sorted(DOCS.rglob("*.md"))
SECTIONS = ("docs", "get-started", "howto", "concepts", "reference")


OPENINGS = [
    page
    for page in PAGES
    if page.parent.name in ("get-started", "howto", "concepts", "reference", "methods")
    or page.name in ("architecture.md", "faults.md", "threat-model.md", "peers.md")
    if page.name not in ("index.md", "gallery.md")  # which show pages and figures
]


@pytest.mark.parametrize("page", OPENINGS, ids=lambda page: page.stem)
def test_a_page_opens_with_its_purpose_and_an_example(page: Path) -> None:
    opening = "\n## ".join(page.read_text().split("\n## ")[:2])
    assert re.match(r"# .+\n\n[\w`\[]", opening)
    assert re.search(r"^```(?!{)|^>>> |^    \S", opening, re.MULTILINE)


def test_every_page_is_in_a_list_of_the_site() -> None:
    loose = [page for page in PAGES if page.parent.name in SECTIONS and page.resolve() not in _listed()]
    assert loose == [], "name it in the index.md of its folder, or in docs/project.md"


def _listed() -> set[Path]:
    """Pages that a list names, and the page of the whole site."""
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(r"```{toctree}\n(.*?)```", page.read_text(), re.DOTALL):
            listed |= {(page.parent / f"{line.strip()}.md").resolve() for line in block.splitlines()}
    return listed


METHODS = sorted(set(method_names(load_plugins().estimators)) - {"bayes"})
DEFAULTS = [name for name in METHODS if f'"{name}"' in (ROOT / "harness_uq/inference/defaults.py").read_text()]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_page(name: str) -> None:
    assert [page for page in (DOCS / "methods").glob("*.md") if f"`{name}`" in page.read_text()]


def test_the_list_of_methods_leads_to_the_page_that_names_each() -> None:
    rows = [line for line in WHICH_METHOD.splitlines() if line.startswith("|") and "](../methods/" in line]
    named = [(name, row) for row in rows for name in re.findall(r"`([a-z-]+)`", row) if name in METHODS]
    assert len(named) > 20
    for name, row in named:
        assert any(
            f"`{name}`" in (DOCS / page).read_text() for page in re.findall(r"\]\(\.\./(methods/[a-z-]+\.md)\)", row)
        )


@pytest.mark.parametrize("page", sorted((DOCS / "decisions").glob("*.md")), ids=lambda page: page.stem)
def test_every_decision_has_a_number_of_its_own_and_a_status(page: Path) -> None:
    head = re.match(r"# (\d{3})[.:] .+\n\n\*\*Status[.:]\*\* (Accepted|Superseded)", page.read_text())
    assert head, "the page must begin with its number, its title and its status"
    number, status = head.groups()
    assert [other.name for other in page.parent.glob(f"{number}-*.md")] == [page.name]
    assert status == "Accepted" or re.search(r"\]\(\d{3}-[a-z-]+\.md\)", page.read_text())


@pytest.mark.parametrize("page", sorted((DOCS / "methods").glob("*.md")), ids=lambda page: page.stem)
def test_every_method_page_says_when_it_fails_and_has_an_example_that_runs(page: Path) -> None:
    text = page.read_text()
    assert "fails" in text
    assert ">>> " in text
    assert re.search(r"\b(19|20)\d\d\b", text), "no source"


def test_no_paragraph_continues_as_a_list() -> None:
    """A line of a paragraph that happens to start with a minus sign, a plus sign or "1." is rendered as a list."""
    starts = [
        (page.name, line)
        for page in PAGES
        for before, line in itertools.pairwise(_lines_of_text(page))
        if re.match(r"([-+*]|1\.) ", line) and re.match(r"[^\s|#<>*+-]", before) and not re.match(r"\d+\. ", before)
    ]
    assert starts == []


def _lines_of_text(page: Path) -> list[str]:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL).splitlines()


def test_links_lead_to_files() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())]
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_every_field_of_the_json_is_documented() -> None:
    text = (DOCS / "reference" / "json.md").read_text()
    missing = [name for name in estimate_scores([1, 0, 1]).to_dict() if f"`{name}`" not in text]
    assert missing == []


@pytest.mark.parametrize("page", sorted((DOCS / "methods").glob("*.md")), ids=lambda page: page.stem)
def test_a_method_page_links_its_code_and_the_decision_on_a_default_which_links_back(page: Path) -> None:
    text = page.read_text()
    head = text.partition("\n## ")[0]
    assert "](../../harness_uq/stats/" in head
    decisions = re.findall(r"\]\((\.\./decisions/[^)]+)\)", head)
    assert decisions or not [name for name in DEFAULTS if f"`{name}`" in text]
    for decision in decisions:
        assert f"../methods/{page.name}" in (page.parent / decision).read_text()
