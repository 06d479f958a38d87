"""Links from message codes in the terminal to their sections of the documentation."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING

from harness_uq.messages import MESSAGE_REGISTRY, MessageType

if TYPE_CHECKING:
    from rich.text import Text

# the page has the messages of this package and its adapters, and not those of other plugins
_CODE = re.compile(r"\((?P<code>(?:UQ|LM|IN|FM)\d{3})\)")


@cache
def documentation_url() -> str | None:
    """Address of the documentation in the metadata of the package; None if the metadata has none."""
    try:
        entries = metadata("harness-uq").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    urls = dict(entry.split(", ", 1) for entry in entries)
    return urls["Documentation"].rstrip("/") if "Documentation" in urls else None


def with_links(text: "Text") -> "Text":
    """The text with its message codes as links, which terminals without support print as plain text."""
    for start, end, url in message_links(text.plain):
        text.stylize(f"link {url}", start, end)
    return text


def message_links(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and address of each code such as `(UQ104)` in a text; nothing if the address is unknown."""
    for found in _CODE.finditer(text):
        kind = MESSAGE_REGISTRY.find(found["code"])
        if kind is not None and (url := message_url(kind)) is not None:
            yield found.start("code"), found.end("code"), url


def message_url(kind: MessageType) -> str | None:
    """Address of the section about these messages; None if the address of the documentation is unknown."""
    base = documentation_url()
    return base and f"{base}/reference/messages.html#{kind.code}-{kind.name}".lower()
