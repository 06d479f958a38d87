"""The figure of a list of results, chosen by their type."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from harness_uq.errors import DataError
from harness_uq.plots.effects import effect_sizes
from harness_uq.plots.forest import plot_difference, plot_forest
from harness_uq.plots.interval_axes import AxesOrList
from harness_uq.plots.planning import precision_curve
from harness_uq.plots.ranks import plot_ranks
from harness_uq.plots.score_history import plot_history
from harness_uq.results.comparison import Comparison, Verdict
from harness_uq.results.effects import Effects
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import Decision, Gate, GateRow
from harness_uq.results.history import History
from harness_uq.results.overall import Overall
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OF_SEVERAL: Mapping[type, "Callable[..., AxesOrList]"] = {
    Estimate: plot_forest,
    Comparison: plot_difference,
    Ranking: plot_ranks,
    Overall: plot_forest,
}
_OF_ONE: Mapping[type, "Callable[..., Figure]"] = {Effects: effect_sizes, Plan: precision_curve}


def figure_of(results: Sequence[Any], **options: Any) -> "Figure":
    """Draw results by the function for the type of the last.

    Parameters
    ----------
    results : an overall result, if any, followed by estimates (`plot_forest`), comparisons (`plot_difference`) or
        rankings (`plot_ranks`); histories (`plot_history`); a single result of `effects` or `plan`; or a gate
    **options : arguments of the function that draws the figure

    Raises
    ------
    DataError : if there are no results, none of this type are drawn, or several where one is drawn
    MissingDependencyError : if matplotlib is not installed
    """
    shown: Sequence[Any] = results
    if results and isinstance(results[0], Gate):
        shown = [_decided(row) for gate in results for row in gate.rows]
    if not shown:
        raise DataError("there are no results to draw")
    kind = type(shown[-1])
    if kind is History:
        return plot_history(shown, **options)
    if kind in _OF_SEVERAL:
        axes = _OF_SEVERAL[kind](shown, **options)
        return cast("Figure", (axes[0] if isinstance(axes, list) else axes).figure)
    if (draw := _OF_ONE.get(kind)) is None:
        raise DataError(f"there is no figure of {kind.__name__}")
    if len(shown) > 1:
        raise DataError(f"a figure shows one result of type {kind.__name__}; got {len(shown)}")
    return draw(shown[0], **options)


def _decided(row: GateRow) -> Comparison:
    """The comparison with the decision of the gate as its verdict: in its figure, white scores are those undecided."""
    verdicts: dict[Decision, Verdict] = {"pass": "equivalent", "fail": "worse", "undecided": "undecided"}
    return replace(row.comparison, verdict_adjusted=verdicts[row.decision])
