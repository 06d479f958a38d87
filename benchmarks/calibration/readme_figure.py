"""The figure of the README: the default interval and that of the harnesses on one simulated benchmark."""

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from benchmarks.calibration.scenarios.clusters import questions_of, success_rates
from benchmarks.calibration.scenarios.types import NOMINAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACCURACY, SPREAD = 0.9, 4.0
SHAPES = ((5, 4), (10, 4), (20, 4), (50, 4), (100, 4), (200, 4))
N_DATA_SETS = 400


def showcase(seed: int = 0) -> "Figure":
    """Coverage and mean width for passages of four questions, accuracy 0.9 and intraclass correlation 0.2.

    One line is the score ± 1.96 × the standard error that both harnesses print, s / sqrt(n). The other is the default
    of `harness-uq estimate`. Each point is based on 400 data sets.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    from harness_uq.output.figures.axes import draw_series, legend_below, new_figure, tidy

    rng = np.random.default_rng(seed)
    table = np.array([_coverage_and_width(n, size, rng) for n, size in SHAPES])
    questions = np.array([n * size for n, size in SHAPES], float)
    figure = new_figure(8.0, 3.6)
    left, right = (tidy(axes) for axes in figure.subplots(1, 2))
    left.axhline(NOMINAL, color="#767676", linewidth=1.0)
    for k, name in enumerate(("harness_uq", "score ± 1.96 × the harness's standard error")):
        draw_series(left, k, name, questions, table[:, 2 * k])
        draw_series(right, k, "_" + name, questions, table[:, 2 * k + 1])
    for axes, label in ((left, "coverage of the 95 % interval"), (right, "mean width")):
        axes.set(xscale="log", xlabel="questions (four per passage)", ylabel=label)
        axes.set_xticks(questions, [f"{n:g}" for n in questions])
        axes.set_xticks([], minor=True)
    right.set_ylim(0.0)
    legend_below(left)
    return figure


def _coverage_and_width(n_clusters: int, size: int, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Coverage and mean width of `harness-uq estimate`, then those of the harnesses' standard error."""
    sizes = np.full(n_clusters, size)
    covered, widths = np.zeros(2), np.zeros(2)
    for _ in range(N_DATA_SETS):
        data = questions_of(rng.binomial(sizes, success_rates(ACCURACY, SPREAD, n_clusters, rng)), sizes, ACCURACY)
        answer = data.answer("bayes", (NOMINAL,), rng)
        n, score = len(data.values), float(data.values.mean())
        half = float(special.ndtri((1 + NOMINAL) / 2)) * float(np.sqrt(score * (1 - score) / (n - 1)))
        for k, limits in enumerate((answer.ends[0] if answer else (np.nan, np.nan), (score - half, score + half))):
            covered[k] += limits[0] <= ACCURACY <= limits[1]
            widths[k] += limits[1] - limits[0]
    covered, widths = covered / N_DATA_SETS, widths / N_DATA_SETS
    return float(covered[0]), float(widths[0]), float(covered[1]), float(widths[1])
