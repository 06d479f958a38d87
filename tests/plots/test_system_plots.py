"""Plots of systems and tasks: positions, limits, colours, panels, and the axes that they return."""

import re
from dataclasses import replace
from itertools import combinations
from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_uq.messages.control_characters import escape_control
from harness_uq.messages.errors import DataError
from harness_uq.output.figures.marks import SYSTEM_COLOURS, style_of, system_styles
from harness_uq.output.short_names import shorten_names
from harness_uq.results.gate import Gate, GateRow
from harness_uq.results.overall import Overall, OverallDifference, OverallSystem, OverallTask
from tests.conftest import ROOT
from tests.results import factory as make

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from harness_uq import plots
from harness_uq.output.declared import figure_of
from harness_uq.output.figures.marks import pareto_front

# Machado, Oliveira & Fernandes (2009), severity 1, matrices of linear RGB
DEFICIENCIES = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "none": np.eye(3).tolist(),
}


def new_axes():
    return Figure().subplots()


def estimates(n_systems: int, n_tasks: int):
    return [
        make.estimate(system=f"system {s}", task=f"task {t}", successes=60 + 10 * s, n=200)
        for t in range(n_tasks)
        for s in range(n_systems)
    ]


def overall(*values: float) -> Overall:
    systems = tuple(
        OverallSystem(f"s{k}", value, make.interval(value - 0.02, value + 0.02), expected_rank=k + 1.0)
        for k, value in enumerate(values)
    )
    return Overall("equal", "none", False, True, (OverallTask("a", "acc", "none", 1.0),), systems)


def marker_positions(axes, colour: str) -> list[float]:
    return [
        float(line.get_xdata()[0])
        for line in axes.lines
        if len(line.get_xdata()) == 1 and to_hex(line.get_markeredgecolor()) == colour.lower()
    ]


def test_dots_and_intervals_stand_at_their_numbers():
    row = make.estimate()
    axes = plots.plot_forest(row)
    lines = [line.get_xdata() for line in axes.lines if len(line.get_xdata())]
    assert any(np.array_equal(x, [row.interval.low, row.interval.high]) for x in lines)
    assert any(np.array_equal(x, [row.value]) for x in lines)
    # Wald at the harness's standard error: 0.8 ± 1.959964 sqrt(0.16 / 199)
    assert any(len(x) == 2 and isclose(x[0], 0.8 - 1.959964 * (0.16 / 199) ** 0.5, rel_tol=1e-6) for x in lines)


def test_an_interval_beyond_the_possible_scores_is_cut_with_an_arrowhead():
    row = replace(make.ceiling(), interval=make.interval(0.84, 1.055, "confidence"))
    axes = plots.plot_forest(row)
    assert axes.get_xlim()[1] == 1.0
    assert [line.get_marker() for line in axes.lines if list(line.get_xdata()) == [1.0]].count(">") == 1
    assert max(x for line in axes.lines for x in line.get_xdata()) == 1.0


@pytest.mark.parametrize("result", [overall(0.97, 0.975), make.ranking(3), make.ceiling()])
def test_axes_of_proportions_end_at_0_and_1(result):
    low, high = plots.plot_forest(result).get_xlim()
    assert 0.0 <= low < high <= 1.0


@pytest.mark.parametrize("draw", [plots.plot_forest, plots.plot_heatmap])
def test_results_are_drawn_in_the_given_axes(draw):
    axes = new_axes()
    assert draw(estimates(2, 3), ax=axes, title="Mine") is axes
    assert axes.get_title() == "Mine"


def test_differences_ranks_and_pareto_fronts_are_drawn_in_the_given_axes():
    for draw, results in ((plots.plot_difference, make.comparison()), (plots.plot_ranks, make.ranking(4))):
        axes = new_axes()
        assert draw(results, ax=axes) is axes
    axes = new_axes()
    assert plots.plot_pareto(overall(0.5, 0.6), {"s0": 1, "s1": 2}, ax=axes) is axes


def test_twelve_systems_on_thirty_tasks_have_one_panel_per_task_with_the_same_axes():
    panels = plots.plot_forest(estimates(12, 30))
    assert len(panels) == 30
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert [panel.get_title() for panel in panels[:2]] == ["task 0", "task 1"]
    assert [text.get_text() for text in panels[0].get_yticklabels()] == [f"system {s}" for s in range(12)]
    assert all(len(marker_positions(panels[7], SYSTEM_COLOURS[k])) == 1 for k in range(12))


def test_two_systems_on_three_tasks_share_axes_and_differ_by_colour_and_marker():
    axes = plots.plot_forest(estimates(2, 3))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["task 0", "task 1", "task 2"]
    assert marker_positions(axes, SYSTEM_COLOURS[0]) == [0.3] * 3
    assert marker_positions(axes, SYSTEM_COLOURS[1]) == [0.35] * 3
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == ["system 0", "system 1"]


def test_panels_of_one_task_name_the_task_and_the_first_panel_has_the_legend():
    row = make.estimate()
    rows = [replace(row, system=s, metric=m, task=t) for s in ("a", "b") for m, t in (("acc", "x"), ("mcc", "y"))]
    rows = [r if r.metric == "acc" else replace(r, structure=replace(r.structure, bounds=(-1.0, 1.0))) for r in rows]
    first, second = plots.plot_forest(rows)
    assert [text.get_text() for text in second.get_yticklabels()] == ["y"]
    assert [text.get_text() for text in first.get_legend().get_texts()][:2] == ["a", "b"]
    assert second.get_legend() is None or len(second.get_legend().get_texts()) < 2


def test_a_long_title_of_an_axis_has_two_lines():
    row = replace(make.comparison(), verdict="undecided", verdict_corrected="undecided", margin=0.05)
    rows = [row, replace(row, task="other", margin=0.2)]
    assert plots.plot_difference(rows).get_xlabel().endswith("margin of ±0.05 to ±0.2,\nwhite: undecided")


def test_a_system_has_the_same_colour_in_every_plot():
    systems, base = ["b", "a", "c"], "c"
    marks = system_styles(systems)
    rows = [make.comparison(task=t) for t in ("x", "y")]
    compared = [replace(row, system_a=system, system_b=base) for system in "ba" for row in rows]
    axes = plots.plot_difference(compared)
    for system in "ab":
        assert len(marker_positions(axes, SYSTEM_COLOURS[marks[system].colour])) == 2
    assert not marker_positions(axes, SYSTEM_COLOURS[marks[base].colour])
    assert f"difference from {base}" in axes.get_xlabel()


def test_undecided_differences_are_white():
    decided, undecided = (
        replace(make.comparison(task=v), verdict=v, verdict_corrected=v) for v in ("better", "undecided")
    )
    axes = plots.plot_difference([decided, undecided])
    faces = [to_hex(line.get_markerfacecolor()) for line in axes.lines if len(line.get_xdata()) == 1]
    assert faces == [SYSTEM_COLOURS[0].lower(), "#ffffff"]


def test_overall_differences_have_simultaneous_intervals():
    one = OverallDifference(
        "s1", 0.1, make.interval(0.02, 0.18), make.interval(0.04, 0.16), 0.99, "better", "s1 is better.", "better"
    )
    axes = plots.plot_difference(replace(overall(0.5, 0.6), baseline="s0", differences=(one,)))
    assert [list(line.get_xdata()) for line in axes.lines if list(line.get_xdata()) == [0.02, 0.18]]


def test_ranks_stand_at_their_numbers():
    ranking = make.ranking(5)
    axes = plots.plot_ranks(ranking)
    drawn = [list(line.get_xdata()) for line in axes.lines]
    for system in ranking.systems:
        assert [system.expected_rank] in drawn
        assert [system.rank_low, system.rank_high] in drawn
    assert axes.get_xlim() == (0.5, 5.5)


def test_wider_intervals_have_smaller_tiles_in_the_heatmap():
    precise, vague = make.estimate(system="a", successes=400, n=500), make.estimate(system="b", successes=16, n=20)
    axes = plots.plot_heatmap([precise, vague])
    first, second = axes.patches
    assert first.get_width() > second.get_width()
    assert to_rgb(first.get_facecolor()) == to_rgb(second.get_facecolor())  # both score 0.8
    written = [text.get_text() for text in axes.texts]
    assert written[0] == written[2] == "80"
    assert float(written[1][1:]) < float(written[3][1:])


def test_a_missing_score_is_a_dash_in_the_heatmap():
    axes = plots.plot_heatmap(estimates(2, 2)[:-1])
    assert [text.get_text() for text in axes.texts].count("–") == 1


def test_the_pareto_front_leaves_out_dominated_points():
    assert pareto_front([1, 1, 2, 3], [0.5, 0.6, 0.6, 0.7]) == [1, 3]
    assert pareto_front([1, 2, 3], [0.5, 0.4, 0.3], higher_is_better=False) == [0, 1, 2]
    assert pareto_front([1, 1], [0.5, 0.5]) == [0, 1]


def test_pareto_plots_take_numbers_with_intervals():
    axes = plots.plot_pareto({"a": (0.5, 0.4, 0.6), "b": 0.7}, {"b": (300, 200, 400), "a": 2})
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    assert ([2, 2], [0.4, 0.6]) in drawn
    assert ([200, 400], [0.7, 0.7]) in drawn
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.plot_forest(make.comparisons()),
        lambda: plots.plot_heatmap(make.comparisons()),
        lambda: plots.plot_difference([]),
        lambda: plots.plot_difference(overall(0.5)),
        lambda: plots.plot_forest(make.estimates(), ax=new_axes()),
        lambda: plots.plot_ranks([make.ranking(2), make.ranking(3)], ax=new_axes()),
        lambda: plots.plot_ranks([]),
        lambda: plots.plot_pareto(overall(0.5), {"s1": 1}),
        lambda: plots.plot_pareto({"a": (0.5, 0.6)}, {"a": 1}),
        lambda: plots.plot_pareto({"a": float("nan")}, {"a": 1}),
        lambda: plots.plot_pareto(estimates(1, 2), {"system 0": 1}),
        lambda: plots.plot_pareto({}, {}),
    ],
)
def test_what_cannot_be_drawn_is_an_error(call):
    with pytest.raises(DataError):
        call()


def _lab(colour: str, deficiency: list[list[float]]) -> np.ndarray:
    """CIELAB of a colour as seen with a colour vision deficiency (IEC 61966-2-1, CIE 15)."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(deficiency) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    ratio = np.array(to_xyz) @ seen / [0.9505, 1.0, 1.089]
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_of_systems_differ_for_colour_blind_readers(deficiency):
    seen = [_lab(colour, DEFICIENCIES[deficiency]) for colour in SYSTEM_COLOURS]
    # the difference between two neighbouring colours of Okabe & Ito's palette is 16 at the least
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


def test_the_report_has_the_colours_of_the_plots():
    page = (ROOT / "harness_uq" / "output" / "templates" / "report.css").read_text("utf-8")
    light = page.partition("@media")[0]
    assert re.findall(r"--c\d+: (#\w+)", light) == [colour.lower() for colour in SYSTEM_COLOURS]


def test_seventy_two_systems_have_different_marks():
    assert len({style_of(k) for k in range(72)}) == 72


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=8), st.integers(4, 40), st.text(max_size=60))
def test_shortened_names_remain_different(names, width, common):
    long = [common + name + common for name in names]
    short = shorten_names(long, width)
    assert len(set(short)) == len({escape_control(name) for name in long})


def test_the_common_part_of_names_is_shortened():
    names = [f"organization/model-instruct-{size}-2026-07-01-final" for size in ("small", "large", "xl")]
    assert shorten_names(names, 20) == ["organization/…small…", "organization/…large…", "organization/…xl…"]


@pytest.mark.slow
@pytest.mark.parametrize("draw", [plots.plot_forest, plots.plot_heatmap])
@pytest.mark.parametrize(("n_systems", "n_tasks"), [(2, 3), (12, 30)])
def test_no_label_leaves_the_figure(draw, n_systems, n_tasks):
    drawn = draw(estimates(n_systems, n_tasks))
    figure = (drawn[0] if isinstance(drawn, list) else drawn).figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = figure.bbox.size
    for part in figure.axes:
        box = part.get_tightbbox(canvas.get_renderer())
        assert (box.x0 >= -1, box.y0 >= -1, box.x1 <= width + 1, box.y1 <= height + 1) == (True,) * 4, part


def test_a_difference_of_unbounded_scores_is_not_cut():
    """Both means lie between 0 and 1, but the scores, and so the difference, have no limits."""
    wide = make.comparison(difference=0.2, std_error=2.0)
    axes = plots.plot_difference(replace(wide, in_points=False, table=None))
    low, high = axes.get_xlim()
    assert low < -3.7 < 4.1 < high
    assert not any(line.get_marker() in "<>" for line in axes.get_lines())


def test_each_difference_has_the_band_of_its_own_margin():
    rows = [replace(make.comparison(task=f"t{k}"), margin=margin) for k, margin in enumerate((0.05, 0.2))]
    axes = plots.plot_difference(rows)
    ends = [band.get_paths()[0].vertices[:, 0].max() for band in axes.collections]
    assert ends == pytest.approx([0.05, 0.2])
    assert "band: margin of ±0.05 to ±0.2" in axes.get_xlabel()


def test_the_figure_of_a_gate_shows_its_decisions():
    """A gate passes by a margin, with which a comparison need not be decided."""
    undecided = make.comparison(verdict="undecided")
    rows = tuple(GateRow(undecided, decision, decision, True) for decision in ("pass", "undecided"))
    figure = figure_of([Gate("undecided", 0.05, rows)])
    markers = [line for line in figure.axes[0].get_lines() if line.get_marker() == "o"]
    assert [line.get_markerfacecolor() == "white" for line in markers] == [False, True]


def test_a_gate_without_a_baseline_has_no_figure():
    with pytest.raises(DataError):
        figure_of([Gate("pass", 0.05, ())])


def test_a_score_without_value_and_interval_is_marked():
    axes = plots.plot_forest(replace(make.estimate(successes=8, n=10), value=None, interval=None))
    assert [text.get_text() for text in axes.texts] == ["not estimable"]
