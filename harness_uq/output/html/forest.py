"""Forest plots for the HTML report: places in percent, texts, and a description of each drawing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness_uq.output.columns import format_number
from harness_uq.plots.figure_rows import ForestRow, Panel, legend_level, panels, tick_text
from harness_uq.plots.palette import Mark, system_marks

# path of each of `SYSTEM_MARKERS` around the origin, 9 to 11 pixels wide
SHAPES = (
    "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z",
    "M-4.2 -4.2H4.2V4.2H-4.2Z",
    "M0 -5.8L5.8 0L0 5.8L-5.8 0Z",
    "M0 -5.2L5.4 4.2H-5.4Z",
    "M0 5.2L5.4 -4.2H-5.4Z",
    "M-5 -1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5Z",
)
_ALONE = Mark(0, 0)


@dataclass(frozen=True, slots=True)
class Track:
    """The drawing of one interval; places are percentages along the axis.

    Attributes
    ----------
    dot, left, right : None if there is none
    reference : limits of the harness's interval; None if it reports none
    colour, shape : number of the colour of its system, and path of its marker
    description : the drawing in words, for those who do not see it
    """

    dot: float | None
    left: float | None
    right: float | None
    reference: tuple[float, float] | None
    colour: int
    shape: str
    description: str


@dataclass(frozen=True, slots=True)
class ForestLine:
    """A row: its label, its numbers as text and its drawing."""

    label: str
    numbers: str
    track: Track


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis: place in percent, text, and which end of the text stands at the place."""

    place: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ForestView:
    """Rows on one axis, under headings; `zero` and `margin` (left and right end) of differences in percent."""

    scale: str
    groups: tuple[tuple[str, tuple[ForestLine, ...]], ...]
    ticks: tuple[Tick, ...]
    zero: float | None
    margin: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Legend:
    """What the marks of a forest plot mean; `systems` are colour, path of the marker, and name."""

    dot: str
    line: str
    has_reference: bool
    margin: str
    systems: tuple[tuple[int, str, str], ...]


def forest_views(rows: Sequence[ForestRow], systems: Sequence[str] = ()) -> tuple[list[ForestView], Legend | None]:
    """Forest plots, one an axis, and their legend; None if there is nothing to draw.

    Each of the `systems` has a mark of its own.
    """
    if not rows:
        return [], None
    margin = max(row.margin for row in rows)
    marks = system_marks(systems)
    legend = Legend(
        "score" if rows[0].zero is None else "difference",
        legend_level(rows),
        any(row.reference is not None for row in rows),
        f"within the margin of ±{margin:g}" if margin else "",
        tuple((marks[system].colour, SHAPES[marks[system].marker], system) for system in systems)
        if len(systems) > 1
        else (),
    )
    return [_forest_view(panel, marks) for panel in panels(rows)], legend


def _forest_view(panel: Panel, marks: Mapping[str, Mark]) -> ForestView:
    def place(value: float) -> float:
        return round(100 * panel.share(value), 2)

    groups = tuple(
        (name, tuple(_forest_line(row, place, marks.get(row.system, _ALONE)) for row in rows))
        for name, rows in panel.groups
    )
    ticks = tuple(
        Tick(x, tick_text(t, panel.ticks), "start" if x < 4 else "end" if x > 96 else "middle")
        for t, x in zip(panel.ticks, map(place, panel.ticks), strict=True)
    )
    margin = max(row.margin for row in panel.rows)
    return ForestView(
        panel.scale,
        groups,
        ticks,
        None if panel.rows[0].zero is None else place(0.0),
        (place(-margin), place(margin)) if margin else None,
    )


def _forest_line(row: ForestRow, place: Callable[[float], float], mark: Mark) -> ForestLine:
    numbers = f"{format_number(row.value)} " + (
        f"[{format_number(row.span[0])}, {format_number(row.span[1])}]" if row.span else "not estimable"
    )
    description = f"{row.label}{f' on {row.group}' if row.group else ''}: {format_number(row.value)}"
    description += (
        f", interval from {format_number(row.span[0])} to {format_number(row.span[1])}" if row.span else ", no interval"
    )
    if row.reference:
        description += f"; harness: from {format_number(row.reference[0])} to {format_number(row.reference[1])}"
    track = Track(
        None if row.value is None else place(row.value),
        place(row.span[0]) if row.span else None,
        place(row.span[1]) if row.span else None,
        (place(row.reference[0]), place(row.reference[1])) if row.reference else None,
        mark.colour,
        SHAPES[mark.marker],
        description,
    )
    return ForestLine(row.label, numbers, track)
