"""Docstrings as this project writes them, made ready for Sphinx.

An entry of a section is `names : text`, where the text says type, shape, unit and range and may go on in indented
lines; Sphinx's own reader of numpy's style would take the first line for the type and the rest for the description.
"""

import dataclasses
import inspect
from collections.abc import Iterator
from itertools import pairwise

from sphinx.application import Sphinx

_LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises")
_PLAIN = (type(None), bool, int, float, str)


def as_restructured(lines: list[str]) -> list[str]:
    """The docstring with its sections as fields and rubrics.

    >>> written = ["Mean.", "", "Returns", "-------", "x, y : (n,) floats;", "    of one", "", "Eq. 1"]
    >>> print(*as_restructured(written), sep="\\n")
    Mean.
    <BLANKLINE>
    :Returns:
        * **x, y** : (n,) floats; of one
    <BLANKLINE>
    Eq. 1
    >>> print(*as_restructured(["P(|x| > 1)"]))
    P(\\|x\\| > 1)
    """
    made: list[str] = []
    for title, body in _sections([_without_substitutions(line) for line in lines]):
        if title in _LISTS:
            entries, rest = _entries(body)
            made += [f":{title}:", *(f"    {_item(entry)}" for entry in entries), "", *rest]
        elif title:
            made += [f".. rubric:: {title}", "", *body]
        else:
            made += body
    return made


def _without_substitutions(line: str) -> str:
    """Bars are absolute values and conditions, never restructured text's substitutions."""
    return line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|")


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of each section; the first has no title."""
    starts = [i for i, (line, below) in enumerate(pairwise(lines)) if line and below == "-" * len(line)]
    yield "", lines[: starts[0] if starts else len(lines)]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start], lines[start + 2 : end]


def _entries(body: list[str]) -> tuple[list[str], list[str]]:
    """The section's entries, each in one line, and the text that follows them without a title of its own."""
    entries: list[str] = []
    for i, line in enumerate(body):
        if line.startswith(" ") and entries:
            entries[-1] += f" {line.strip()}"
        elif line and entries and not body[i - 1] and " : " not in line:
            return entries, body[i:]
        elif line:
            entries.append(line)
    return entries, []


def _item(entry: str) -> str:
    names, colon, text = entry.partition(" : ")
    return f"* **{names}** : {text}" if colon else f"* {entry}"


def signature(thing: object) -> str:
    """Arguments of a class, with a default that is no plain value written as an ellipsis."""
    found = inspect.signature(thing)  # type: ignore[arg-type]
    shown = [
        parameter.replace(
            annotation=parameter.empty,
            default=parameter.default if parameter.default is parameter.empty else _Shown(parameter.default),
        )
        for parameter in found.parameters.values()
    ]
    return str(found.replace(parameters=shown, return_annotation=found.empty))


class _Shown:
    """A default as it is written."""

    def __init__(self, value: object) -> None:
        self.text = repr(value) if isinstance(value, _PLAIN) or value == () else "..."

    def __repr__(self) -> str:
        return self.text


def _docstring(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    lines[:] = as_restructured(lines)


def _signature(app: Sphinx, what: str, name: str, thing: object, *_: object) -> tuple[str, None] | None:
    return (signature(thing), None) if what == "class" and dataclasses.is_dataclass(thing) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
