"""Results as pictures: every function returns a matplotlib Figure and leaves matplotlib's global state alone."""

from harness_uq.plots.calibration import Series, coverage, coverage_against_width, coverage_error
from harness_uq.plots.effects import effect_sizes
from harness_uq.plots.intervals import forest, gradient_intervals
from harness_uq.plots.many import heat_map, rank_distribution
from harness_uq.plots.planning import power_curve, precision_curve

__all__ = [
    "Series",
    "coverage",
    "coverage_against_width",
    "coverage_error",
    "effect_sizes",
    "forest",
    "gradient_intervals",
    "heat_map",
    "power_curve",
    "precision_curve",
    "rank_distribution",
]
