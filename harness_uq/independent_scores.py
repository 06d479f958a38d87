"""Two scores estimated apart: their difference where questions are not matched, or where only trial noise counts."""

import numpy as np

from harness_uq.analysis import Options, clusters_of, make_problem, not_estimable, solve
from harness_uq.comparison_rows import CompareOptions
from harness_uq.data import IntArray, Scores
from harness_uq.differences import Found
from harness_uq.errors import DataError, NotEstimableError, StructureError
from harness_uq.estimands import Mean
from harness_uq.plugins import Plugins
from harness_uq.results import Estimate
from harness_uq.runs import Chosen
from harness_uq.stats.independent import IndependentPosterior, difference_posterior
from harness_uq.stats.posterior import BetaPosterior, Posterior
from harness_uq.stats.student import StudentPosterior

_REFUSED = "not estimable: "
_FEWEST = 4


def estimate_of(chosen: Chosen, options: CompareOptions, plugins: Plugins, *, rows: IntArray | None = None) -> Estimate:
    """The system's own estimate by the default method, on the questions in `rows` (None for all)."""
    log, data = chosen.log, chosen.data
    if rows is not None and isinstance(data, Scores):
        kept = np.isin(np.arange(len(data.values)), rows)
        values = np.where(kept[:, None], data.values, np.nan)
        data = Scores(data.metric, data.filter, values, data.clusters, data.levels)
    how = Options(level=options.level, scope=options.scope, structure=options.structure, seed=options.seed)
    clusters = clusters_of(log, options.structure, plugins)
    try:
        return solve(make_problem(log, data, clusters, how), how.method, plugins)
    except (DataError, NotEstimableError, StructureError) as error:
        return not_estimable(log, data, Mean(options.scope), str(error))


def difference_of(a: Estimate, b: Estimate) -> Found:
    """Difference of two independent estimates.

    Two uniform-prior proportions give the odds ratio too (Bowyer et al. 2025, section 3.3); any other two posteriors
    are convolved, and two t distributions give the Behrens-Fisher posterior.

    Raises
    ------
    NotEstimableError : if either has no interval
    """
    notes = tuple(dict.fromkeys((*a.notes, *b.notes)))
    posterior_a, posterior_b = posterior_of(a), posterior_of(b)
    if _is_proportion(a) and _is_proportion(b):
        betas = [p for p in (posterior_a, posterior_b) if isinstance(p, BetaPosterior)]
        posterior = IndependentPosterior(*((beta.a, beta.b) for beta in betas))
        return Found(posterior, "independent", odds_ratio=float(posterior.odds_ratio_quantile(0.5)), notes=notes)
    return Found(difference_posterior(posterior_a, posterior_b), "independent", notes=notes)


def common_bounds(a: Estimate, b: Estimate) -> tuple[float, float] | None:
    """Range of both scores, None where unknown or not the same."""
    range_a, range_b = _range(a), _range(b)
    return range_a if range_a == range_b else None


def _range(row: Estimate) -> tuple[float, float] | None:
    if _is_proportion(row):
        return 0.0, 1.0
    return row.structure.bounds if row.structure else None


def _is_proportion(row: Estimate) -> bool:
    return row.method in ("beta", "totals")


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
