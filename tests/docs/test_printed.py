"""Every command that a page shows prints what the page says."""

from pathlib import Path

import pytest

from tests.docs import printed

# tests/docs/test_readme.py compares the first page of the site with the README, block by block
FIRST_PAGE = printed.ROOT / "docs" / "index.md"
SHOWN = [(page, one) for page in printed.pages() if page != FIRST_PAGE for one in printed.shown_on(page)]
_shells: dict[Path, printed.Shell] = {}


def test_pages_show_commands() -> None:
    names = {page.name for page, _ in SHOWN}
    assert {"README.md", "two-models.md", "epochs.md", "lm-eval.md"} <= names


def test_every_answer_to_a_thread_shows_a_command() -> None:
    text = (printed.ROOT / "docs" / "upstream" / "lm-eval.md").read_text(encoding="utf-8")
    assert text.count("$ harness-uq") >= text.count("## #") == 5


@pytest.mark.harness
@pytest.mark.parametrize(("page", "one"), SHOWN, ids=[one.is_as for _, one in SHOWN])
def test_a_page_shows_what_is_printed(
    page: Path, one: printed.Shown, ready: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = _shells.setdefault(page, printed.Shell(page, ready))
    monkeypatch.setenv("COLUMNS", "100")
    found = shell.run(one.command)
    assert printed.is_true(one.output, found), "\n".join(["run: python -m tests.docs.printed", *found])
