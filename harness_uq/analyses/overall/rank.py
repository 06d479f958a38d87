"""Rank systems by their overall scores."""

from dataclasses import replace

import numpy as np

from harness_uq.analyses.joint_tasks import JointTasks
from harness_uq.analyses.overall.estimate import overall_result, refused
from harness_uq.analyses.overall.joint_scores import OverallScores, overall_scores
from harness_uq.analyses.overall.select_tasks import TaskSelection
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.inference.compact_letter_display import group_letters, tie_groups
from harness_uq.messages.errors import NotEstimableError, refusal_of
from harness_uq.options import Options
from harness_uq.results.overall import Overall, OverallSystem
from harness_uq.stats.pairs.rank_sets import rank_sets_of_normal
from harness_uq.stats.pairs.ranks import rank_posterior, ranks_of_pair
from harness_uq.stats.pairs.shrunk_scores import shrunk_draws


def rank_tasks(tasks: JointTasks, selection: TaskSelection, options: Options) -> Overall:
    """Rank systems by overall scores, from joint scores of the tasks.

    Raises
    ------
    DataError : if tasks are missing and the options do not allow it
    """
    try:
        scores = overall_scores(tasks, selection, options)
    except NotEstimableError as error:
        return refused(options, refusal_of(error))
    order, systems, prob_better = _ranks(scores)
    best_first = [systems[k] for k in order]
    result = overall_result(options, selection, scores.combination, best_first, scores.messages)
    return replace(result, prob_better=tuple(map(tuple, prob_better[np.ix_(order, order)].tolist())))


def _ranks(scores: OverallScores) -> tuple[IntArray, list[OverallSystem], FloatArray]:
    """Return the order of the systems, their scores with ranks, and the probabilities of all pairs.

    The ranks of two systems follow from their difference, those of more systems from joint draws.
    """
    sign, level = 1.0 if scores.combination.higher_is_better else -1.0, scores.options.level
    values = np.array([system.value for system in scores.systems])
    order = np.argsort(-sign * values, kind="stable")
    if len(values) == 1:
        return order, list(scores.systems), np.full((1, 1), 0.5)
    if len(values) == 2:
        pair = scores.difference(0, 1)
        first = pair.prob_positive if sign > 0 else 1 - pair.prob_positive
        prob_better = np.array([[0.5, first], [1 - first, 0.5]])
        flat = ranks = ranks_of_pair(prob_better, level)
        is_apart = pair.interval.low > 0 or pair.interval.high < 0
        above = (sign * np.subtract.outer(values, values) > 0) & is_apart
    else:
        rng = np.random.default_rng(scores.options.seed)
        draws = sign * scores.draws
        flat = rank_posterior(draws, level=level, rng=rng)
        prob_better = flat.prob_better
        ranks = rank_posterior(shrunk_draws(draws, rng=rng), level=level, rng=rng)
        above = rank_sets_of_normal(sign * values, np.cov(draws), level=level, rng=rng).above
    letters = dict(zip(order.tolist(), group_letters((above | above.T)[np.ix_(order, order)]), strict=True))
    ties = dict(zip(order.tolist(), tie_groups(ranks.low[order], ranks.high[order]), strict=True))
    from scipy.stats import rankdata  # importing scipy.stats takes longer than most estimates

    task_ranks = rankdata(-sign * scores.task_values, axis=1)
    best = (sign * scores.task_values).max(axis=1, keepdims=True)
    leads = (sign * scores.task_values >= best - 1e-12 * np.abs(best)).sum(axis=0)
    systems = [
        replace(
            system,
            prob_best=float(ranks.prob_best[k]),
            prob_best_flat=float(flat.prob_best[k]),
            expected_rank=float(ranks.expected[k]),
            rank_interval=(int(ranks.low[k]), int(ranks.high[k])),
            rank_set=(int(1 + above[:, k].sum()), int(len(above) - above[k].sum())),
            letters=letters[k],
            tie_group=ties[k],
            average_rank=float(task_ranks[:, k].mean()),
            tasks_led=int(leads[k]),
        )
        for k, system in enumerate(scores.systems)
    ]
    return order, systems, prob_better
