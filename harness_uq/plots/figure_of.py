"""The figure of a list of results, chosen by their type."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness_uq.errors import DataError
from harness_uq.plots.effects import effect_sizes
from harness_uq.plots.intervals import forest
from harness_uq.plots.planning import precision_curve
from harness_uq.results.comparison import Comparison
from harness_uq.results.effects import Effects
from harness_uq.results.estimate import Estimate
from harness_uq.results.gate import Gate
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OF_ALL: tuple[type, ...] = (Estimate, Comparison, Ranking)
_OF_ONE: Mapping[type, "Callable[..., Figure]"] = {Effects: effect_sizes, Plan: precision_curve}


def figure_of(results: Sequence[Any], **options: Any) -> "Figure":
    """Draw results of one type: `forest`, `effect_sizes` or `precision_curve`.

    Parameters
    ----------
    results : estimates, comparisons or rankings; a single result of `effects` or `plan`; or a gate
    **options : arguments of the function that draws the figure

    Raises
    ------
    DataError : if there are no results, none of this type are drawn, or several where one is drawn
    MissingDependencyError : if matplotlib is not installed
    """
    if not results:
        raise DataError("there are no results to draw")
    first = results[0]
    if isinstance(first, _OF_ALL):
        return forest(results, **options)
    if isinstance(first, Gate):
        return forest([row.comparison for gate in results for row in gate.rows], **options)
    if (draw := _OF_ONE.get(type(first))) is None:
        raise DataError(f"there is no figure of {type(first).__name__}")
    if len(results) > 1:
        raise DataError(f"a figure shows one result of type {type(first).__name__}; got {len(results)}")
    return draw(first, **options)
