"""Several systems on the same questions: joint draws of their scores, and all pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from harness_uq.alignment import AlignedScores, align
from harness_uq.analysis import clusters_of
from harness_uq.data import FloatArray, IntArray, Scores
from harness_uq.errors import NotEstimableError
from harness_uq.plugins import Plugins
from harness_uq.runs import Chosen
from harness_uq.stats.bayes_at_n import bayes_at_n
from harness_uq.stats.checks import identical_trials
from harness_uq.stats.joint_student import joint_means
from harness_uq.stats.paired import paired_tables
from harness_uq.stats.ranks import joint_draws, tied_ranks
from harness_uq.structure import StructureOptions, score_type_of

TIE_Z = 1.645
CORE_SHARE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class JointScores:
    """What is known of several systems' scores at once.

    Attributes
    ----------
    systems : names
    values : float (n_systems,); plain scores
    draws : float (n_systems, n_draws); from the joint posterior
    prob_better : float (n_systems, n_systems); P(row > column)
    p_values : the same of two-sided paired tests; None where there are none
    tied : ranks with ties by Bayes@N; None with one trial a question or scores that are not 0/1
    is_exact : prob_better needs no draws
    n_questions, notes, warnings : for the report
    """

    systems: tuple[str, ...]
    values: FloatArray
    draws: FloatArray
    prob_better: FloatArray
    p_values: FloatArray | None
    tied: IntArray | None
    is_exact: bool
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
    scores = [entry.data for entry in kept if isinstance(entry.data, Scores)]
    aligned = align([entry.log for entry in kept], scores)
    kind, bounds, _ = score_type_of(_stacked(aligned, scores), options.ranges)
    units, key = _units(kept, aligned, options, plugins)
    values = [_distinct_trials(trials) for trials in aligned.values]
    means = np.stack([np.nanmean(trials, axis=1) for trials in values])
    is_single = all(trials.shape[1] == 1 for trials in values)
    fit = joint_means(means, units)
    notes += _loss(kept, scores, aligned)
    if key and units is not None:
        notes += (f"questions are clustered by {key}: {len(np.unique(units))} clusters",)
    if bounds is None:
        draws, notes = fit.draws(n_draws, rng), (*notes, "the scores have no known range: joint Student's t")
    else:
        draws = joint_draws(means, *bounds, clusters=units, n_draws=n_draws, rng=rng)
    is_table = kind == "binary" and is_single and units is None
    return JointScores(
        systems=aligned.systems,
        values=means.mean(axis=1),
        draws=draws,
        prob_better=_prob_better_of_tables(means) if is_table else prob_better_of_draws(draws),
        p_values=_mcnemar(means) if is_table else fit.pair_p_values(),
        tied=_bayes_at_n_ranks(values) if kind == "binary" and not is_single else None,
        is_exact=is_table,
        n_questions=aligned.n_questions,
        notes=notes,
        warnings=aligned.warnings,
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


# ---------------------------------------------------------------- pieces


def _stacked(aligned: AlignedScores, scores: Sequence[Scores]) -> Scores:
    levels = [score.levels for score in scores]
    known = [level for level in levels if level is not None]
    union = tuple(sorted({x for level in known for x in level})) if len(known) == len(levels) else None
    values = aligned.values.reshape(-1, aligned.values.shape[2])
    return Scores(scores[0].metric, scores[0].filter, values, levels=union)


def _units(
    kept: Sequence[Chosen], aligned: AlignedScores, options: StructureOptions, plugins: Plugins
) -> tuple[IntArray | None, str | None]:
    """Clusters of the common questions, as the first log that has them says."""
    for entry, rows in zip(kept, aligned.rows, strict=True):
        clusters = clusters_of(entry.log, options, plugins)
        if clusters.codes is not None:
            codes = np.unique(clusters.codes[rows], return_inverse=True)[1]
            if codes.max() + 1 < len(codes):
                return np.asarray(codes, np.int64), clusters.key
    return None, None


def _distinct_trials(values: FloatArray) -> FloatArray:
    seen = values[:, ~np.isnan(values).all(axis=0)]
    return np.nanmean(seen, axis=1, keepdims=True) if identical_trials(seen) else seen


def _prob_better_of_tables(correct: FloatArray) -> FloatArray:
    """P(row > column) = P(r > 1/2), r ~ Beta(c10 + 1/2, c01 + 1/2), of the Dirichlet cells; exact."""
    tables = paired_tables(correct)
    return np.asarray(special.betainc(tables[..., 2] + 0.5, tables[..., 1] + 0.5, 0.5))


def _mcnemar(correct: FloatArray) -> FloatArray:
    """McNemar's exact two-sided p-values of all pairs."""
    tables = paired_tables(correct)
    fewer = np.minimum(tables[..., 1], tables[..., 2])
    return np.asarray(np.minimum(1.0, 2 * special.bdtr(fewer, (tables[..., 1] + tables[..., 2]).astype(int), 0.5)))


def _bayes_at_n_ranks(values: Sequence[FloatArray]) -> IntArray:
    moments = [bayes_at_n(trials) for trials in values]
    return tied_ranks([mean for mean, _ in moments], [sd for _, sd in moments], z=TIE_Z)
