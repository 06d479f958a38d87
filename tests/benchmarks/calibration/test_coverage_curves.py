"""Curves of a calibration run."""

import pytest

from benchmarks.calibration.coverage_curves import coverage, coverage_against_width, coverage_error
from harness_uq.messages.errors import DataError
from tests.figures import assert_labels_are_inside

pytest.importorskip("matplotlib")
SERIES = {
    "beta": {"x": [0.8, 0.95], "y": [0.81, 0.94], "mc_error": [0.01, 0.01]},
    "collapsed": {"x": [0.8, 0.95], "y": [0.0, 1.0]},
}


def test_every_figure_has_its_labels_inside() -> None:
    assert_labels_are_inside(coverage(SERIES))
    assert_labels_are_inside(coverage_against_width(SERIES, 0.95))
    assert_labels_are_inside(coverage_error({"beta": {"x": [3, 300], "y": [-0.1, 0.0]}}))


def test_coverage_of_zero_and_one_is_drawn_at_the_ends_of_the_axis() -> None:
    axes = coverage(SERIES).axes[0]
    low, high = axes.get_ylim()
    triangles = {line.get_marker(): list(line.get_ydata()) for line in axes.lines if line.get_marker() in "v^"}
    assert triangles["v"] == [low]
    assert triangles["^"] == [high]


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(DataError):
        coverage({})
    with pytest.raises(DataError):
        coverage_against_width(SERIES, 95)
