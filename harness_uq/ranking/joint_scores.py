"""Joint posterior draws of the scores of several systems on the same questions, and tests of all pairs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from harness_uq.alignment.aligned_scores import MatchedScores, match_scores
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import Scores
from harness_uq.errors import NotEstimableError
from harness_uq.estimation.single_system import estimate_of
from harness_uq.messages.catalogue.comparison import (
    CONSTANT_DIFFERENCE,
    MIXED_PRIORS,
    RANK_CLUSTERS,
    RANK_LONG_TAIL,
    RANK_STUDENT,
    SYSTEM_WITH_CONSTANT_SCORES,
    TOO_FEW_SYSTEMS,
    UNTESTED_PAIRS,
)
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options
from harness_uq.plugins.manager import Plugins
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.stats.pairs.joint_student import joint_means
from harness_uq.stats.pairs.paired import paired_tables
from harness_uq.stats.pairs.rank_sets import RankSets, has_long_tails, rank_sets
from harness_uq.stats.trials.bayes_at_n import bayes_at_n
from harness_uq.stats.units.draws import default_prior_mass, joint_draws

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """Joint inference about the scores of several systems.

    Attributes
    ----------
    systems : names of the systems
    values : float (n_systems,); observed scores
    intervals : marginal interval of each score, as `estimate` computes it for these questions
    draws : float (n_systems, n_draws); draws from a joint posterior with the same prior for all systems
    sets : simultaneous confidence sets of the ranks; rank 1 is the highest score
    p_values : float (n_systems, n_systems); p-values of two-sided paired tests, NaN for a pair without a test; None if
        no pair has a test
    bayes_at_n : float (2, n_systems); means and standard deviations by Bayes@N; None with one trial per question or
        with scores that are not 0/1
    n_questions, messages : number of questions and messages for the report
    estimates : the estimates to which the intervals belong
    matched : scores of the common questions; None if the posteriors of the systems are separate
    """

    systems: tuple[str, ...]
    values: FloatArray
    intervals: tuple[Interval, ...]
    draws: FloatArray
    sets: RankSets
    p_values: FloatArray | None
    bayes_at_n: FloatArray | None
    n_questions: int
    messages: tuple[Message, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    matched: MatchedScores | None = None


def joint_scores(chosen: Sequence[SelectedRun], options: Options, plugins: Plugins, *, n_draws: int) -> JointScores:
    """Compute the joint posterior of the population scores of systems that answered the same questions.

    A system that answered fewer than half of the questions that most others answered is excluded. The others are
    compared on the questions that all of them answered.

    Parameters
    ----------
    chosen : data of one task, metric and filter, one entry per system
    options : options of each system's estimate; their seed is also the seed of the joint draws
    n_draws : number of draws from the joint posterior

    Raises
    ------
    NotEstimableError : if fewer than two systems have questions in common
    """
    matched = match_scores(chosen, options.structure, plugins)
    if len(matched.trials) < 2:
        raise NotEstimableError(TOO_FEW_SYSTEMS(what="questions in common"))
    if constant := _constant(matched):
        rest = [entry for k, entry in enumerate(matched.common.entries) if k not in constant]
        if not rest:
            raise NotEstimableError(TOO_FEW_SYSTEMS(what="scores that vary"))
        joint = joint_scores(rest, options, plugins, n_draws=n_draws)
        return replace(joint, messages=distinct((*matched.notes, *constant.values(), *joint.messages)))
    rng, means, labels = np.random.default_rng(options.seed), matched.means, matched.clusters.labels
    draws, messages = (
        _student(matched, n_draws, rng) if matched.bounds is None else _process(matched, matched.bounds, n_draws, rng)
    )
    p_values = _p_values(matched)
    estimates = _estimates(matched, draws, options, plugins)
    return JointScores(
        systems=matched.common.systems,
        values=means.mean(axis=1),
        intervals=tuple(row.interval for row in estimates if row.interval is not None),
        draws=draws,
        sets=rank_sets(means, clusters=labels, bounds=matched.bounds, level=options.level, rng=rng),
        p_values=p_values,
        bayes_at_n=_bayes_at_n(matched),
        n_questions=means.shape[1],
        messages=(
            *matched.messages,
            *_assumptions(matched),
            *messages,
            *_untested(p_values),
            *_long_tails(matched),
        ),
        estimates=estimates,
        matched=matched,
    )


# ---------------------------------------------------------------- properties of the scores


def _constant(matched: MatchedScores) -> dict[int, Message]:
    """Return notes on systems without usable information: all their scores are equal, and the range is unknown."""
    if matched.bounds is not None:
        return {}
    return {
        k: SYSTEM_WITH_CONSTANT_SCORES(system=name, value=row[0], metric=matched.metric)
        for k, (name, row) in enumerate(zip(matched.common.systems, matched.means, strict=True))
        if np.ptp(row) <= ROUNDING * np.abs(row).max()
    }


def _assumptions(matched: MatchedScores) -> Iterator[Message]:
    if matched.clusters.labels is not None:
        yield RANK_CLUSTERS(key=matched.clusters.key, n_clusters=matched.clusters.n_clusters)
    if matched.bounds is None:
        yield RANK_STUDENT()


def _long_tails(matched: MatchedScores) -> tuple[Message, ...]:
    is_long = matched.bounds is None and has_long_tails(matched.means, clusters=matched.clusters.labels)
    return (RANK_LONG_TAIL(metric=matched.metric),) if is_long else ()


# ---------------------------------------------------------------- posteriors and tests


def _student(matched: MatchedScores, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, tuple[Message, ...]]:
    """Draw from the posterior of scores whose range is unknown."""
    fit = joint_means(matched.means, matched.clusters.labels)
    size = np.abs(fit.mean)
    shifted = np.isnan(fit.pair_p_values()) & (np.abs(fit.mean[:, None] - fit.mean) > ROUNDING * (size[:, None] + size))
    if shifted.any():
        a, b = (matched.common.systems[k] for k in np.argwhere(shifted)[0])
        raise NotEstimableError(CONSTANT_DIFFERENCE(system_a=a, system_b=b))
    return fit.draws(n_draws, rng), ()


def _process(
    matched: MatchedScores, bounds: tuple[float, float], n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, tuple[Message, ...]]:
    """Draw bounded scores with the widest of the systems' priors for all systems, and a note if the priors differ."""
    means, units = matched.means, matched.clusters.labels
    mass = default_prior_mass(means, *bounds, clusters=units)
    draws = joint_draws(means, *bounds, clusters=units, prior_mass=mass.max(), n_draws=n_draws, rng=rng)
    return draws, (MIXED_PRIORS(),) if mass.min() < mass.max() else ()


def _estimates(matched: MatchedScores, draws: FloatArray, options: Options, plugins: Plugins) -> tuple[Estimate, ...]:
    """Return the estimate of each score; one without an interval gets the equal-tailed interval of the draws."""
    tails = np.quantile(draws, [(1 - options.level) / 2, (1 + options.level) / 2], axis=1).T.tolist()
    own = [
        estimate_of(_in_common_clusters(entry, rows, matched.clusters.labels), options, plugins, rows=rows)
        for entry, rows in zip(matched.common.entries, matched.common.rows, strict=True)
    ]
    return tuple(
        replace(row, interval=row.interval or Interval(low, high, options.level, "quantile"))
        for row, (low, high) in zip(own, tails, strict=True)
    )


def _in_common_clusters(entry: SelectedRun, rows: IntArray, labels: IntArray | None) -> SelectedRun:
    """Return the run with the clusters that apply to the questions of all systems."""
    if labels is None or not isinstance(entry.data, Scores):
        return entry
    codes = np.full(len(entry.data.values), -1)
    codes[rows] = labels
    return replace(entry, data=replace(entry.data, clusters=codes))


def _p_values(matched: MatchedScores) -> FloatArray:
    """Test all pairs: McNemar's exact test for single binary trials, otherwise a (cluster-robust) t test."""
    try:
        p = joint_means(matched.means, matched.clusters.labels).pair_p_values()
    except NotEstimableError:
        p = np.where(np.eye(len(matched.means), dtype=bool), 1.0, np.nan)
    single = matched.is_single_binary
    if matched.clusters.labels is None and single.any():
        p[np.ix_(single, single)] = _mcnemar(matched.means[single])
    return p


def _untested(p_values: FloatArray) -> tuple[Message, ...]:
    p = p_values[np.triu_indices(len(p_values), 1)]
    n = int(np.isnan(p).sum())
    return (UNTESTED_PAIRS(n_untested=n, n_pairs=len(p)),) if n else ()


def _mcnemar(correct: FloatArray) -> FloatArray:
    """Compute McNemar's exact two-sided p-values of all pairs."""
    tables = paired_tables(correct)
    fewer = np.minimum(tables[..., 1], tables[..., 2])
    return np.asarray(np.minimum(1.0, 2 * special.bdtr(fewer, (tables[..., 1] + tables[..., 2]).astype(int), 0.5)))


def _bayes_at_n(matched: MatchedScores) -> FloatArray | None:
    if not matched.is_binary or matched.is_single_binary.all():
        return None
    return np.array([bayes_at_n(trials) for trials in matched.trials]).T
