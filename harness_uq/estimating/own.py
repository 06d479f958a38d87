"""A system's own score: the data that stand for it, estimated by the default method."""

from dataclasses import replace

import numpy as np

from harness_uq.errors import DataError, NotEstimableError, StructureError
from harness_uq.estimands import Mean
from harness_uq.estimating.analysis import Options, clusters_of, make_problem, not_estimable, solve
from harness_uq.logs.data import IntArray, Scores
from harness_uq.logs.newest import Chosen
from harness_uq.plugins.manager import Plugins
from harness_uq.results.estimate import Estimate
from harness_uq.stats.common.posterior import Posterior
from harness_uq.stats.common.student import StudentPosterior

_REFUSED = "not estimable: "
_FEWEST = 4


def estimate_of(chosen: Chosen, options: Options, plugins: Plugins, *, rows: IntArray | None = None) -> Estimate:
    """The system's own estimate by the default method, on the questions in `rows` (None for all)."""
    log, data = chosen.log, chosen.data
    if rows is not None and isinstance(data, Scores):
        kept = np.isin(np.arange(len(data.values)), rows)
        data = replace(data, values=np.where(kept[:, None], data.values, np.nan))
    clusters = clusters_of(log, options.structure, plugins)
    try:
        return solve(make_problem(log, data, clusters, options), options.method, plugins)
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, Mean(options.scope), str(error))


def posterior_of(row: Estimate) -> Posterior:
    """The estimate's posterior; of a frequentist mean, Student's t. Raises NotEstimableError where there is none."""
    if isinstance(row.posterior, Posterior):
        return row.posterior
    if row.std_error is None or row.value is None:
        reasons = (text.removeprefix(_REFUSED) for text in row.warnings if text.startswith(_REFUSED))
        raise NotEstimableError(f"{row.system}: {next(reasons, 'its score has no interval')}")
    n = row.n_clusters or row.n_questions or 0
    if n < _FEWEST:
        raise NotEstimableError(f"{row.system}: {n} questions or clusters say too little of an unbounded score")
    return StudentPosterior(row.value, row.std_error, n - 1)
