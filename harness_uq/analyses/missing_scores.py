"""Rank systems with trials that have no score: rank sets for any scores of these trials, and their effect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness_uq.analyses.compact_letter_display import group_letters
from harness_uq.data.missing_scores import Extreme, MissingCounts, MissingPolicies
from harness_uq.data.selection import ScoreKey, SelectedRun, higher_is_better, select_runs
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.inference.marginals import marginal
from harness_uq.inference.posterior import JointPosterior, paired_posterior
from harness_uq.inference.scenarios import identified
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import RANKS_DEPEND_ON_MISSING, UNMATCHED_QUESTIONS
from harness_uq.messages.errors import NotEstimableError
from harness_uq.options import Options
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.ranking import Ranking
from harness_uq.stats.pairs.rank_sets import RankSets

_N_DRAWS = 1000  # of joint scores of which only the rank sets are used
_EXTREMES: tuple[Extreme, Extreme] = ("worst", "best")

ExtremeRuns = Mapping[Extreme, Mapping[str, Mapping[ScoreKey, SelectedRun]]]
"""Data that represent each system, with extreme scores of the trials without a score."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenRanks:
    """Rank sets of a task for other scores of the trials without a score.

    `counts`: numbers of trials of each system with missing scores. `sets`: rank sets for any scores. `worst`: rank sets
    for the worst possible scores. `intervals`: interval of each score for any scores. `systems`: names of the systems,
    in the order of the other attributes. `n_questions`: number of questions that all systems share, with and without a
    score.
    """

    counts: tuple[MissingCounts, ...]
    sets: RankSets
    worst: RankSets
    intervals: tuple[Interval, ...]
    systems: tuple[str, ...]
    n_questions: int


def extreme_runs(logs: Sequence[TaskLog], options: Options, plugins: Plugins) -> ExtremeRuns:
    """The runs of each system with the worst and the best scores of trials whose scores are open.

    `logs`: task logs before policies for missing scores were applied.
    """
    policies = options.structure.missing
    chosen = MissingPolicies("bounds") if policies.is_default else policies
    return {
        extreme: select_runs(with_best_evidence(logs, plugins, replace(options.structure, missing=chosen.at(extreme))))
        for extreme in _EXTREMES
    }


def open_ranks(
    key: ScoreKey,
    joint: JointPosterior,
    entries: Sequence[SelectedRun],
    runs: ExtremeRuns,
    options: Options,
    plugins: Plugins,
) -> OpenRanks | None:
    """Rank sets for other scores of the trials without a score; None if all trials have one.

    System i is above system j if its score with the worst scores of its missing trials is significantly higher than the
    score of system j with the best. The rank sets that follow from these pairs contain all ranks at once. `key`: task,
    metric and filter. `joint`: joint scores without these trials. `entries`: the runs that were ranked. `runs`: the
    same runs with extreme scores. Raises NotEstimableError if the scores of the systems cannot be compared question by
    question.
    """
    counts = tuple(
        entry.data.missing for entry in entries if isinstance(entry.data, Scores) and entry.data.missing is not None
    )
    if not counts:
        return None
    at = {extreme: {name: runs[extreme][name][key] for name in joint.systems} for extreme in _EXTREMES}
    higher = higher_is_better(entries[0].log, key[1])
    worst = paired_posterior(list(at["worst"].values()), options, plugins, n_draws=_N_DRAWS)
    renamed = [
        replace(run, log=replace(run.log, system=f"{name} {extreme}"))
        for extreme in _EXTREMES
        for name, run in at[extreme].items()
    ]
    both = paired_posterior(renamed, options, plugins, n_draws=_N_DRAWS)
    n = len(joint.systems)
    if len(worst.systems) < n or len(both.systems) < 2 * n:
        return None
    sets = both.sets if higher else both.sets.mirrored()
    above = sets.above[:n, n:] & ~np.eye(n, dtype=bool)
    open_sets = RankSets(1 + above.sum(axis=0), n - above.sum(axis=1), above, sets.critical, sets.level)
    intervals = tuple(_interval(row, at, options, plugins) for row in joint.estimates)
    return OpenRanks(
        counts, open_sets, worst.sets if higher else worst.sets.mirrored(), intervals, joint.systems, both.n_questions
    )


def _interval(
    row: Estimate, at: Mapping[Extreme, Mapping[str, SelectedRun]], options: Options, plugins: Plugins
) -> Interval:
    """Interval of a score for any scores of its missing trials."""

    def estimate_at(extreme: Extreme, level: float) -> Estimate:
        return marginal(at[extreme][row.system], replace(options, level=level, interval="quantile"), plugins)

    interval = identified(row, estimate_at, options.level).interval
    if interval is None:
        raise NotEstimableError(f"the score of {row.system} is not estimable with extreme scores of missing trials")
    return interval


def with_open_ranks(ranking: Ranking, ranks: OpenRanks, policies: MissingPolicies) -> Ranking:
    """The ranking with the policy `bounds`, or with a warning that it depends on the default policy."""
    places = {name: k for k, name in enumerate(ranks.systems)}
    if policies.has_bounds:
        return _open_ranking(ranking, ranks, [places[row.system] for row in ranking.systems])
    leaders = tuple(row.system for row in ranking.systems if row.rank_set is not None and row.rank_set[0] == 1)
    others = [
        tuple(row.system for row in ranking.systems if sets.low[places[row.system]] == 1)
        for sets in (ranks.worst, ranks.sets)
    ]
    if all(other == leaders for other in others):
        return ranking
    warning = RANKS_DEPEND_ON_MISSING(
        n_missing=sum(count.n_missing for count in ranks.counts),
        dropped=leaders,
        worst=others[0],
        open=others[1],
    )
    return replace(ranking, messages=(*ranking.messages, warning))


def _open_ranking(ranking: Ranking, ranks: OpenRanks, order: Sequence[int]) -> Ranking:
    above = ranks.sets.above
    letters = group_letters((above | above.T)[np.ix_(order, order)])
    rows = []
    for row, k, group in zip(ranking.systems, order, letters, strict=True):
        low, high = int(ranks.sets.low[k]), int(ranks.sets.high[k])
        rows.append(
            replace(
                row,
                interval=ranks.intervals[k],
                prob_best=None,
                expected_rank=None,
                rank_low=low,
                rank_high=high,
                rank_set=(low, high),
                letters=group,
                letters_adjusted="",
                tied_rank=None,
            )
        )
    return replace(
        ranking,
        systems=tuple(rows),
        prob_better=None,
        prob_rank=None,
        adjusted_p=None,
        correction=None,
        neighbours=None,
        n_questions=ranks.n_questions,
        diagnostics={},
        messages=tuple(message for message in ranking.messages if message.code != UNMATCHED_QUESTIONS.code),
    )
