"""Match the questions of two runs of a task, and pool the matched questions of several tasks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.alignment.aligned_scores import MatchedScores, match_scores
from harness_uq.comparison.differences import Pair
from harness_uq.comparison.missing_scores import failed_for_other
from harness_uq.data.selection import SelectedRun
from harness_uq.data.task_log import IntArray
from harness_uq.messages import Message
from harness_uq.messages.catalogue.comparison import FAILED_FOR_ONE_SYSTEM
from harness_uq.plugins.manager import Plugins
from harness_uq.structure.structure import StructureOptions
from harness_uq.structure.task_groups import item_labels, joined_labels, labels_of_tasks


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Two runs of a task with matched questions.

    Attributes
    ----------
    pair : scores of the matched questions
    a, b : the two runs
    rows : int (2, n_questions); row of each matched question in each log
    n_unmatched : numbers of questions of A and of B that the other run lacks
    n_trials : maximum number of trials per question
    cluster_key : name of the field that defines the clusters; None if the questions are independent
    messages : notes and warnings
    """

    pair: Pair
    a: SelectedRun
    b: SelectedRun
    rows: IntArray
    n_unmatched: tuple[int, int]
    n_trials: int
    cluster_key: str | None
    messages: tuple[Message, ...] = ()


def pair_scores(a: SelectedRun, b: SelectedRun, options: StructureOptions, plugins: Plugins) -> Paired:
    """Match the questions of two runs.

    Raises
    ------
    NotEstimableError : if too few questions can be matched; the message gives the reason
    """
    matched = match_scores([a, b], options, plugins)
    n_failed = [int(failed_for_other(run, other).sum()) for run, other in ((b, a), (a, b))]
    return replace(matched_pair(matched, 0, 1), messages=(*matched.messages, *_failures(a, b, n_failed)))


def matched_pair(matched: MatchedScores, i: int, j: int) -> Paired:
    """Return the scores of two of the systems on the questions that all of them answered."""
    of_a, of_b = (np.nanmean(matched.trials[k], axis=1) for k in (i, j))
    n_trials = max(matched.trials[k].shape[1] for k in (i, j))
    return Paired(
        pair=Pair(
            a=of_a,
            b=of_b,
            units=matched.clusters.labels,
            weights=None,
            bounds=matched.bounds,
            is_single_binary=matched.is_binary and n_trials == 1,
            n_repeated=n_trials if matched.is_binary else 1,
        ),
        a=matched.common.entries[i],
        b=matched.common.entries[j],
        rows=matched.common.rows[[i, j]],
        n_unmatched=(matched.common.n_unmatched[i], matched.common.n_unmatched[j]),
        n_trials=n_trials,
        cluster_key=matched.clusters.key,
    )


@dataclass(frozen=True, slots=True, eq=False)
class MatchedScore:
    """The matched questions of a task, or of several tasks that are pooled.

    Attributes
    ----------
    members : the tasks
    weights : weights of the tasks; None weights each task by its size
    is_pooled : whether the questions of all members are pooled
    """

    members: tuple[Paired, ...]
    weights: Sequence[float] | None = None
    is_pooled: bool = False

    @property
    def pair(self) -> Pair:
        """The scores of all questions."""
        return pool(self.members, self.weights) if self.is_pooled else self.members[0].pair


def _failures(a: SelectedRun, b: SelectedRun, n_failed: Sequence[int]) -> tuple[Message, ...]:
    if not any(n_failed):
        return ()
    systems = {"system_a": a.log.system, "system_b": b.log.system}
    return (FAILED_FOR_ONE_SYSTEM(n_questions=sum(n_failed), n_a=n_failed[0], n_b=n_failed[1], **systems),)


def pool(members: Sequence[Paired], weights: Sequence[float] | None) -> Pair:
    """Pool the questions of several tasks.

    Parameters
    ----------
    members : the tasks; all scores have the same range
    weights : weights of the tasks' scores; None weights each task by its size, so that all questions have equal weight

    Questions that share an item across tasks, or a cluster within a task, in the logs of either system form one
    independent unit.
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
        n_repeated=min(member.pair.n_repeated for member in members),
    )


def _pooled_units(members: Sequence[Paired]) -> IntArray:
    joined = labels_of_tasks([one.pair.units for one in members], [len(one.pair.a) for one in members])
    for side in (0, 1):
        logs = [(member.a, member.b)[side].log for member in members]
        items = item_labels(logs, [member.rows[side] for member in members])
        joined = joined if items is None else joined_labels(joined, items)
    return joined
