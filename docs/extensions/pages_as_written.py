"""Prepare pages that are written as plain Markdown for the site.

Examples with the Python prompt, which are not fenced so that doctest finds them, become code blocks. Links to modules
with public names lead to their highlighted source, and links to other files of the repository to the page that shows
them.
"""

import posixpath
import re
from pathlib import Path

from reference_pages import modules
from sphinx.application import Sphinx

# files of the repository, and the page that takes each one's text
SHOWN = {
    "README.md": "index",  # which says the same in its own words
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "examples/README.md": "examples",
    "examples/plugin/README.md": "example-plugin",
    "examples/audit/README.md": "example-audit",
}
_PAGES = {page: file for file, page in SHOWN.items() if page != "index"}
_FENCE_OR_EXAMPLE = re.compile(r"^```[\s\S]*?^```$|^>>> .*(?:\n.+)*", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)([^)\s]*)\)")
_MODULE = re.compile(r"(?:adapters/)?(harness_uq\w*/[\w/]+)\.py")


def as_page(docname: str, text: str, folder: str) -> str:
    """The Markdown that Sphinx reads, of Markdown that was written for a file in `folder` of the repository.

    >>> text = "[a](../../harness_uq/messages/errors.py), [b](../../harness_uq/commands/main.py)"
    >>> as_page("methods/x", text, "docs/methods")
    '<a href="../_modules/harness_uq/messages/errors.html">a</a>, `b`'
    >>> print(as_page("contributing", "See [here](docs/reference/json.md#fields).", ""))
    See [here](reference/json.md#fields).
    >>> as_page("x", ">>> 1 + 1\\n2", "docs")
    '```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    here = posixpath.join("docs", posixpath.dirname(docname))

    def link(found: re.Match[str]) -> str:
        picture, label, target, fragment = found.groups()
        file = posixpath.normpath(posixpath.join(folder, target))
        if module := _MODULE.fullmatch(file):
            if module[1].replace("/", ".") not in modules():
                return f"`{label}`"
            page = posixpath.relpath(f"docs/_modules/{module[1]}.html", here)
            return f'<a href="{page}">{label}</a>'
        shown = SHOWN.get(file) or SHOWN.get(f"{file}/README.md")
        page = posixpath.relpath(f"docs/{shown}.md" if shown else file, here)
        return f"{picture}[{label}]({page}{fragment})"

    return _LINK.sub(link, _FENCE_OR_EXAMPLE.sub(_fenced, text))


def _fenced(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("```") else f"```pycon\n{found[0]}\n```"


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    if app.env.doc2path(docname).suffix != ".md":
        return
    file = _PAGES.get(docname)
    if file:
        path = Path(app.srcdir).parent / file
        app.env.note_dependency(path)
        source[0] = path.read_text(encoding="utf-8")
    source[0] = as_page(docname, source[0], posixpath.dirname(file or f"docs/{docname}"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
