"""The functions of the package's face: those of the rooms, whose lists of results show themselves."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from harness_uq.comparing import analysis as comparing
from harness_uq.estimating import analysis as estimating
from harness_uq.planning import analysis as planning
from harness_uq.ranking import analysis as ranking
from harness_uq.report.rows import Rows
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking

_Arguments = ParamSpec("_Arguments")
_Row = TypeVar("_Row", Estimate, Comparison, Ranking, Plan)


def _shown(function: Callable[_Arguments, list[_Row]]) -> Callable[_Arguments, Rows[_Row]]:
    @wraps(function)
    def with_forms(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> Rows[_Row]:
        return Rows(function(*args, **kwargs))

    return with_forms


estimate = _shown(estimating.estimate)
compare = _shown(comparing.compare)
rank = _shown(ranking.rank)
plan = _shown(planning.plan)
