"""Everything that a report shows of some logs: scores, and what follows for the systems in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_uq.comparing.analysis import CompareOptions, compare
from harness_uq.errors import DataError, NotEstimableError
from harness_uq.estimating.analysis import Options, estimate
from harness_uq.logs.data import TaskLog
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.ranking.analysis import RankOptions, rank
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Overview:
    """Results of some logs.

    Attributes
    ----------
    estimates : of every system, task, metric and filter
    comparisons : of the two systems, where there are two
    rankings : of three systems or more
    problems : why a comparison or ranking is missing
    """

    estimates: tuple[Estimate, ...]
    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    problems: tuple[str, ...] = ()


def overview(
    logs: Sequence[TaskLog],
    options: Options | None = None,
    *,
    margin: float = 0.0,
    margins: Mapping[str, float] | None = None,
    plugins: Plugins | None = None,
    estimates: Sequence[Estimate] | None = None,
) -> Overview:
    """Estimate every score, compare two systems, rank three or more.

    Parameters
    ----------
    logs : task logs; of two systems the first to occur is A
    options : how to estimate; level, scope, structure and seed hold for comparisons and rankings too
    margin, margins : smallest difference that matters in comparisons, of every task and of single ones
    plugins : the installed ones by default
    estimates : of these logs, where they have been made already
    """
    chosen, offered = options or Options(), plugins or load_plugins()
    rows = tuple(estimate(logs, chosen, plugins=offered) if estimates is None else estimates)
    systems = list(dict.fromkeys(log.system for log in logs))
    scope = "population" if chosen.scope == "full" else chosen.scope
    try:
        if len(systems) == 2:
            how = CompareOptions(
                level=chosen.level,
                margin=margin,
                margins=margins or {},
                scope=scope,
                structure=chosen.structure,
                seed=chosen.seed,
            )
            a, b = ([log for log in logs if log.system == system] for system in systems)
            return Overview(rows, comparisons=tuple(compare(a, b, how, plugins=offered)))
        if len(systems) > 2:
            how_ranked = RankOptions(level=chosen.level, scope=scope, structure=chosen.structure, seed=chosen.seed)
            return Overview(rows, rankings=tuple(rank(logs, how_ranked, plugins=offered)))
    except (DataError, NotEstimableError) as error:
        return Overview(rows, problems=(f"systems are not compared: {error}",))
    return Overview(rows)
