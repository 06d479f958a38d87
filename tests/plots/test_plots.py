"""Pictures: what is drawn stands where the numbers say, for one row and for a hundred, without global state."""

import builtins
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from math import isclose

import numpy as np
import pytest

from harness_uq.messages.errors import DataError, MissingDependencyError
from harness_uq.output.figures.marks import marks_of, panels, tick_text, ticks
from harness_uq.output.short_names import shorten
from tests.figures import assert_labels_are_inside
from tests.results import factory as make

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg

from harness_uq import plots
from tests.conftest import ROOT

FIGURES = {
    "forest": lambda: plots.plot_forest(make.estimates())[0].figure,
    "forest of one": lambda: plots.plot_forest(make.ceiling()).figure,
    "forest of differences": lambda: plots.figure_of(make.comparisons()),
    "forest of a hundred": lambda: plots.plot_forest(make.ranking(100)).figure,
    "gradient": lambda: plots.gradient_intervals(make.estimates(), title="Scores"),
    "heat map": lambda: plots.pairwise_probabilities(make.ranking(6)),
    "heat map of one": lambda: plots.pairwise_probabilities(make.ranking(1)),
    "heat map of a hundred": lambda: plots.pairwise_probabilities(make.ranking(100)),
    "ranks": lambda: plots.plot_ranks(make.ranking(6)).figure,
    "ranks without shade": lambda: plots.plot_ranks(make.ranking(100, with_ranks=False)).figure,
    "precision": lambda: plots.precision_curve(make.plan()),
    "effects": lambda: plots.effect_sizes(make.effects()),
    "power": lambda: plots.power_curve(make.plan(), [0.02, 0.05]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_picture_has_its_labels_inside(name):
    assert_labels_are_inside(FIGURES[name]())


@pytest.mark.slow
def test_pictures_touch_neither_pyplot_nor_the_settings():
    code = (
        "import sys, matplotlib; before = matplotlib.rcParams.copy()\n"
        "from tests.results import factory as make\n"
        "from harness_uq import plots\n"
        "plots.plot_forest(make.estimates())[0].figure.savefig('/dev/null', format='png')\n"
        "plots.pairwise_probabilities(make.ranking(3)).savefig('/dev/null', format='svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules and matplotlib.rcParams.copy() == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=ROOT)


def test_plots_are_imported_without_matplotlib_and_say_what_is_missing(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"harness-uq\[plot\]"):
        plots.plot_forest(make.estimates())


def test_density_strip_is_darkest_at_the_mode():
    row = make.estimate(successes=160, n=200)
    axes = plots.gradient_intervals([row]).axes[0]
    image = axes.images[0]
    shade = np.asarray(image.get_array())[0, :, 3]
    low, high, *_ = image.get_extent()
    # mode of Beta(161, 41) is 160 / 200
    assert isclose(low + (high - low) * (np.argmax(shade) + 0.5) / shade.size, 0.8, abs_tol=0.002)


def test_metrics_of_different_range_get_axes_of_their_own():
    found = panels(marks_of(make.estimates()))
    assert [panel.scale for panel in found] == ["score", "word_perplexity", "bleu"]
    assert [len(panel.groups) for panel in found] == [4, 1, 1]


def test_an_axis_holds_all_it_draws_and_stays_inside_the_possible_scores():
    for panel in panels(marks_of([*make.estimates(), *make.comparisons(), make.ranking()])):
        low, high = panel.limits
        drawn = [
            x for row in panel.rows for x in (row.value, *(row.span or ()), *(row.reference or ())) if x is not None
        ]
        assert low <= min(drawn)
        assert max(drawn) <= high
        assert all(low <= tick <= high for tick in panel.ticks)
        assert 3 <= len(panel.ticks) <= 12
    assert panels(marks_of([make.ceiling()]))[0].limits[1] == 1.0


def test_runs_of_one_system_are_told_apart_by_their_time():
    first, second = make.estimate(), make.estimate()
    later = replace(second, source=replace(second.source, time="2025-06-02T08:00:00"))
    assert [row.label for row in marks_of([first, later])] == [
        f"{make.SYSTEMS[0]}, 2025-05-01 10:00",
        f"{make.SYSTEMS[0]}, 2025-06-02 08:00",
    ]


def test_a_metric_where_less_is_better_says_so_on_its_axis():
    row = replace(make.comparison(), metric="word_perplexity", higher_is_better=False)
    assert panels(marks_of([row]))[0].scale == "difference in word_perplexity, lower is better"


def test_heat_map_writes_probabilities_of_row_over_column():
    ranking = make.ranking(3)
    written = {text.get_position(): text.get_text() for text in plots.pairwise_probabilities(ranking).axes[0].texts}
    assert written[(2, 0)] == f"{100 * ranking.prob_better[0][2]:.0f}"
    assert written[(0, 0)] == "–"


def test_power_at_the_detectable_difference_is_the_plans_power():
    plan = make.plan()
    for k, row in enumerate(row for row in plan.rows if row.n_trials == plan.recommended.n_trials):
        (drawn, *_) = plots.power_curve(plan, [row.detectable]).axes[0].lines
        # the other tail adds Phi(-2 z_{.975} - z_{.8}) = 9e-7
        assert isclose(drawn.get_ydata()[k], 0.8, abs_tol=2e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.plot_forest([]),
        lambda: plots.power_curve(make.plan(), []),
        lambda: plots.power_curve(make.plan(), [-0.1]),
        lambda: plots.precision_curve(replace(make.plan(), rows=())),
        lambda: plots.pairwise_probabilities(replace(make.ranking(1), systems=())),
    ],
)
def test_nothing_to_draw_is_an_error(call):
    with pytest.raises(DataError):
        call()


def test_ticks_are_round_and_written_alike():
    assert ticks(0.83, 1.01) == (0.85, 0.9, 0.95, 1.0)
    assert ticks(-0.1, 0.1) == (-0.1, -0.05, 0.0, 0.05, 0.1)
    assert [tick_text(x, (0.0, 0.05)) for x in (0.0, 0.05)] == ["0.00", "0.05"]


def test_a_short_name_is_left_alone():
    assert shorten("name", 4) == "name"
    assert len(shorten("x" * 50, 20)) == 20


@pytest.mark.parametrize("best", [984, 60, 4800])
def test_texts_on_the_axis_of_questions_have_room_and_the_recommended_number_is_one(best):
    plan = make.plan()
    rows = [replace(plan.rows[0], n_questions=n) for n in (50, 100, 200, 500, 1000, 2000, 5000)]
    chosen = replace(plan.rows[0], n_questions=best)
    figure = plots.precision_curve(replace(plan, rows=(*rows, chosen), recommended=chosen))
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[-1]
    boxes = [text.get_window_extent() for text in axes.get_xticklabels()]
    assert f"{best:,}" in [text.get_text() for text in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
