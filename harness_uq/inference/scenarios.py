"""What trials without a score may change: results with the worst and with the best possible scores of these trials.

A difference is smallest with the worst scores of the first system and the best ones of the second, and largest with the
reverse. With the policy `bounds` these two ends are joined: an interval contains both (Imbens and Manski 2004), a
verdict or a decision holds at both. Without a policy, the result is that of the trials with a score, and a warning says
whether it would be another one with the worst scores or with any scores.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from scipy.special import bdtrc

from harness_uq.data.missing_scores import Extreme, MissingCounts, MissingPolicies
from harness_uq.data.selection import ScoreKey, SelectedRun, higher_is_better, select_runs
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Scores, TaskData
from harness_uq.inference.compact_letter_display import group_letters, tie_groups
from harness_uq.inference.compared_runs import Side
from harness_uq.inference.decisions import alone_in_family, with_difference, with_interval
from harness_uq.inference.diagnostics import once_about_missing
from harness_uq.inference.evidence import OpenLogs
from harness_uq.inference.joint_posterior import JointPosterior, paired_posterior
from harness_uq.inference.marginals import estimate_data, marginal
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import (
    RANKS_DEPEND_ON_MISSING,
    UNMATCHED_QUESTIONS,
    VERDICT_DEPENDS_ON_MISSING,
)
from harness_uq.messages.catalogue.estimation import IDENTIFIED_RANGE, MISSING_SCORES_MATTER
from harness_uq.messages.errors import NotEstimableError
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.gate import Decision, Gate, GateRow, RequirementRow
from harness_uq.results.ranking import Ranking
from harness_uq.stats.pairs.rank_sets import RankSets
from harness_uq.stats.trials.partial_identification import IdentifiedPosterior, imbens_manski_level

_FEW = 0.02  # a share of missing scores that is not reported if it may be as low as this
_ALPHA = 0.05
_NOTABLE = 0.5  # largest shift of the score by missing trials, in standard errors, that is not reported
_N_DRAWS = 1000  # of joint scores of which only the rank sets are used
_EXTREMES: tuple[Extreme, Extreme] = ("worst", "best")

T = TypeVar("T")
EstimateAt: TypeAlias = Callable[[Extreme, float], Estimate]
"""Estimate of a score with the worst or the best possible scores of missing trials, at a level."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Generic[T]):
    """Results of two systems with other scores of the trials without a score."""

    ends: tuple[T, T]  # with the worst scores of the first system and the best of the second, and the reverse
    worst: T | None  # with the worst scores of both; None if the user chose the policy `bounds`


def over_scenarios(
    sides: tuple[Side, Side | None],
    structure: StructureOptions,
    plugins: Plugins,
    analyze: Callable[[Side, Side | None], T],
) -> Outcome[T] | None:
    """Analyze two systems, or one, with extreme scores of the trials without a score; None if no score is open."""
    logs = [None if side is None else OpenLogs(side.logged, structure, plugins) for side in sides]
    if logs[0] is None or not logs[0].are_open or not any(side.missing for side in sides if side is not None):
        return None

    def at(*extremes: Extreme) -> T:
        first, second = (
            None if side is None or of_side is None else side.with_logs(of_side.at(extreme))
            for side, of_side, extreme in zip(sides, logs, extremes, strict=True)
        )
        return analyze(first or sides[0], second)

    ends = at("worst", "best"), at("best", "worst")
    return Outcome(ends, None if structure.missing.has_bounds else at("worst", "worst"))


# ---------------------------------------------------------------- scores


def with_open_score(
    row: Estimate, data: TaskData, logs: OpenLogs, place: tuple[int, int], options: Options
) -> Estimate:
    """The estimate for the policy `bounds`, or with a warning that it depends on the default policy.

    `place` is the position of the log, and that of its metric, whose estimate without the open trials is `row`.
    """

    def estimated(extreme: Extreme, how: Options) -> Estimate:
        read = logs.at(extreme)
        log = read[place[0]]
        return estimate_data(log, log.data[place[1]], read, how, logs.plugins)

    def at(extreme: Extreme, level: float) -> Estimate:
        return estimated(extreme, replace(options, level=level, interval="quantile"))

    if logs.policies.has_bounds:
        return identified(row, at, options.level)
    if isinstance(data, Scores) and data.missing is not None:
        return with_sensitivity(row, data.missing, at, lambda: estimated("worst", options), options.level)
    return row


def identified(row: Estimate, at: EstimateAt, level: float) -> Estimate:
    """The estimate with an interval that is valid for any scores of the trials with the policy `bounds`.

    `row`: estimate without these trials, whose value is kept. `at`: estimates with the worst and the best scores of
    these trials.
    """
    ends = {extreme: at(extreme, level) for extreme in _EXTREMES}
    for end in ends.values():
        if end.interval is None or end.value is None:
            return end
    first, second = sorted(_EXTREMES, key=lambda extreme: ends[extreme].value or 0.0)
    limits = ends[first].value or 0.0, ends[second].value or 0.0
    std_error = max(end.std_error or 0.0 for end in ends.values())
    outer = imbens_manski_level(limits[1] - limits[0], std_error, level)
    low, high = at(first, outer).interval, at(second, outer).interval
    if low is None or high is None:
        return ends[first]
    # quantiles of a posterior exclude a score at the end of the range, such as 1 if all scores may be 1
    ends_of_interval = min(low.low, limits[0]), max(high.high, limits[1])
    return replace(
        row,
        interval=Interval(*ends_of_interval, level, "confidence" if row.posterior is None else "quantile"),
        std_error=None,
        posterior=None,
        posterior_mean=None,
        identified_range=limits,
        messages=(*row.messages, IDENTIFIED_RANGE(quantity="score", low=limits[0], high=limits[1])),
    )


def with_sensitivity(
    row: Estimate, counts: MissingCounts, at: EstimateAt, at_worst: Callable[[], Estimate], level: float
) -> Estimate:
    """Warn if trials without a score, which are left out by default, could move the score by half a standard error.

    `row`: estimate without the trials. `counts`: numbers of trials; nothing is reported unless significantly more than
    2 % have no score. `at`: estimates with the worst and the best scores of all these trials, with quantiles as limits.
    `at_worst`: the estimate with the worst scores, with the kind of interval of `row`.
    """
    has_few = bdtrc(counts.n_missing - 1, counts.n_trials, _FEW) > _ALPHA
    if has_few or row.interval is None or row.value is None:
        return row
    worst, wide = at_worst(), identified(row, at, level)
    if wide.identified_range is None or wide.interval is None or worst.interval is None or worst.value is None:
        return row
    shift = max(abs(end - row.value) for end in wide.identified_range)
    if shift <= _NOTABLE * (row.std_error or 0.0):
        return row
    warning = MISSING_SCORES_MATTER(
        n_missing=counts.n_missing,
        n_trials=counts.n_trials,
        value=row.value,
        low=row.interval.low,
        high=row.interval.high,
        worst=worst.value,
        worst_low=worst.interval.low,
        worst_high=worst.interval.high,
        lowest=wide.interval.low,
        highest=wide.interval.high,
        causes=counts.causes,
    )
    return replace(row, messages=once_about_missing((*row.messages, warning)))


# ---------------------------------------------------------------- differences


def with_open_differences(
    rows: list[Comparison],
    sides: tuple[Side, Side],
    options: Options,
    plugins: Plugins,
    compare: Callable[[Side, Side], list[Comparison]],
) -> list[Comparison]:
    """Apply the policy `bounds`, or warn if a verdict depends on the default policy.

    `rows` are the comparisons without the trials that have no score; `compare` compares sides in which they have other
    scores, and corrects the verdicts.
    """

    def compared(first: Side, second: Side | None) -> dict[ScoreKey, Comparison]:
        return {row.key: row for row in compare(first, second or sides[1])}

    outcome = over_scenarios(sides, options.structure, plugins, compared)
    if outcome is None:
        return rows
    open_rows = {  # tasks may be pooled only without extreme scores, with which their ranges differ
        row.key: identified_difference(row, [end[row.key] for end in outcome.ends], options.level, is_alone=is_alone)
        for row, is_alone in zip(rows, alone_in_family(rows), strict=True)
        if all(row.key in end for end in outcome.ends)
    }
    if outcome.worst is None:
        return list(open_rows.values())
    return [
        _with_warning(row, outcome.worst.get(row.key), open_rows[row.key], sides) if row.key in open_rows else row
        for row in rows
    ]


def identified_difference(
    row: Comparison, ends: Sequence[Comparison], level: float, *, is_alone: bool = True
) -> Comparison:
    """The comparison for any scores of the open trials, whose extremes `ends` gives.

    If the row is not alone in its family, its verdict remains after correction if that of both ends does.
    """
    for end in ends:
        if end.difference is None or end.posterior is None:
            return end
    low, high = sorted(ends, key=lambda end: end.difference.value if end.difference else 0.0)
    if low.difference is None or high.difference is None or low.posterior is None or high.posterior is None:
        return row
    posterior = IdentifiedPosterior(low.posterior, high.posterior)
    interval = Interval(*posterior.interval(level), level, low.difference.interval.kind)
    limits = low.difference.value, high.difference.value
    value = row.difference.value if row.difference else posterior.mean
    found = with_difference(low, Difference(value, posterior.sd, interval))
    remains = is_alone or all(end.verdict_corrected == found.verdict for end in ends)
    known = [end.prob_noninferior for end in ends if end.prob_noninferior is not None]
    return replace(
        found,
        value_a=row.value_a,
        value_b=row.value_b,
        verdict_corrected=found.verdict if remains else "undecided",
        verdict_p_value=_largest(end.verdict_p_value for end in ends),
        verdict_p_adjusted=_largest(end.verdict_p_adjusted for end in ends),
        prob_positive=None,
        odds_ratio=None,
        table=None,
        prob_noninferior=min(known, default=None),
        identified_range=limits,
        posterior=posterior,
        messages=(*low.messages, IDENTIFIED_RANGE(quantity="difference", low=limits[0], high=limits[1])),
    )


def _with_warning(row: Comparison, worst: Comparison | None, open_row: Comparison, sides: Sequence[Side]) -> Comparison:
    """Warn if the verdict is not the same under all policies."""
    verdicts = {other.verdict_corrected for other in (worst, open_row) if other is not None}
    if worst is None or row.difference is None or verdicts <= {row.verdict_corrected}:
        return row
    counts = [count for side in sides for count in _counts_of_row(row, side)]
    if not counts:
        return row
    warning = VERDICT_DEPENDS_ON_MISSING(
        conclusion="verdict",
        n_missing=sum(count.n_missing for count in counts),
        dropped=row.verdict_corrected,
        worst=worst.verdict_corrected,
        open=open_row.verdict_corrected,
    )
    return replace(row, messages=(*row.messages, warning))


def _counts_of_row(row: Comparison, side: Side) -> Iterable[MissingCounts]:
    """Numbers of trials of the task, or of all tasks of a group or an overall row."""
    counts, key = side.missing, row.key
    if key in side.chosen and not side.chosen[key].log.subtasks:
        return [counts[key]] if key in counts else []
    members = side.chosen[key].log.subtasks if key in side.chosen else None
    return [
        count
        for (task, *score), count in counts.items()
        if tuple(score) == key[1:] and (members is None or task in members)
    ]


# ---------------------------------------------------------------- ranks


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


def extreme_runs(logs: OpenLogs) -> ExtremeRuns:
    """The runs of each system with the worst and the best scores."""
    return {extreme: select_runs(logs.at(extreme)) for extreme in _EXTREMES}


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
        n_missing=sum(count.n_missing for count in ranks.counts), dropped=leaders, worst=others[0], open=others[1]
    )
    return replace(ranking, messages=(*ranking.messages, warning))


def _open_ranking(ranking: Ranking, ranks: OpenRanks, order: Sequence[int]) -> Ranking:
    above = ranks.sets.above
    letters = group_letters((above | above.T)[np.ix_(order, order)])
    ties = tie_groups(ranks.sets.low[[*order]], ranks.sets.high[[*order]])
    rows = []
    for row, k, group, tie in zip(ranking.systems, order, letters, ties, strict=True):
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
                tie_group=tie,
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


# ---------------------------------------------------------------- gates


def with_open_decision(
    decided: Gate,
    sides: tuple[Side, Side | None],
    options: Options,
    plugins: Plugins,
    decide: Callable[[Side, Side | None], Gate],
    shown: Callable[[], Gate],
    *,
    has_overall: bool = False,
) -> Gate:
    """Apply the policy `bounds`, or warn if the decision depends on the default policy.

    With `bounds`, a score passes or fails only if it does so for the scores of missing trials that are worst for the
    new system and best for the baseline, and for those that are best for the new system and worst for the baseline.
    `decided`: the decision without the trials that have no score. `sides`: the new system and the baseline. `decide`:
    decides about sides in which such trials have other scores. `shown`: the comparisons and scores with the policy
    `bounds`; its decisions do not count. `has_overall`: whether only the overall result decides, which has no interval
    with the policy `bounds`.
    """
    outcome = over_scenarios(sides, options.structure, plugins, decide)
    if outcome is None:
        return decided
    ends, worst = outcome.ends, outcome.worst
    if worst is None:
        return _open_gate(decided, ends, decided if has_overall else shown())
    open_decision = _common(*ends)
    if {worst.decision, open_decision} == {decided.decision}:
        return decided
    warning = VERDICT_DEPENDS_ON_MISSING(
        conclusion="decision",
        n_missing=sum(count.n_missing for side in sides if side for count in side.missing.values()),
        dropped=decided.decision,
        worst=worst.decision,
        open=open_decision,
    )
    return replace(decided, messages=(*decided.messages, warning))


def _common(*ends: Gate | GateRow | RequirementRow | None, name: str = "decision") -> Decision:
    """The decision of both ends; undecided if they differ, or one is missing."""
    decisions: set[Decision] = {"undecided" if end is None else getattr(end, name) for end in ends}
    return decisions.pop() if len(decisions) == 1 else "undecided"


def _open_gate(decided: Gate, ends: tuple[Gate, Gate], shown: Gate) -> Gate:
    first, second, wide = ({row.comparison.key: row for row in gate.rows} for gate in (*ends, shown))
    rows = []
    for row in decided.rows:
        key = row.comparison.key
        both = first.get(key), second.get(key)
        known = [end for end in both if end is not None]
        rows.append(
            replace(
                row,
                comparison=_over_ends(wide.get(key, row).comparison, [end.comparison for end in known]),
                decision=_common(*both),
                decision_corrected=_common(*both, name="decision_corrected"),
                adjusted_p=_largest(end.adjusted_p for end in known),
                unadjusted_p=_largest(end.unadjusted_p for end in known),
            )
        )
    required = [
        replace(
            row,
            estimate=replace(row.estimate, interval=_hull([end.estimate.interval for end in both])),
            decision=_common(*both),
            decision_corrected=_common(*both, name="decision_corrected"),
            p_met=_largest(end.p_met for end in both),
            adjusted_p=_largest(end.adjusted_p for end in both),
            unadjusted_p=_largest(end.unadjusted_p for end in both),
            n_to_decide=None,
        )
        for row, *both in zip(shown.requirements, *(end.requirements for end in ends), strict=True)
    ]
    return replace(decided, decision=_common(*ends), rows=tuple(rows), requirements=tuple(required))


def _over_ends(row: Comparison, ends: Sequence[Comparison]) -> Comparison:
    """The comparison with the differences that the tests of either end do not reject."""
    interval = _hull([None if end.difference is None else end.difference.interval for end in ends])
    return row if interval is None or len(ends) < 2 else with_interval(row, interval)


def _hull(intervals: Sequence[Interval | None]) -> Interval | None:
    """The smallest interval that contains all of these; None if one is missing."""
    known = [one for one in intervals if one is not None]
    if not known or len(known) < len(intervals):
        return None
    return replace(known[0], low=min(one.low for one in known), high=max(one.high for one in known))


def _largest(p_values: Iterable[float | None]) -> float | None:
    """The largest known p-value; None if none is known."""
    return max((p for p in p_values if p is not None), default=None)
