"""Figures of results. Each function returns a matplotlib Figure or Axes and leaves matplotlib's global state unchanged.

Matplotlib is imported when a figure is drawn.
"""

from harness_uq.output.declared import figure_of
from harness_uq.output.figures.forest import gradient_intervals, plot_difference, plot_forest
from harness_uq.output.figures.heatmap import plot_heatmap
from harness_uq.output.figures.pareto import plot_pareto
from harness_uq.output.figures.ranks import plot_ranks
from harness_uq.results.breakdown import plot_groups
from harness_uq.results.effects import effect_sizes
from harness_uq.results.history import plot_history
from harness_uq.results.plan import power_curve, precision_curve
from harness_uq.results.ranking import pairwise_probabilities

__all__ = [
    "effect_sizes",
    "figure_of",
    "gradient_intervals",
    "pairwise_probabilities",
    "plot_difference",
    "plot_forest",
    "plot_groups",
    "plot_heatmap",
    "plot_history",
    "plot_pareto",
    "plot_ranks",
    "power_curve",
    "precision_curve",
]
