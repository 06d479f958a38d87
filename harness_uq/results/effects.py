"""Variance components of the scores of one model: classes, columns and figure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from harness_uq.messages import Message
from harness_uq.output.declared import Result
from harness_uq.output.document import Column, Kind, Section, table
from harness_uq.output.figures import axes as draw
from harness_uq.output.figures.axes import one_result
from harness_uq.output.short_names import shorten
from harness_uq.output.words import counted, difference_number, integer, interval, metric_name, number, percent
from harness_uq.results.estimate import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUNDING = 1e-6  # of the largest standard deviation; smaller ones are rounding errors


@dataclass(frozen=True, slots=True)
class Component:
    """Contribution of one source of variation to the variance of a single score.

    `name`: a factor, an interaction such as `question × seed`, or `residual`. `n_levels`: number of observed levels; of
    scores for the residual. `sd`, `sd_interval`: standard deviation on the scale of the scores, with its interval.
    `share`, `share_interval`: share of the variance of one score, in [0, 1], with its interval.
    """

    name: str
    n_levels: int
    sd: float
    sd_interval: tuple[float, float]
    share: float
    share_interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effects(Result):
    """Effects of crossed factors on the scores of one model.

    - `model`: the model, with the settings that all of its logs share.
    - `value`: mean score.
    - `interval`: interval for the mean over new levels of the factors in `new`.
    - `interval_questions_only`: interval for the mean over new questions with the observed levels of all other factors.
    - `new`: factors to generalize over, whose observed levels are a sample.
    - `unit`: sampling unit of the questions: `question`, or the field that groups them.
    - `n_questions`, `n_scores`: number of questions that all logs share, and of their scores.
    - `evidence`: for each factor, where it was detected and its levels.
    - `components`: variance components from coarse to fine; the residual is last.
    - `uncertainty`: for each factor in `new`, its expected share of the variance of the mean.
    - `not_identifiable`: interactions that cannot be separated from the residual.
    - `is_share`: whether scores lie in [0, 1], so that differences are given in points.
    - `sentence`: the largest source of uncertainty and the effect of more levels, as text.
    """

    record_rows: ClassVar = "components"

    model: str
    task: str
    metric: str
    filter: str
    value: float
    interval: Interval
    interval_questions_only: Interval
    new: tuple[str, ...]
    unit: str
    n_questions: int
    n_scores: int
    evidence: Mapping[str, str]
    components: tuple[Component, ...]
    uncertainty: Mapping[str, float]
    not_identifiable: tuple[str, ...]
    is_share: bool
    sentence: str
    messages: tuple[Message, ...] = ()


def _sections(rows: Sequence[Effects], digits: int) -> Iterator[Section]:
    for row in rows:
        level = f"{100 * row.interval.level:g}%"
        lines = [
            "",
            f"Mean score over new levels of {', '.join(row.new)}: {number(row.value, digits)}, {level} interval "
            f"{interval(row.interval, digits)}. If only {row.unit} generalizes and everything else stays as it is: "
            f"{interval(row.interval_questions_only, digits)}.",
            row.sentence,
            *(f"{name}: {evidence}." for name, evidence in row.evidence.items()),
        ]
        if row.not_identifiable:
            lines.append(f"Not identifiable separately from the residual: {', '.join(row.not_identifiable)}.")
        name = f"{row.model} on {row.task}, {metric_name(row.metric, row.filter)}"
        title = f"{name}: {counted(row.n_questions, 'question')}"
        yield table(title, _columns(row, level), row.components, digits, lines=lines)


def _columns(row: Effects, level: str) -> list[Column]:
    unit = "points" if row.is_share else "units"
    rounding = _ROUNDING * max((part.sd_interval[1] for part in row.components), default=0.0)

    def deviation(sd: float, _: int = 0) -> str:
        return difference_number(sd if sd > rounding else 0.0, in_points=row.is_share)

    return [
        Column("Component", "name", wraps=True),
        Column("Levels", "n_levels", integer),
        Column(f"SD, {unit}", "sd", deviation, "sd"),
        Column(
            *(f"{level} interval", lambda part: " to ".join(map(deviation, part.sd_interval))),
            is_number=True,
            spare=1,
            name="sd-interval",
        ),
        Column("Share of variance", "share", percent, "share", legend="share of the variance of a single score."),
        Column(
            *(f"{level} interval of share", lambda part: " to ".join(map(percent, part.share_interval))),
            is_number=True,
            spare=2,
            name="share-interval",
        ),
        Column(
            *("Share of uncertainty", lambda part: row.uncertainty.get(part.name), percent, "uncertainty"),
            in_paper=False,
            legend="share of the variance of the mean score.",
        ),
    ]


def effect_sizes(effects: Effects, *, title: str | None = None) -> "Figure":
    """Standard deviation of each component with its interval, and the shares of the uncertainty of the mean.

    Parameters
    ----------
    effects : variance components of one score
    title : title of the figure; None for the names of the model, task and metric

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError : if matplotlib is not installed
    """
    parts = effects.components
    figure = draw.new_figure(7.5, 0.42 * len(parts) + 1.7)
    sizes, shares = (draw.tidy(axes) for axes in figure.subplots(1, 2, sharey=True, width_ratios=[3, 2]))
    scale = 100.0 if effects.is_share else 1.0
    _draw_sizes(sizes, parts, scale)
    sizes.set_yticks(range(len(parts)), [f"{shorten(part.name)} ({part.n_levels:,})" for part in parts])
    sizes.invert_yaxis()
    unit = "points" if effects.is_share else "units of the score"
    sizes.set_xlabel(
        f"sd of one score, {unit},\nwith {100 * effects.interval.level:g} % interval",
        fontsize=draw.TEXT,
        color=draw.INK,
    )
    _draw_shares(shares, effects)
    figure.suptitle(
        title or shorten(f"{effects.model} on {effects.task}, {effects.metric}", 90),
        fontsize=draw.TEXT + 1,
        color=draw.INK,
    )
    return draw.without_markup(figure)


def _draw_sizes(axes: "Axes", parts: tuple[Component, ...], scale: float) -> None:
    for row, part in enumerate(parts):
        low, high = (scale * end for end in part.sd_interval)
        axes.plot([low, high], [row, row], color=draw.COLOURS[0], linewidth=2.2, solid_capstyle="butt")
        axes.plot([scale * part.sd], [row], "o", color=draw.COLOURS[0], markersize=6)
    axes.set_xlim(left=0.0)


def _draw_shares(axes: "Axes", effects: Effects) -> None:
    for row, part in enumerate(effects.components):
        share = effects.uncertainty.get(part.name)
        if share is not None:
            axes.barh([row], [100 * share], color=draw.COLOURS[4], height=0.6)
            axes.text(100 * share + 2, row, f"{share:.0%}", va="center", fontsize=draw.SMALL, color=draw.INK)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.set_xlim(0, 115)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_xlabel("share of the uncertainty\nof the mean, %", fontsize=draw.TEXT, color=draw.INK)


Effects.KIND = Kind(
    "effects",
    Effects,
    _sections,
    "Variance components.",
    displayed=("model", "task", "metric", "filter", "value", "interval_low", "interval_high", "name", "sd", "share"),
    figure=one_result(effect_sizes),
)
