"""The built site, at HARNESS_UQ_SITE: links lead somewhere, every public name has its place, no server is needed."""

import os
import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

from harness_uq.commands.parser import COMMANDS

SITE = Path(os.environ["HARNESS_UQ_SITE"])
PACKAGES = ("harness_uq", "harness_uq.stats", "harness_uq.plots")
WIDE = (
    "index",
    "calibration",
    "changelog",
    "concepts/methods",
    "reference/json",
    "howto/gallery",
    "notebooks/logs",
)
REFERENCE = ("reference/made/harness_uq-results", "reference/made/harness_uq.stats-clusters")
ONE_OF_EACH = (
    "index",
    "get-started/index",
    "howto/compare",
    "concepts/intervals",
    "reference/made/commands",
    "methods/clustered-score",
)
TUTORIALS = ("get-started/two-models", "get-started/epochs", "get-started/gate")


class Page(HTMLParser):
    """Where a page's links lead, and the places that others can link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places.update(filter(None, (found.get("id"), found.get("name"))))
        self.targets += filter(None, (found.get("href"), found.get("src")))


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {
        path.relative_to(SITE).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(SITE.rglob("*.html"))
        if "_static" not in path.parts
    }


def dead_links(pages: dict[str, Page]) -> Iterator[str]:
    for name, page in pages.items():
        for target in page.targets:
            scheme, host, path, _, fragment = urlsplit(target)
            if scheme or host:
                continue
            file = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path))) if path else name
            if not (SITE / file).is_file():
                yield f"{name}: {target}: no such file"
            elif file in pages and unquote(fragment) not in pages[file].places:
                yield f"{name}: {target}: no such place on the page"


def test_every_internal_link_leads_to_a_file_and_a_place_on_it(pages: dict[str, Page]) -> None:
    assert len(pages) > 100
    assert sorted(set(dead_links(pages))) == []


def test_pages_load_nothing_from_elsewhere() -> None:
    for path in sorted(SITE.rglob("*.html")):
        loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?//[^"]+', path.read_text())
        assert loaded == [], path


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_stands_in_the_reference(pages: dict[str, Page], package: str) -> None:
    places = set().union(*(page.places for name, page in pages.items() if name.startswith("reference/")))
    public = set(import_module(package).__all__) - {
        "plots",
        "stats",
        "__version__",
    }  # packages with pages of their own; a string
    assert sorted(name for name in public if f"{package}.{name}" not in places) == []


def test_every_command_stands_in_the_reference(pages: dict[str, Page]) -> None:
    places = pages["reference/made/commands.html"].places
    assert [name for name in COMMANDS if f"harness-uq-{name}" not in places] == []


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", [*WIDE, *REFERENCE, *TUTORIALS, *ONE_OF_EACH[1:]])
def test_a_page_is_as_wide_as_its_window(browser, name: str, width: int) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto((SITE / f"{name}.html").as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    beyond = tab.evaluate(BEYOND)
    tab.close()
    assert beyond == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_axe_finds_nothing_serious(browser, name: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab = browser.new_page(color_scheme=theme)
    tab.goto((SITE / f"{name}.html").as_uri())
    violations = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    tab.close()
    serious = [
        (one["id"], one["nodes"][0]["html"][:160]) for one in violations if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


# what reaches beyond the article's right edge and does not stand in a box that scrolls
BEYOND = """() => {
  const article = document.querySelector("article").getBoundingClientRect();
  const kept = ["auto", "scroll", "hidden"];
  const scrolls = e => e && (kept.includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.querySelectorAll("article *")]
    .filter(e => e.getBoundingClientRect().right > Math.min(innerWidth, article.right + 24) + 1 && !scrolls(e))
    .map(e => e.outerHTML.slice(0, 120));
}"""


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("clustered_score_posterior", "stats-clusters"),
        ("Deff", "glossary"),
        ("confidence interval", "concepts/intervals"),
        ("stderr", "glossary"),
        ("pass@k", "pass-k"),
        ("cost", "howto/cost"),
        ("non-inferiority", "glossary"),
        ("flaky", "glossary"),
        ("few-clusters", "messages"),
    ],
)
def test_search_works_without_a_server(browser, word: str, page: str) -> None:
    tab = browser.new_page()
    tab.goto((SITE / "search.html").as_uri() + f"?q={quote(word)}")
    tab.get_by_text("Search finished").wait_for(timeout=120_000)  # results are added one after the other
    found = tab.locator("#search-results li a").evaluate_all("links => links.map(link => link.href)")
    tab.close()
    assert any(page in link for link in found), found
