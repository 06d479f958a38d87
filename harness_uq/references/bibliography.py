"""The sources of the methods, read from `references.bib`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)\n\}$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
_PLAIN = (("``", "“"), ("''", "”"), ("'", "’"), ("--", "–"), (r"\&", "&"), ("{", ""), ("}", ""))


@dataclass(frozen=True, slots=True)
class Reference:
    """One published source.

    Attributes
    ----------
    key : first author and year, such as `wilson1927`
    bibtex : the entry in BibTeX
    fields : the fields of the entry by name, in BibTeX
    """

    key: str
    bibtex: str
    fields: Mapping[str, str]

    @property
    def text(self) -> str:
        """The reference as plain text, such as “Wilson, E. B. (1927). Probable inference. JASA 22, 209–212.”."""
        place = " ".join(self.fields.get(name, "") for name in ("journal", "booktitle", "publisher", "volume")).split()
        pages = f", {self.fields['pages']}" if "pages" in self.fields else ""
        preprint = f"arXiv:{self.fields['eprint']}" if "eprint" in self.fields else ""
        parts = (
            f"{self._authors()} ({self.fields['year']})",
            self.fields["title"],
            " ".join(place) + pages or preprint,
        )
        text = ". ".join(parts) + "."
        for latex, plain in _PLAIN:
            text = text.replace(latex, plain)
        return text

    def _authors(self) -> str:
        *others, last = map(_with_initials, self.fields["author"].split(" and "))
        if last == "others":
            return f"{', '.join(others)} et al."
        return f"{', '.join(others)} & {last}" if others else last


@cache
def bibliography() -> Mapping[str, Reference]:
    """Every source by its key."""
    text = files("harness_uq.references").joinpath("references.bib").read_text(encoding="utf-8")
    return {
        entry[1]: Reference(entry[1], entry[0], dict(_FIELD.findall(f"{entry[2]}\n")))
        for entry in _ENTRY.finditer(text)
    }


def _with_initials(name: str) -> str:
    """`Wilson, Edwin B.` as `Wilson, E. B.`; a part with a hyphen keeps it: `Huey-Miin` becomes `H.-M.`."""
    surname, comma, given = name.partition(", ")
    initials = " ".join("-".join(f"{part[0]}." for part in word.split("-")) for word in given.split())
    return f"{surname}{comma}{initials}"
