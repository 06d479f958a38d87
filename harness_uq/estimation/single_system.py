"""Estimate the score of a single system by the default method."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness_uq.data.arrays import IntArray
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.errors import DataError, NotEstimableError, StructureError, refusal_of
from harness_uq.estimands import Mean
from harness_uq.estimation.estimate import estimate_group, make_problem, not_estimable, solve
from harness_uq.messages.catalogue.comparison import SYSTEM_WITHOUT_INTERVAL, TOO_FEW_UNITS
from harness_uq.options import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.results.estimate import Estimate
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.student import StudentPosterior
from harness_uq.structure.clusters import clusters_of

_FEWEST = 4


def estimate_of(
    chosen: SelectedRun,
    options: Options,
    plugins: Plugins,
    *,
    rows: IntArray | None = None,
    logs: Sequence[TaskLog] = (),
) -> Estimate:
    """Estimate the system's score by the default method.

    Parameters
    ----------
    chosen : the run that represents the system
    options : options of the estimate
    plugins : plugins to use
    rows : questions to use, None for all
    logs : the system's logs, which contain the tasks of a group
    """
    log, data = chosen.log, chosen.data
    if log.subtasks:
        return estimate_group(log, data, logs, options, plugins)
    if rows is not None and isinstance(data, Scores):
        is_selected = np.isin(np.arange(len(data.values)), rows)
        data = replace(data, values=np.where(is_selected[:, None], data.values, np.nan))
    clusters = clusters_of(log, options.structure, plugins)
    try:
        return solve(make_problem(log, data, clusters, options), options.method, plugins)
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, Mean(options.scope), (refusal_of(error),))


def posterior_of(row: Estimate) -> Posterior:
    """Return the posterior, or Student's t for a frequentist mean. Raises NotEstimableError if there is neither."""
    if isinstance(row.posterior, Posterior):
        return row.posterior
    if row.std_error is None or row.value is None:
        reason = row.reason.text if row.reason else "Its score has no interval"
        raise NotEstimableError(SYSTEM_WITHOUT_INTERVAL(system=row.system, reason=reason))
    n = row.n_clusters or row.n_questions or 0
    if n < _FEWEST:
        raise NotEstimableError(TOO_FEW_UNITS(system=row.system, n_units=n))
    return StudentPosterior(row.value, row.std_error, n - 1)
