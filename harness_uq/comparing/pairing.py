"""From two runs of a task to the scores of the questions both answered, and from several tasks to one pool."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness_uq.comparing.differences import Pair
from harness_uq.logs.data import IntArray
from harness_uq.logs.newest import Chosen
from harness_uq.matching.scores import match_scores
from harness_uq.plugins.manager import Plugins
from harness_uq.structure.facts import StructureOptions
from harness_uq.structure.task_groups import item_labels, joined_labels


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
    found = match_scores([a, b], options, plugins)
    of_a, of_b = found.means
    n_trials, n_unmatched = found.n_trials, found.common.n_unmatched
    return Paired(
        pair=Pair(of_a, of_b, found.clusters.labels, None, found.bounds, found.is_binary and n_trials == 1),
        a=a,
        b=b,
        rows=found.common.rows,
        n_unmatched=(n_unmatched[0], n_unmatched[1]),
        n_trials=n_trials,
        cluster_key=found.clusters.key,
        notes=found.notes,
        warnings=found.warnings,
    )


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


def _pooled_units(members: Sequence[Paired]) -> IntArray:
    within = [
        member.pair.units if member.pair.units is not None else np.arange(len(member.pair.a)) for member in members
    ]
    n_units = [int(units.max()) + 1 for units in within]
    joined = np.concatenate([units + start for units, start in zip(within, np.cumsum([0, *n_units[:-1]]), strict=True)])
    for side in (0, 1):
        logs = [(member.a, member.b)[side].log for member in members]
        items = item_labels(logs, [member.rows[side] for member in members])
        joined = joined if items is None else joined_labels(joined, items)
    return joined
