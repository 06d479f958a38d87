"""Rank all systems on the questions that they have in common."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness_uq.analyses.joint_tasks import JointTasks, comparable_runs, joint_tasks
from harness_uq.analyses.overall.joint_scores import overall_tasks
from harness_uq.analyses.overall.rank import rank_tasks
from harness_uq.analyses.overall.select_tasks import TaskSelection
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.data.selection import ScoreKey
from harness_uq.data.task_log import log_of_array
from harness_uq.inference.compact_letter_display import group_letters, tie_groups
from harness_uq.inference.compared_runs import tables_named_alike
from harness_uq.inference.decisions import adjusted_array
from harness_uq.inference.joint_posterior import JointPosterior
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.scenarios import with_open_ranks
from harness_uq.inference.split_groups import split_by
from harness_uq.io.human_labels import selection_with_labels
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.comparison import RANKING_UNAVAILABLE, TOO_FEW_SYSTEMS
from harness_uq.messages.errors import DataError, NotEstimableError
from harness_uq.options import Correction, Options, resolve, resolve_arrays
from harness_uq.options_typed import RankKeywords, RankScoresKeywords
from harness_uq.results.ranking import Neighbours, RankedSystem, Ranking
from harness_uq.results.result_list import ResultList
from harness_uq.stats.pairs.rank_sets import RankSets
from harness_uq.stats.pairs.ranks import RankPosterior, rank_posterior, ranks_of_pair, tied_ranks
from harness_uq.stats.pairs.shrunk_scores import shrunk_draws

if TYPE_CHECKING:
    from pathlib import Path

    from harness_uq.io.human_labels import Label

BoolArray: TypeAlias = NDArray[np.bool_]

TIE_Z = 1.645


def rank(
    logs: Runs,
    options: Options | None = None,
    *,
    labels: "str | Path | Sequence[Label] | None" = None,
    inclusion_probabilities: str | None = None,
    plugins: Plugins | None = None,
    **keywords: "Unpack[RankKeywords]",
) -> ResultList[Ranking]:
    """Rank the systems of these logs on every task, metric and filter that at least two of them share.

    Parameters
    ----------
    logs : paths of logged runs, results in memory, lists of these, or a mapping from names of systems to them, as
        for `read_logs`. If a system has several runs of a task, the newest finished run
        without a sample limit is used
    options : options of the ranking
    labels : human labels that correct the scores of a grader: a CSV file with the columns `id`, `system` and `score`,
        the metric of the runs that contains them, or labels. The ranking then refers to the scores that people would
        give
    inclusion_probabilities : column of the file of labels with the probability with which each answer was drawn for
        labeling; by default `probability`, if there is one
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `level`, `scope`, `correction`, `seed`, `cluster`, `range`,
        `use_samples`, `task`, `metric`, `filter` and `model`; also `n_draws`, `by` as for `estimate`, and `overall`,
        `weights`, `normalize`, `chance`, `missing_tasks` and `generalize_over="task"` as for `estimate`. They take
        precedence over `options`

    Returns
    -------
    One ranking per task, metric and filter; the best system comes first. With `by`, one per group of questions instead,
    whose task is `TASK, FIELD: GROUP`. The attribute `overall` of the list is the `Overall` result with ranks, if it is
    requested; None if there is only one task

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if parameters exclude each other, or the options of the overall result do not fit the logs, as for
        `estimate`
    StructureError : if no task has a field of `by`, or the field has too many values
    NotEstimableError : if no two systems share a task and metric
    TypeError : if an option does not exist
    """
    chosen, selection = resolve(
        "rank", options, keywords, labels=labels, inclusion_probabilities=inclusion_probabilities
    )
    offered = plugins or load_plugins()
    read = tables_named_alike(task_logs(logs, offered, selection_with_labels(selection, labels)))
    rows = ResultList[Ranking]()
    if chosen.by:
        groups = split_by(read, chosen.by, chosen.structure, offered)
        rows += rankings_of(joint_tasks(comparable_runs(groups, chosen, offered), chosen, offered), chosen)
        if not chosen.requests_overall:
            return rows
    runs = comparable_runs(read, chosen, offered, labels=labels, inclusion_probabilities=inclusion_probabilities)
    selected = overall_tasks(runs, chosen, offered) if chosen.requests_overall else TaskSelection(())
    parts = {part for task in selected.tasks for part in task.parts}
    tasks = joint_tasks(runs, chosen, offered, parts if chosen.by else None)
    if not chosen.by:
        rows += rankings_of(tasks, chosen)
    if len(selected.tasks) > 1:
        rows.overall = rank_tasks(tasks, selected, chosen)
    return rows


def rankings_of(tasks: JointTasks, options: Options) -> list[Ranking]:
    """Rank the systems on each task, metric and filter.

    Raises
    ------
    NotEstimableError : if there is no task on which they can be ranked
    """
    if not tasks.joint:
        what = "a task and metric in common"
        raise NotEstimableError(
            RANKING_UNAVAILABLE(reasons=" For ".join(tasks.reasons)) if tasks.reasons else TOO_FEW_SYSTEMS(what=what)
        )
    adjusted = _adjusted([joint.p_values for joint in tasks.joint.values()], options.correction)
    n_pairs = sum(len(joint.systems) * (len(joint.systems) - 1) // 2 for joint in tasks.joint.values())
    rankings: list[Ranking] = []
    for (key, joint), p in zip(tasks.joint.items(), adjusted, strict=True):
        ranking = _ranking(key, joint, p, n_pairs, options, higher=tasks.runs.is_higher_better(key))
        found = tasks.open_ranks.get(key)
        rankings.append(ranking if found is None else with_open_ranks(ranking, found, options.structure.missing))
    return rankings


def rank_scores(
    scores: Mapping[str, ArrayLike],
    *,
    clusters: ArrayLike | None = None,
    options: Options | None = None,
    metric: str = "score",
    **keywords: "Unpack[RankScoresKeywords]",
) -> Ranking:
    """Rank systems by arrays of scores of the same questions.

    Parameters
    ----------
    scores : scores by name of the system: (n_questions,) or (n_questions, n_trials), as for `estimate_scores`
    clusters : labels (n_questions,), as for `estimate_scores`
    options : options of the ranking
    metric : name of the metric in the result
    **keywords : `level`, `scope`, `correction`, `n_draws` and `seed` as for `rank`, and `range`, the smallest and
        largest possible score. They take precedence over `options`

    Raises
    ------
    DataError : if the arrays have a different number of questions, clusters have a different shape, or a value is not a
        finite number
    NotEstimableError : if there are fewer than two systems
    TypeError : if an option does not exist

    Examples
    --------
    >>> ranking = rank_scores({"small": [1, 0, 0, 0, 1, 0], "large": [1, 1, 1, 0, 1, 1]})
    >>> [row.system for row in ranking.systems]
    ['large', 'small']
    """
    chosen = resolve_arrays("rank_scores", options, keywords, metric)
    logs = [log_of_array(values, name, clusters=clusters, metric=metric) for name, values in scores.items()]
    if len(counts := sorted({len(log.questions) for log in logs})) > 1:
        raise DataError(f"all arrays must have one row per question; got {counts[0]} and {counts[-1]} rows")
    return rank(logs, chosen)[0]


def _adjusted(tables: Sequence[FloatArray | None], correction: Correction) -> list[FloatArray | None]:
    """Adjust the p-values of all pairs; all pairs with a test form one family."""
    upper = [np.empty(0) if p is None else p[np.triu_indices(len(p), 1)] for p in tables]
    family = adjusted_array(np.concatenate(upper), correction)
    parts = np.split(family, np.cumsum([len(p) for p in upper])[:-1])
    return [None if p is None else _square(part, len(p)) for p, part in zip(tables, parts, strict=True)]


def _square(upper: FloatArray, n: int) -> FloatArray:
    """Build the symmetric matrix with this upper triangle and ones on the diagonal."""
    i, j = np.triu_indices(n, 1)
    square = np.ones((n, n))
    square[i, j] = square[j, i] = upper
    return square


def _ranking(
    key: ScoreKey,
    joint: JointPosterior,
    adjusted: FloatArray | None,
    n_pairs: int,
    options: Options,
    *,
    higher: bool,
) -> Ranking:
    sign = 1.0 if higher else -1.0
    order = np.argsort(-sign * joint.values, kind="stable")
    square = np.ix_(order, order)
    prob_better = joint.prob_positive if higher else joint.prob_positive.T
    is_pair = len(order) == 2
    ranks = ranks_of_pair(prob_better, options.level) if is_pair else _ranks(joint, sign, options.level)
    sets = joint.sets if higher else joint.sets.mirrored()
    tied = None if joint.bayes_at_n is None else tied_ranks(sign * joint.bayes_at_n[0], joint.bayes_at_n[1], z=TIE_Z)
    return Ranking(
        task=key[0],
        metric=key[1],
        filter=key[2],
        systems=_systems(joint, ranks, sets, _letters(joint.is_apart, adjusted, order, options.level), tied, order),
        prob_better=tuple(map(tuple, prob_better[square].tolist())),
        n_questions=joint.n_questions,
        n_comparisons=n_pairs,
        neighbours=_neighbours(joint.is_apart, sets.above | sets.above.T, order),
        adjusted_p=None if adjusted is None else tuple(map(tuple, adjusted[square].tolist())),
        correction=None if adjusted is None else options.correction,
        prob_rank=tuple(tuple(row) for row in ranks.probability[order].tolist()),
        diagnostics={} if is_pair else {"mc_error": float(ranks.mc_error.max()), "n_draws": float(options.n_draws)},
        messages=joint.messages,
    )


def _ranks(joint: JointPosterior, sign: float, level: float) -> RankPosterior:
    rng, order = joint.rng("ranks"), np.argsort(joint.systems, kind="stable")
    ranks = rank_posterior(sign * shrunk_draws(joint.draws[order], rng=rng), level=level, rng=rng)
    return ranks.of_systems(np.argsort(order))


def _systems(
    joint: JointPosterior,
    posterior: RankPosterior,
    sets: RankSets,
    letters: Sequence[tuple[str, str]],
    tied: IntArray | None,
    order: IntArray,
) -> tuple[RankedSystem, ...]:
    """Return the systems; the best comes first."""
    ties = tie_groups(posterior.low[order], posterior.high[order])
    return tuple(
        RankedSystem(
            system=joint.systems[i],
            value=float(joint.values[i]),
            interval=joint.intervals[i],
            prob_best=float(posterior.prob_best[i]),
            expected_rank=float(posterior.expected[i]),
            rank_low=int(posterior.low[i]),
            rank_high=int(posterior.high[i]),
            rank_set=(int(sets.low[i]), int(sets.high[i])),
            letters=group,
            tied_rank=None if tied is None else int(tied[i]),
            letters_adjusted=strict,
            tie_group=tie,
        )
        for i, (group, strict), tie in zip(order, letters, ties, strict=True)
    )


def _letters(is_apart: BoolArray, adjusted: FloatArray | None, order: IntArray, level: float) -> list[tuple[str, str]]:
    """Assign the letters of each system, based on the contrasts and on adjusted tests; the best system comes first."""
    square = np.ix_(order, order)
    strict = [""] * len(order) if adjusted is None else _letters_by_tests(adjusted[square], 1 - level)
    return list(zip(group_letters(is_apart[square]), strict, strict=True))


def _neighbours(is_apart: BoolArray, apart_at_once: BoolArray, order: IntArray) -> Neighbours:
    pairs = order[:-1], order[1:]
    return Neighbours(len(order) - 1, int((~is_apart[pairs]).sum()), int((~apart_at_once[pairs]).sum()))


def _letters_by_tests(adjusted: FloatArray, alpha: float) -> list[str]:
    """Assign letters based on adjusted p-values; a system without any test has a dash."""
    tested = ~np.isnan(adjusted)
    return [
        letters if row.sum() > 1 else "-" for letters, row in zip(group_letters(adjusted <= alpha), tested, strict=True)
    ]
