"""Message codes are links in a terminal if the metadata of the package has an address, and plain text otherwise."""

from email.message import Message as Metadata

import pytest

from harness_uq.output import message_links
from harness_uq.output.terminal import TerminalPage
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "messages.md").read_text()
FEW = "- demo: Only 5 clusters. (UQ104)"


@pytest.fixture
def documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package as if its metadata had an address, with the reserved name `example`."""
    metadata = Metadata()
    metadata["Project-URL"] = "Source, https://source.example"
    metadata["Project-URL"] = "Documentation, https://docs.example/stable/"
    monkeypatch.setattr(message_links, "metadata", lambda _: metadata)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    message_links.documentation_url.cache_clear()
    yield
    message_links.documentation_url.cache_clear()


def page_of(text: str, *, is_terminal: bool) -> str:
    page = TerminalPage(80, is_terminal=is_terminal)
    page.add(text)
    return page.text


@pytest.mark.usefixtures("documented")
def test_a_code_links_to_its_section_of_the_messages_page() -> None:
    ((start, end, url),) = message_links.message_links(FEW)
    assert FEW[start:end] == "UQ104"
    address, anchor = url.split("#")
    assert address == "https://docs.example/stable/reference/messages.html"
    assert f"### UQ104 {anchor.partition('-')[2]}\n" in PAGE
    text = page_of(FEW, is_terminal=True)
    assert "\x1b]8;" in text
    assert url in text


@pytest.mark.usefixtures("documented")
def test_files_and_codes_of_other_packages_have_no_links() -> None:
    assert "\x1b" not in page_of(FEW, is_terminal=False)
    assert list(message_links.message_links("Text. (XY104), (UQ999), UQ104")) == []


def test_without_an_address_a_terminal_shows_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_links, "metadata", lambda _: Metadata())
    message_links.documentation_url.cache_clear()
    assert list(message_links.message_links(FEW)) == []
    assert "\x1b]8;" not in page_of(FEW, is_terminal=True)
    message_links.documentation_url.cache_clear()
