"""Several systems on the same questions: joint draws of their scores, and all pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.errors import NotEstimableError
from harness_uq.estimating.analysis import Options
from harness_uq.estimating.own import estimate_of
from harness_uq.logs.data import FloatArray, IntArray, Scores
from harness_uq.logs.newest import Chosen
from harness_uq.matching.scores import MatchedScores, match_scores
from harness_uq.plugins.manager import Plugins
from harness_uq.results.estimate import Interval
from harness_uq.stats.pairs.joint_student import joint_means
from harness_uq.stats.pairs.paired import paired_tables
from harness_uq.stats.pairs.rank_sets import RankSets, have_long_tails, rank_sets
from harness_uq.stats.pairs.ranks import default_prior_mass, joint_draws
from harness_uq.stats.trials.bayes_at_n import bayes_at_n

CORE_SHARE = 0.5
ROUNDING = 1e-12
MIXED = (
    "some systems were right or wrong once, others are graded: probabilities take the prior of the former for all "
    "systems, so that graded ones are told apart a little less readily than in a comparison of two"
)

LONG_TAILS = (
    "some scores are far from the others and their range is unknown, so that rank sets may be too narrow: where this "
    "was simulated, 95% sets held in about 92% of tables; --range {metric}=LO,HI helps where there is a range"
)


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """What is known of several systems' scores at once.

    Attributes
    ----------
    systems : names
    values : float (n_systems,); plain scores
    intervals : of each score by itself, as `estimate` gives it for these questions
    draws : float (n_systems, n_draws); from one joint posterior with the same prior for all
    sets : ranks that hold for all systems at once, 1 for the highest score
    p_values : float (n_systems, n_systems); of two-sided paired tests, NaN where a pair has none; None where none has
        one
    bayes_at_n : float (2, n_systems); means and standard deviations by Bayes@N, None with one trial a question or
        scores that are not 0/1
    n_questions, notes, warnings : for the report
    """

    systems: tuple[str, ...]
    values: FloatArray
    intervals: tuple[Interval, ...]
    draws: FloatArray
    sets: RankSets
    p_values: FloatArray | None
    bayes_at_n: FloatArray | None
    n_questions: int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def joint_scores(chosen: Sequence[Chosen], options: Options, plugins: Plugins, *, n_draws: int) -> JointScores:
    """Joint posterior of the scores of systems that answered the same questions, on new questions of the kind.

    A system that answered less than half of the questions that most others answered is left out; the others are
    compared on the questions that all of them answered.

    Parameters
    ----------
    chosen : data of one task, metric and filter, one a system
    options : of each system's own estimate; their seed is that of the joint draws
    n_draws : of the joint posterior

    Raises
    ------
    NotEstimableError : if fewer than two systems have questions in common
    """
    found = match_scores(chosen, options.structure, plugins)
    if len(found.trials) < 2:
        raise NotEstimableError("fewer than two systems have questions in common")
    if constant := _constant(found):
        rest = [entry for k, entry in enumerate(found.common.entries) if k not in constant]
        if not rest:
            raise NotEstimableError("fewer than two systems have scores that vary")
        joint = joint_scores(rest, options, plugins, n_draws=n_draws)
        return replace(joint, notes=(*found.notes, *constant.values(), *joint.notes))
    rng, means, labels = np.random.default_rng(options.seed), found.means, found.clusters.labels
    draws, notes = (
        _student(found, n_draws, rng) if found.bounds is None else _process(found, found.bounds, n_draws, rng)
    )
    p_values = _p_values(found)
    return JointScores(
        systems=found.common.systems,
        values=means.mean(axis=1),
        intervals=_intervals(found, draws, options, plugins),
        draws=draws,
        sets=rank_sets(means, clusters=labels, bounds=found.bounds, level=options.level, rng=rng),
        p_values=p_values,
        bayes_at_n=_bayes_at_n(found),
        n_questions=means.shape[1],
        notes=(*found.notes, *_said(found), *notes, *_untested(p_values)),
        warnings=(*found.warnings, *_long_tails(found)),
    )


# ---------------------------------------------------------------- what the systems' scores are like


def _is_single(found: MatchedScores) -> NDArray[np.bool_]:
    """Which systems answered every question once and were right or wrong; (n_systems,)."""
    return np.array([found.is_binary and trials.shape[1] == 1 for trials in found.trials])


def _constant(found: MatchedScores) -> dict[int, str]:
    """Notes on the systems of which nothing is known: their scores are all equal, and have no known range."""
    if found.bounds is not None:
        return {}
    return {
        k: f"{name} is left out: all its scores equal {row[0]:g}, and their range is unknown; "
        f"--range {found.metric}=LO,HI gives one"
        for k, (name, row) in enumerate(zip(found.common.systems, found.means, strict=True))
        if np.ptp(row) <= ROUNDING * np.abs(row).max()
    }


def _said(found: MatchedScores) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if found.clusters.labels is not None:
        notes += (f"questions are clustered by {found.clusters.key}: {found.clusters.n_clusters} clusters",)
    if found.bounds is None:
        notes += ("the scores have no known range: joint Student's t",)
    return notes


def _long_tails(found: MatchedScores) -> tuple[str, ...]:
    is_long = found.bounds is None and have_long_tails(found.means, clusters=found.clusters.labels)
    return (LONG_TAILS.format(metric=found.metric),) if is_long else ()


# ---------------------------------------------------------------- posteriors and tests


def _student(found: MatchedScores, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, tuple[str, ...]]:
    """Draws of scores without a range."""
    fit = joint_means(found.means, found.clusters.labels)
    size = np.abs(fit.mean)
    shifted = np.isnan(fit.pair_p_values()) & (np.abs(fit.mean[:, None] - fit.mean) > ROUNDING * (size[:, None] + size))
    if shifted.any():
        a, b = (found.common.systems[k] for k in np.argwhere(shifted)[0])
        raise NotEstimableError(f"{a} and {b} differ by the same amount everywhere, which shows no spread")
    return fit.draws(n_draws, rng), ()


def _process(
    found: MatchedScores, bounds: tuple[float, float], n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, tuple[str, ...]]:
    """Draws of bounded scores, with the widest of the systems' priors for all of them, and a note where they differ."""
    means, units = found.means, found.clusters.labels
    mass = default_prior_mass(means, *bounds, clusters=units)
    draws = joint_draws(means, *bounds, clusters=units, prior_mass=mass.max(), n_draws=n_draws, rng=rng)
    return draws, (MIXED,) if mass.min() < mass.max() else ()


def _intervals(found: MatchedScores, draws: FloatArray, options: Options, plugins: Plugins) -> tuple[Interval, ...]:
    """Each score's own interval; equal tails of the draws where it has none by itself."""
    tails = np.quantile(draws, [(1 - options.level) / 2, (1 + options.level) / 2], axis=1).T.tolist()
    own = [
        estimate_of(_in_common_clusters(entry, rows, found.clusters.labels), options, plugins, rows=rows).interval
        for entry, rows in zip(found.common.entries, found.common.rows, strict=True)
    ]
    return tuple(
        interval or Interval(low, high, options.level, "quantile")
        for interval, (low, high) in zip(own, tails, strict=True)
    )


def _in_common_clusters(entry: Chosen, rows: IntArray, labels: IntArray | None) -> Chosen:
    """The run with the clusters that hold on the questions of all."""
    if labels is None or not isinstance(entry.data, Scores):
        return entry
    codes = np.full(len(entry.data.values), -1)
    codes[rows] = labels
    return replace(entry, data=replace(entry.data, clusters=codes))


def _p_values(found: MatchedScores) -> FloatArray:
    """McNemar's exact test of two systems that were right or wrong once, (cluster-robust) t of other pairs."""
    try:
        p = joint_means(found.means, found.clusters.labels).pair_p_values()
    except NotEstimableError:
        p = np.where(np.eye(len(found.means), dtype=bool), 1.0, np.nan)
    if found.clusters.labels is None and _is_single(found).any():
        is_table = np.ix_(_is_single(found), _is_single(found))
        p[is_table] = _mcnemar(found.means[_is_single(found)])
    return p


def _untested(p_values: FloatArray) -> tuple[str, ...]:
    p = p_values[np.triu_indices(len(p_values), 1)]
    n = int(np.isnan(p).sum())
    return (f"{n} of {len(p)} pairs have no paired test: their differences do not vary",) if n else ()


def _mcnemar(correct: FloatArray) -> FloatArray:
    """McNemar's exact two-sided p-values of all pairs."""
    tables = paired_tables(correct)
    fewer = np.minimum(tables[..., 1], tables[..., 2])
    return np.asarray(np.minimum(1.0, 2 * special.bdtr(fewer, (tables[..., 1] + tables[..., 2]).astype(int), 0.5)))


def _bayes_at_n(found: MatchedScores) -> FloatArray | None:
    if not found.is_binary or _is_single(found).all():
        return None
    return np.array([bayes_at_n(trials) for trials in found.trials]).T
