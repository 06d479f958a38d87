"""Several systems on the same questions: joint draws of their scores, and all pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness_uq.alignment import AlignedScores, align
from harness_uq.analysis import clusters_of
from harness_uq.data import FloatArray, IntArray, Scores
from harness_uq.errors import NotEstimableError
from harness_uq.plugins import Plugins
from harness_uq.runs import Chosen
from harness_uq.stats.bayes_at_n import bayes_at_n
from harness_uq.stats.checks import identical_trials
from harness_uq.stats.joint_pairs import prob_better
from harness_uq.stats.joint_student import joint_means
from harness_uq.stats.paired import paired_tables
from harness_uq.stats.ranks import default_prior_mass, joint_draws
from harness_uq.structure import StructureOptions, score_type_of
from harness_uq.task_groups import joined_labels

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
    kept, notes = _complete(chosen)
    found = _matched(kept, options, plugins)
    if found.constant:
        rest = [entry for k, entry in enumerate(kept) if k not in found.constant]
        joint = joint_scores(rest, options, plugins, n_draws=n_draws, rng=rng)
        return replace(joint, notes=(*notes, *found.constant.values(), *joint.notes))
    posterior = _student(found, n_draws, rng) if found.bounds is None else _process(found, found.bounds, n_draws, rng)
    p_values = _p_values(found)
    return JointScores(
        systems=found.systems,
        values=found.means.mean(axis=1),
        draws=posterior.own,
        rank_draws=posterior.alike,
        prob_better=posterior.prob_better,
        p_values=p_values,
        bayes_at_n=_bayes_at_n(found),
        n_questions=found.means.shape[1],
        notes=(*notes, *found.notes, *posterior.notes, *_untested(p_values)),
        warnings=found.warnings,
    )


def prob_better_of_draws(draws: FloatArray) -> FloatArray:
    """P(row > column) as shares of joint draws; ties count one half."""
    above = np.stack([(row > draws).mean(axis=1) for row in draws])
    return np.asarray((above + 1 - above.T) / 2)


# ---------------------------------------------------------------- incomplete crossings


def _complete(chosen: Sequence[Chosen]) -> tuple[list[Chosen], tuple[str, ...]]:
    """Systems that share at least half of the core: the questions that at least half of the systems answered."""
    known = [entry for entry in chosen if isinstance(entry.data, Scores)]
    notes = tuple(
        f"{entry.log.system} is left out: its log holds no score a question" for entry in chosen if entry not in known
    )
    if len(known) < 2:
        raise NotEstimableError("fewer than two systems have a score a question")
    held = _identities(known)
    counts: dict[str, int] = {}
    for questions in held:
        for question in questions:
            counts[question] = counts.get(question, 0) + 1
    core = {question for question, n in counts.items() if 2 * n >= len(known)}
    kept = [
        entry for entry, questions in zip(known, held, strict=True) if len(core & questions) >= CORE_SHARE * len(core)
    ]
    for entry, questions in zip(known, held, strict=True):
        if entry not in kept:
            n = len(core & questions)
            notes += (
                f"{entry.log.system} is left out: it answered {n} of the {len(core)} questions that most answered",
            )
    if not core or len(kept) < 2:
        raise NotEstimableError("fewer than two systems have questions in common")
    return kept, notes


def _identities(chosen: Sequence[Chosen]) -> list[set[str]]:
    """What identifies the scored questions of each system: content where all logs have it, else identifiers."""
    rows = [np.flatnonzero(entry.data.is_scored) for entry in chosen if isinstance(entry.data, Scores)]
    by_id = [{entry.log.questions.ids[i] for i in r} for entry, r in zip(chosen, rows, strict=True)]
    if not all(entry.log.questions.hashes for entry in chosen):
        return by_id
    by_content = [{entry.log.questions.hashes[i] for i in r} for entry, r in zip(chosen, rows, strict=True)]
    shared = _most_shared(by_content)
    return by_content if shared >= CORE_SHARE * _most_shared(by_id) else by_id


def _most_shared(held: Sequence[set[str]]) -> int:
    """Questions that the first system shares with the one most like it."""
    return max(len(held[0] & other) for other in held[1:])


def _loss(kept: Sequence[Chosen], scores: Sequence[Scores], aligned: AlignedScores) -> tuple[str, ...]:
    most = max(int(score.is_scored.sum()) for score in scores)
    if aligned.n_questions == most:
        return ()
    return (
        f"{aligned.n_questions} questions are common to all {len(kept)} systems; the other "
        f"{most - aligned.n_questions} of up to {most} are left out",
    )


# ---------------------------------------------------------------- common questions


@dataclass(frozen=True, slots=True, eq=False)
class _Matched:
    """Scores of the systems on the questions that all of them answered.

    Attributes
    ----------
    trials : float (n_questions, n_trials), one a system
    means : float (n_systems, n_questions)
    is_binary, bounds : of a score; bounds are None where the range is unknown
    units : labels of the clusters; None where questions are independent
    """

    systems: tuple[str, ...]
    trials: tuple[FloatArray, ...]
    means: FloatArray
    is_binary: bool
    bounds: tuple[float, float] | None
    units: IntArray | None
    metric: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def is_single(self) -> NDArray[np.bool_]:
        """Which systems answered every question once and were right or wrong; (n_systems,)."""
        return np.array([self.is_binary and trials.shape[1] == 1 for trials in self.trials])

    @property
    def constant(self) -> dict[int, str]:
        """Notes on the systems of which nothing is known: their scores are all equal, and have no known range."""
        if self.bounds is not None:
            return {}
        return {
            k: f"{name} is left out: all its scores equal {row[0]:g}, and their range is unknown; "
            f"--range {self.metric}=LO,HI gives one"
            for k, (name, row) in enumerate(zip(self.systems, self.means, strict=True))
            if np.ptp(row) <= ROUNDING * np.abs(row).max()
        }


def _matched(kept: Sequence[Chosen], options: StructureOptions, plugins: Plugins) -> _Matched:
    scores = [entry.data for entry in kept if isinstance(entry.data, Scores)]
    aligned = align([entry.log for entry in kept], scores)
    kind, bounds, _ = score_type_of(_stacked(aligned, scores), options.ranges)
    trials = tuple(_distinct_trials(values) for values in aligned.values)
    units, key, warnings = _units(kept, aligned, options, plugins)
    notes = _loss(kept, scores, aligned)
    if units is not None:
        notes += (f"questions are clustered by {key}: {len(np.unique(units))} clusters",)
    if bounds is None:
        notes += ("the scores have no known range: joint Student's t",)
    return _Matched(
        systems=aligned.systems,
        trials=trials,
        means=np.stack([np.nanmean(values, axis=1) for values in trials]),
        is_binary=kind == "binary",
        bounds=bounds,
        units=units,
        metric=scores[0].metric,
        notes=notes,
        warnings=(*aligned.warnings, *warnings),
    )


def _stacked(aligned: AlignedScores, scores: Sequence[Scores]) -> Scores:
    levels = [score.levels for score in scores]
    known = [level for level in levels if level is not None]
    union = tuple(sorted({x for level in known for x in level})) if len(known) == len(levels) else None
    values = aligned.values.reshape(-1, aligned.values.shape[2])
    return Scores(scores[0].metric, scores[0].filter, values, levels=union)


def _units(
    kept: Sequence[Chosen], aligned: AlignedScores, options: StructureOptions, plugins: Plugins
) -> tuple[IntArray | None, str | None, tuple[str, ...]]:
    """Labels of the clusters of the common questions; where the logs disagree, whatever any of them puts together."""
    found = [clusters_of(entry.log, options, plugins) for entry in kept]
    codes = [
        clusters.codes if clusters.codes is not None else getattr(entry.data, "clusters", None)
        for clusters, entry in zip(found, kept, strict=True)
    ]
    held = zip(codes, aligned.rows, strict=True)
    present = [np.unique(code[rows], return_inverse=True)[1] for code, rows in held if code is not None]
    warnings = tuple(dict.fromkeys(text for clusters in found for text in clusters.warnings))
    if not present:
        return None, None, warnings
    units = reduce(joined_labels, np.unique(present, axis=0))
    key = next((clusters.key for clusters in found if clusters.key), "cluster")
    return (None, None, warnings) if len(np.unique(units)) == len(units) else (units, key, warnings)


def _distinct_trials(values: FloatArray) -> FloatArray:
    seen = values[:, ~np.isnan(values).all(axis=0)]
    return np.nanmean(seen, axis=1, keepdims=True) if identical_trials(seen) else seen


# ---------------------------------------------------------------- posteriors and tests


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """Draws with each system's own prior, draws with one prior for all, and P(row > column) of pairs alone."""

    own: FloatArray
    alike: FloatArray
    prob_better: FloatArray
    notes: tuple[str, ...] = ()


def _student(found: _Matched, n_draws: int, rng: np.random.Generator) -> _Joint:
    """Scores without a range."""
    fit = joint_means(found.means, found.units)
    size = np.abs(fit.mean)
    shifted = np.isnan(fit.pair_p_values()) & (np.abs(fit.mean[:, None] - fit.mean) > ROUNDING * (size[:, None] + size))
    if shifted.any():
        a, b = (found.systems[k] for k in np.argwhere(shifted)[0])
        raise NotEstimableError(f"{a} and {b} differ by the same amount everywhere, which shows no spread")
    draws = fit.draws(n_draws, rng)
    return _Joint(draws, draws, prob_better_of_draws(draws))


def _process(found: _Matched, bounds: tuple[float, float], n_draws: int, rng: np.random.Generator) -> _Joint:
    """Bounded scores. P(row > column) is computed, and counted over draws where many pairs take many values."""

    def drawn(mass: FloatArray) -> FloatArray:
        return joint_draws(found.means, *bounds, clusters=found.units, prior_mass=mass, n_draws=n_draws, rng=rng)

    mass = default_prior_mass(found.means, *bounds, clusters=found.units)
    is_mixed = bool((mass != mass[0]).any())
    own = drawn(mass)
    alike = drawn(mass.min()) if is_mixed else own
    exact = prob_better(found.means, *bounds, clusters=found.units)
    unknown = np.isnan(exact)
    pairs = np.where(unknown, prob_better_of_draws(alike), exact) if unknown.any() else exact
    return _Joint(own, alike, pairs, (MIXED,) if is_mixed else ())


def _p_values(found: _Matched) -> FloatArray:
    """McNemar's exact test of two systems that were right or wrong once, (cluster-robust) t of other pairs."""
    try:
        p = joint_means(found.means, found.units).pair_p_values()
    except NotEstimableError:
        p = np.where(np.eye(len(found.means), dtype=bool), 1.0, np.nan)
    if found.units is None and found.is_single.any():
        is_table = np.ix_(found.is_single, found.is_single)
        p[is_table] = _mcnemar(found.means[found.is_single])
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


def _bayes_at_n(found: _Matched) -> FloatArray | None:
    if not found.is_binary or found.is_single.all():
        return None
    return np.array([bayes_at_n(trials) for trials in found.trials]).T
