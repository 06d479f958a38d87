"""The directive `bibtex`, which shows the BibTeX entries of sources by their keys in `references.bib`."""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from harness_uq.results.method_texts import bibliography


class BibTeX(Directive):
    """The entries of the keys in the body, which the reader unfolds."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A block of code within an element that unfolds."""
        keys = " ".join(self.content).split()
        unknown = [key for key in keys if key not in bibliography()]
        if unknown:
            raise self.error(f"not in references.bib: {', '.join(unknown)}")
        text = "\n\n".join(bibliography()[key].bibtex for key in keys)
        return [
            nodes.raw("", "<details><summary>BibTeX</summary>", format="html"),
            nodes.literal_block(text, text, language="bibtex"),
            nodes.raw("", "</details>", format="html"),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("bibtex", BibTeX)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
