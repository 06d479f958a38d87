"""The format `html`: one self-contained page, for screens of any width, for print, light and dark.

The results make the parts of the page (`ResultSet.page`); this module has the templates, and the views of tables and of
figures that they draw.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.errors import DataError
from harness_uq.output.document import Column, Decimals, Section, cells_of, joined
from harness_uq.output.figures.marks import Mark, Style, legend_level, panels, system_styles
from harness_uq.output.sanitize import html_text
from harness_uq.output.words import commands_as, counted, number

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PLOT_HEIGHT = 240  # in pixels
# path of each of `SYSTEM_MARKERS` around the origin, 9 to 11 pixels wide
SHAPES = (
    "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z",
    "M-4.2 -4.2H4.2V4.2H-4.2Z",
    "M0 -5.8L5.8 0L0 5.8L-5.8 0Z",
    "M0 -5.2L5.4 4.2H-5.4Z",
    "M0 5.2L5.4 -4.2H-5.4Z",
    "M-5 -1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5Z",
)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table: headers, which of them hold numbers, and rows under headings; the first cell of a row is its header."""

    caption: str
    headers: tuple[str, ...]
    is_number: tuple[bool, ...]
    groups: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]


def section_table(section: Section) -> TableView:
    """The visible columns of a section of a document."""
    columns = section.visible_columns()
    return TableView(
        section.title,
        tuple(column.header for column in columns),
        (False, *(column.is_number for column in columns[1:])),  # the first cell of a row is its header
        (("", tuple(zip(*(column.texts for column in columns), strict=True))),),
    )


def grouped_table(
    caption: str,
    columns: Sequence[Column],
    groups: Mapping[str, Sequence[Any]],
    digits: Decimals = 4,
    *,
    has_all: bool = False,
) -> TableView:
    """A table with the rows of each group under its heading, by default without the columns that have no content."""
    sections = {title: Section("", cells_of(columns, rows, digits)) for title, rows in groups.items()}
    whole = Section("", joined(list(sections.values())))
    shown = whole.columns if has_all else whole.visible_columns()
    kept = {column.name for column in shown}
    return TableView(
        caption,
        tuple(column.header for column in shown),
        tuple(column.is_number for column in shown),
        tuple(
            (title, tuple(zip(*(one.texts for one in section.columns if one.name in kept), strict=True)))
            for title, section in sections.items()
        ),
    )


def forest_view(marks: Sequence[Mark], systems: Sequence[str] = ()) -> dict[str, object] | None:
    """Panels of intervals, one an axis, and their legend; None if there is nothing to draw.

    Each of the `systems` has a colour and a marker of its own.
    """
    if not marks:
        return None
    margin, styles = max(mark.margin for mark in marks), system_styles(systems)
    return {
        "panels": panels(marks),
        "styles": styles,
        "alone": Style(0, 0),
        "dot": "score" if marks[0].zero is None else "difference",
        "line": legend_level(marks),
        "has_reference": any(mark.reference is not None for mark in marks),
        "margin": f"within the margin of ±{margin:g}" if margin else "",
        "systems": systems if len(systems) > 1 else (),
    }


def mark_numbers(mark: Mark) -> str:
    """The value of a mark and its interval."""
    limits = f"[{number(mark.span[0])}, {number(mark.span[1])}]" if mark.span else "not estimable"
    return f"{number(mark.value)} {limits}"


def mark_description(mark: Mark) -> str:
    """The drawing of a mark in words, for those who do not see it."""
    description = f"{mark.label}{f' on {mark.group}' if mark.group else ''}: {number(mark.value)}"
    description += f", interval from {number(mark.span[0])} to {number(mark.span[1])}" if mark.span else ", no interval"
    if mark.reference:
        description += f"; harness: from {number(mark.reference[0])} to {number(mark.reference[1])}"
    return description


def places(low: float, high: float, height: int) -> Callable[[float], float]:
    """A function that gives the vertical place of a value in pixels, from `low` at the bottom to `high` at the top."""
    return lambda value: round(height * (1 - (value - low) / max(high - low, 1e-9)), 1)


def render(results: ResultSet, options: RenderOptions) -> str:
    """The page of these results; all texts are escaped, and its content security policy forbids scripts and requests.
    Raises DataError if the results make no page.
    """
    if results.page is None:
        raise DataError("These results have no page.")
    return html_text(_environment().get_template("report.html").render(results.page(results, options)))


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness_uq.output"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "unbroken": _unbroken, "breakable": _breakable}
    # a lone hyphen stands for a missing value, any other one is a minus sign
    environment.filters["typeset"] = lambda text: "–" if text == "-" else text.replace("-", "−")
    environment.filters |= {"counted": counted, "prose": _prose, "shape": lambda style: SHAPES[style.marker]}
    environment.filters |= {"numbers": mark_numbers, "description": mark_description}
    return environment


def _unbroken(header: str) -> str:
    """A header that does not break after a sign."""
    for phrase in ("± ", " interval", "A > B"):
        header = header.replace(phrase, phrase.replace(" ", "\u00a0"))
    return header


def _prose(text: str) -> "Markup":
    """Escaped sentences, with commands as code."""
    from markupsafe import Markup, escape

    return Markup(commands_as(str(escape(text)), "<code>", "</code>"))  # noqa: S704, the text has been escaped


def _breakable(name: str) -> "Markup":
    """An escaped name that may break after underscores and slashes."""
    from markupsafe import Markup, escape

    return escape(name).replace("_", Markup("_<wbr>")).replace("/", Markup("/<wbr>"))
