"""Curves of a plan: precision and power against the numbers of questions and trials."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

from harness_uq.errors import DataError
from harness_uq.plots.figure import GREY, INK, TEXT, axes_of, draw_series, legend_below, need_rows, new_figure, tidy
from harness_uq.plots.label_texts import counted
from harness_uq.results.format_points import count_of
from harness_uq.results.plan import Plan, PlanRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LABELS = 10


def precision_curve(plan: Plan) -> "Figure":
    """Minimum detectable effect and expected interval width against questions, one line per number of trials.

    Parameters
    ----------
    plan : with at least one design that has a width or a detectable difference; the recommended one is marked

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if no design has either number
    MissingDependencyError : if matplotlib is not installed
    """
    wanted = {
        "detectable": f"minimum detectable effect\nwith {100 * plan.power:g} % power",
        "expected_width": f"expected width of the\n{100 * plan.level:g} % interval",
    }
    curves = [name for name in wanted if any(getattr(row, name) is not None for row in plan.rows)]
    need_rows(curves, "design with an expected width or a detectable difference")
    figure = new_figure(6.5, 2.8 * len(curves) + 0.6)
    drawn = axes_of(figure, [1.0] * len(curves))
    for axes, name in zip(drawn, curves, strict=True):
        _draw_designs(axes, plan, name)
        axes.set_ylabel(wanted[name], fontsize=TEXT, color=INK)
    drawn[-1].set_xlabel("questions", fontsize=TEXT, color=INK)
    legend_below(drawn[0])
    return figure


def power_curve(plan: Plan, differences: Sequence[float]) -> "Figure":
    """Power to detect each true difference against questions, at the recommended number of trials.

    With se(n) = MDE(n) / (z_{1-alpha/2} + z_power), power at a difference D is
    Phi(D / se - z_{1-alpha/2}) + Phi(-D / se - z_{1-alpha/2}) (Miller 2024, §5).

    Parameters
    ----------
    plan : with detectable differences
    differences : true differences, > 0, on the scale of the score

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if the plan has no detectable differences, or `differences` is empty or not positive
    MissingDependencyError : if matplotlib is not installed
    """
    if not differences or min(differences) <= 0:
        raise DataError(f"differences must be positive, such as [0.02, 0.05]; got {list(differences)}")
    rows = _at_recommended_trials(plan)
    need_rows(rows, "design with a detectable difference")
    figure = new_figure(6.5, 4.0)
    axes = tidy(figure.subplots())
    for k, difference in enumerate(differences):
        powers = [design_power(row, difference, plan) for row in rows]
        draw_series(axes, k, f"true difference {difference:g}", [row.n_questions for row in rows], powers)
    axes.axhline(plan.power, color=GREY, linewidth=1.0)
    axes.set_ylim(0.0, 1.02)
    _question_axis(axes, [row.n_questions for row in rows], plan.recommended)
    axes.set_xlabel(f"questions, {counted(rows[0].n_trials, 'trial')} per question", fontsize=TEXT, color=INK)
    axes.set_ylabel("power", fontsize=TEXT, color=INK)
    legend_below(axes)
    return figure


def design_power(row: PlanRow, difference: float, plan: Plan) -> float:
    """Power of the design to detect a true `difference`, from its minimum detectable effect."""
    normal = NormalDist()
    z = normal.inv_cdf((1 + plan.level) / 2)
    std_error = (row.detectable or 0.0) / (z + normal.inv_cdf(plan.power))
    return normal.cdf(difference / std_error - z) + normal.cdf(-difference / std_error - z)


def _at_recommended_trials(plan: Plan) -> list[PlanRow]:
    rows = sorted((row for row in plan.rows if row.detectable), key=lambda row: row.n_questions)
    if not rows:
        return []
    n_trials = plan.recommended.n_trials if plan.recommended else rows[0].n_trials
    return [row for row in rows if row.n_trials == n_trials]


def _draw_designs(axes: "Axes", plan: Plan, name: str) -> None:
    rows = [row for row in plan.rows if getattr(row, name) is not None]
    for k, n_trials in enumerate(sorted({row.n_trials for row in rows})):
        line = sorted((row.n_questions, getattr(row, name)) for row in rows if row.n_trials == n_trials)
        draw_series(axes, k, f"{counted(n_trials, 'trial')} per question", [n for n, _ in line], [y for _, y in line])
    best = plan.recommended
    if best is not None and (y := getattr(best, name)) is not None:
        label = f"recommended: {count_of(best.n_questions, 'question')}"
        axes.plot([best.n_questions], [y], "o", markersize=13, fillstyle="none", color=INK, label=label)
    _question_axis(axes, [row.n_questions for row in rows], best)
    axes.set_ylim(bottom=0.0)


def _question_axis(axes: "Axes", counts: Sequence[int], best: PlanRow | None) -> None:
    if max(counts) > 8 * min(counts):
        axes.set_xscale("log")
        labelled = spaced(counts, None if best is None else best.n_questions)
        axes.set_xticks(labelled, [f"{n:,}" for n in labelled])
        axes.set_xticks([], minor=True)


def spaced(counts: Sequence[int], first: int | None = None) -> list[int]:
    """Counts whose labels fit next to each other on a logarithmic axis, including `first`.

    >>> spaced([50, 100, 500, 984, 1000, 5000], 984)
    [50, 100, 500, 984, 5000]
    """
    room = math.log(max(counts) / min(counts)) / _MOST_LABELS
    spaced_counts = [] if first is None else [first]
    for n in sorted(set(counts)):
        if all(abs(math.log(n / other)) >= room for other in spaced_counts):
            spaced_counts.append(n)
    return sorted(spaced_counts)
