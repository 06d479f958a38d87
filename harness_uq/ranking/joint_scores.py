"""Several systems on the same questions: joint draws of their scores, and all pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.errors import NotEstimableError
from harness_uq.logs.data import FloatArray
from harness_uq.logs.newest import Chosen
from harness_uq.matching.scores import MatchedScores, match_scores
from harness_uq.plugins.manager import Plugins
from harness_uq.stats.pairs.joint_pairs import prob_better
from harness_uq.stats.pairs.joint_student import joint_means
from harness_uq.stats.pairs.paired import paired_tables
from harness_uq.stats.pairs.ranks import default_prior_mass, joint_draws
from harness_uq.stats.trials.bayes_at_n import bayes_at_n
from harness_uq.structure.facts import StructureOptions

CORE_SHARE = 0.5
ROUNDING = 1e-12
MIXED = (
    "some systems were right or wrong once, others are graded: P(best) and ranks take the prior of graded scores for "
    "all systems, pairs and groups each pair's own"
)


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """What is known of several systems' scores at once.

    Attributes
    ----------
    systems : names
    values : float (n_systems,); plain scores
    draws : float (n_systems, n_draws); of each system's score, whatever the others'
    rank_draws : float (n_systems, n_draws); from one joint posterior with the same prior for all
    prob_better : float (n_systems, n_systems); P(row > column)
    p_values : the same of two-sided paired tests, NaN where a pair has none; None where no pair can have one
    bayes_at_n : float (2, n_systems); means and standard deviations by Bayes@N, None with one trial a question or
        scores that are not 0/1
    n_questions, notes, warnings : for the report
    """

    systems: tuple[str, ...]
    values: FloatArray
    draws: FloatArray
    rank_draws: FloatArray
    prob_better: FloatArray
    p_values: FloatArray | None
    bayes_at_n: FloatArray | None
    n_questions: int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def joint_scores(
    chosen: Sequence[Chosen],
    options: StructureOptions,
    plugins: Plugins,
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> JointScores:
    """Joint posterior of the scores of systems that answered the same questions, on new questions of the kind.

    A system that answered less than half of the questions that most others answered is left out; the others are
    compared on the questions that all of them answered.

    Parameters
    ----------
    chosen : data of one task, metric and filter, one a system
    n_draws, rng : of the joint draws

    Raises
    ------
    NotEstimableError : if fewer than two systems have questions in common
    """
    found = match_scores(chosen, options, plugins)
    if len(found.trials) < 2:
        raise NotEstimableError("fewer than two systems have questions in common")
    if constant := _constant(found):
        rest = [entry for k, entry in enumerate(found.common.entries) if k not in constant]
        if not rest:
            raise NotEstimableError("fewer than two systems have scores that vary")
        joint = joint_scores(rest, options, plugins, n_draws=n_draws, rng=rng)
        return replace(joint, notes=(*found.notes, *constant.values(), *joint.notes))
    posterior = _student(found, n_draws, rng) if found.bounds is None else _process(found, found.bounds, n_draws, rng)
    p_values = _p_values(found)
    return JointScores(
        systems=found.common.systems,
        values=found.means.mean(axis=1),
        draws=posterior.own,
        rank_draws=posterior.alike,
        prob_better=posterior.prob_better,
        p_values=p_values,
        bayes_at_n=_bayes_at_n(found),
        n_questions=found.means.shape[1],
        notes=(*found.notes, *_said(found), *posterior.notes, *_untested(p_values)),
        warnings=found.warnings,
    )


def prob_better_of_draws(draws: FloatArray) -> FloatArray:
    """P(row > column) as shares of joint draws; ties count one half."""
    above = np.stack([(row > draws).mean(axis=1) for row in draws])
    return np.asarray((above + 1 - above.T) / 2)


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


# ---------------------------------------------------------------- posteriors and tests


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """Draws with each system's own prior, draws with one prior for all, and P(row > column) of pairs alone."""

    own: FloatArray
    alike: FloatArray
    prob_better: FloatArray
    notes: tuple[str, ...] = ()


def _student(found: MatchedScores, n_draws: int, rng: np.random.Generator) -> _Joint:
    """Scores without a range."""
    fit = joint_means(found.means, found.clusters.labels)
    size = np.abs(fit.mean)
    shifted = np.isnan(fit.pair_p_values()) & (np.abs(fit.mean[:, None] - fit.mean) > ROUNDING * (size[:, None] + size))
    if shifted.any():
        a, b = (found.common.systems[k] for k in np.argwhere(shifted)[0])
        raise NotEstimableError(f"{a} and {b} differ by the same amount everywhere, which shows no spread")
    draws = fit.draws(n_draws, rng)
    return _Joint(draws, draws, prob_better_of_draws(draws))


def _process(found: MatchedScores, bounds: tuple[float, float], n_draws: int, rng: np.random.Generator) -> _Joint:
    """Bounded scores. P(row > column) is computed, and counted over draws where many pairs take many values."""
    means, units = found.means, found.clusters.labels

    def drawn(mass: FloatArray) -> FloatArray:
        return joint_draws(means, *bounds, clusters=units, prior_mass=mass, n_draws=n_draws, rng=rng)

    mass = default_prior_mass(means, *bounds, clusters=units)
    is_mixed = bool((mass != mass[0]).any())
    own = drawn(mass)
    alike = drawn(mass.min()) if is_mixed else own
    exact = prob_better(means, *bounds, clusters=units)
    unknown = np.isnan(exact)
    pairs = np.where(unknown, prob_better_of_draws(alike), exact) if unknown.any() else exact
    return _Joint(own, alike, pairs, (MIXED,) if is_mixed else ())


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
