"""From two runs of a task to the scores of the questions both answered, and from several tasks to one pool."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.alignment import AlignedScores, align
from harness_uq.analysis import clusters_of
from harness_uq.data import FloatArray, IntArray, Scores
from harness_uq.differences import Pair
from harness_uq.errors import NotEstimableError
from harness_uq.plugins import Plugins
from harness_uq.runs import Chosen
from harness_uq.stats.checks import identical_trials
from harness_uq.structure import StructureOptions, score_type_of
from harness_uq.task_groups import _item_labels, joined_labels

MATCHED_SHARE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Two runs of a task, question by question.

    Attributes
    ----------
    pair : the scores
    a, b : where they came from
    rows : int (2, n_questions); row of each matched question in either log
    n_unmatched : questions of A and of B that the other lacks
    n_trials : most trials a question
    cluster_key : name of what groups the questions, None where they are independent
    notes, warnings : for the report
    """

    pair: Pair
    a: Chosen
    b: Chosen
    rows: IntArray
    n_unmatched: tuple[int, int]
    n_trials: int
    cluster_key: str | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def pair_scores(a: Chosen, b: Chosen, options: StructureOptions, plugins: Plugins) -> Paired:
    """Match the questions of two runs.

    Raises
    ------
    NotEstimableError : if they cannot be matched, or too few can; the message says why
    """
    scores_a, scores_b = _scores(a), _scores(b)
    aligned = align([a.log, b.log], [scores_a, scores_b])
    warnings = (*aligned.warnings, *_identity_warning(a, b, scores_a, scores_b, aligned))
    n_smaller = min(int(scores_a.is_scored.sum()), int(scores_b.is_scored.sum()))
    if aligned.n_questions < MATCHED_SHARE * n_smaller:
        raise NotEstimableError(f"only {aligned.n_questions} of {n_smaller} questions match")
    values = [_distinct_trials(aligned.values[i]) for i in (0, 1)]
    stacked = Scores(scores_a.metric, scores_a.filter, aligned.values.reshape(-1, aligned.values.shape[2]))
    kind, bounds, _ = score_type_of(_with_levels(stacked, scores_a, scores_b), options.ranges)
    units, key, cluster_warnings = matched_units(a, b, aligned.rows, options, plugins)
    n_trials = max(v.shape[1] for v in values)
    pair = Pair(_means(values[0]), _means(values[1]), units, None, bounds, kind == "binary" and n_trials == 1)
    unmatched = (aligned.n_unmatched[0], aligned.n_unmatched[1])
    return Paired(pair, a, b, aligned.rows, unmatched, n_trials, key, aligned.notes, (*warnings, *cluster_warnings))


def pool(members: Sequence[Paired], weights: Sequence[float] | None) -> Pair:
    """The questions of several tasks as one.

    Parameters
    ----------
    members : the tasks, with one range of scores
    weights : of the tasks' scores; None for their sizes, so that every question counts alike

    Items that recur across the tasks in either system's logs, and clusters within one, are the independent units.
    """
    sizes = np.array([len(member.pair.a) for member in members], float)
    shares = sizes / sizes.sum() if weights is None else np.asarray(weights, float)
    each = np.repeat(shares / sizes, sizes.astype(int))
    units = _pooled_units(members)
    return Pair(
        a=np.concatenate([member.pair.a for member in members]),
        b=np.concatenate([member.pair.b for member in members]),
        units=None if len(np.unique(units)) == len(units) else units,
        weights=None if np.allclose(each, each[0], rtol=1e-12) else each / each.mean(),
        bounds=members[0].pair.bounds,
        is_single_binary=all(member.pair.is_single_binary for member in members),
    )


def _scores(chosen: Chosen) -> Scores:
    if not isinstance(chosen.data, Scores):
        raise NotEstimableError(f"the log of {chosen.log.system} holds no score a question")
    return chosen.data


def _identity_warning(
    a: Chosen, b: Chosen, scores_a: Scores, scores_b: Scores, aligned: AlignedScores
) -> tuple[str, ...]:
    """Two harnesses hash and number documents in their own ways: identifiers count only where all of them agree.

    Raises NotEstimableError where they do not: a shift by one would pair every question with its neighbour.
    """
    harnesses = a.log.source.harness, b.log.source.harness
    if aligned.matched_by == "content" or harnesses[0] == harnesses[1]:
        return ()
    same = {a.log.questions.ids[i] for i in np.flatnonzero(scores_a.is_scored)} == {
        b.log.questions.ids[i] for i in np.flatnonzero(scores_b.is_scored)
    }
    if not same:
        raise NotEstimableError(
            f"{harnesses[0]} and {harnesses[1]} identify documents in their own ways, and their identifiers differ"
        )
    return (
        f"{harnesses[0]} and {harnesses[1]} questions are matched by identifier alone: check that they number alike",
    )


def _with_levels(stacked: Scores, a: Scores, b: Scores) -> Scores:
    if a.levels is None or b.levels is None:
        return stacked
    levels = tuple(sorted({*a.levels, *b.levels}))
    return Scores(stacked.metric, stacked.filter, stacked.values, levels=levels)


def _distinct_trials(values: FloatArray) -> FloatArray:
    """The trials; one alone where all of every question are alike."""
    seen = values[:, ~np.isnan(values).all(axis=0)]
    return _means(seen)[:, None] if identical_trials(seen) else seen


def _means(values: FloatArray) -> FloatArray:
    return np.asarray(np.nanmean(values, axis=1))


def matched_units(
    a: Chosen, b: Chosen, rows: IntArray, options: StructureOptions, plugins: Plugins
) -> tuple[IntArray | None, str | None, tuple[str, ...]]:
    """Labels of the clusters of the matched questions; where the runs disagree, whatever either puts together.

    Parameters
    ----------
    rows : int (2, n_questions); row of each matched question in either log

    Returns
    -------
    The labels and what they are called, both None where every question is independent, and warnings
    """
    found = [clusters_of(chosen.log, options, plugins) for chosen in (a, b)]
    codes = [
        (clusters.codes if clusters.codes is not None else getattr(chosen.data, "clusters", None))
        for clusters, chosen in zip(found, (a, b), strict=True)
    ]
    present = [np.unique(c[r], return_inverse=True)[1] for c, r in zip(codes, rows, strict=True) if c is not None]
    warnings = tuple(dict.fromkeys(text for clusters in found for text in clusters.warnings))
    if not present:
        return None, None, warnings
    units = present[0] if len(present) == 1 else joined_labels(present[0], present[1])
    key = next((clusters.key for clusters in found if clusters.key), "cluster")
    return (None, None, warnings) if len(np.unique(units)) == len(units) else (units, key, warnings)


def _pooled_units(members: Sequence[Paired]) -> IntArray:
    within = [
        member.pair.units if member.pair.units is not None else np.arange(len(member.pair.a)) for member in members
    ]
    n_units = [int(units.max()) + 1 for units in within]
    joined = np.concatenate([units + start for units, start in zip(within, np.cumsum([0, *n_units[:-1]]), strict=True)])
    for side in (0, 1):
        logs = [(member.a, member.b)[side].log for member in members]
        items = _item_labels(logs, [member.rows[side] for member in members])
        joined = joined if items is None else joined_labels(joined, items)
    return joined
