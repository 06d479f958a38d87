"""Compare two systems with trials that have no score: extremes, and how much the verdict depends on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness_uq.data.missing_scores import Extreme, MissingCounts, MissingPolicies
from harness_uq.data.selection import ScoreKey, SelectedRun
from harness_uq.data.structure import StructureOptions
from harness_uq.data.task_log import Scores
from harness_uq.inference.decisions import verdict_of
from harness_uq.inference.sides import Side
from harness_uq.inference.verdicts import VerdictInputs
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.messages.catalogue.estimation import IDENTIFIED_RANGE
from harness_uq.options import Options
from harness_uq.results.comparison import Comparison, Difference
from harness_uq.results.estimate import Interval
from harness_uq.stats.trials.partial_identification import IdentifiedPosterior

CompareSides: TypeAlias = Callable[[Side, Side], list[Comparison]]
"""Comparisons of two sides, with their verdicts after correction."""


def apply_missing_policies(
    rows: list[Comparison], sides: tuple[Side, Side], options: Options, plugins: Plugins, compare: CompareSides
) -> list[Comparison]:
    """Apply the policy `bounds`, or warn if a verdict depends on the default policy.

    `rows`: comparisons without the trials that have no score. `sides`: the two systems. `compare`: compares sides in
    which such trials have other scores.
    """
    policies = options.structure.missing
    if not has_alternatives(sides, policies):
        return rows

    def at(first: Extreme, second: Extreme) -> dict[ScoreKey, Comparison]:
        read = with_extremes(sides, (first, second), options.structure, plugins)
        return {row.key: row for row in compare(*read)}

    extremes = at("worst", "best"), at("best", "worst")
    open_rows = {
        key: identified(row, [ends[key] for ends in extremes if key in ends], options.level)
        for key, row in ((row.key, row) for row in rows)
    }
    if policies.has_bounds:
        return list(open_rows.values())
    worst = at("worst", "worst")
    return [_with_warning(row, worst.get(row.key), open_rows[row.key], sides) for row in rows]


def has_alternatives(sides: tuple[Side, Side], policies: MissingPolicies) -> bool:
    """Whether trials without a score may count as any score, because the user chose so or chose no policy."""
    return (policies.has_bounds or policies.is_default) and any(missing_counts(side.chosen) for side in sides)


def with_extremes(
    sides: tuple[Side, Side], extremes: tuple[Extreme, Extreme], structure: StructureOptions, plugins: Plugins
) -> tuple[Side, Side]:
    """The sides in which trials that may count as any score have the worst or the best possible score."""
    policies = MissingPolicies("bounds") if structure.missing.is_default else structure.missing
    first, second = (
        side.with_policies(replace(structure, missing=policies.at(extreme)), plugins)
        for side, extreme in zip(sides, extremes, strict=True)
    )
    return first, second


def identified(row: Comparison, ends: Sequence[Comparison], level: float) -> Comparison:
    """The comparison for any scores of the open trials, whose extremes `ends` gives."""
    for end in ends:
        if end.difference is None or end.posterior is None:
            return end
    low, high = sorted(ends, key=lambda end: end.difference.value if end.difference else 0.0)
    if low.difference is None or high.difference is None or low.posterior is None or high.posterior is None:
        return row
    posterior = IdentifiedPosterior(low.posterior, high.posterior)
    kind = low.difference.interval.kind
    interval = Interval(*posterior.interval(level), level, kind)
    limits = low.difference.value, high.difference.value
    value = row.difference.value if row.difference else posterior.mean
    sign = 1.0 if row.higher_is_better else -1.0
    verdict, text = verdict_of(
        VerdictInputs(
            low=min(sign * interval.low, sign * interval.high),
            high=max(sign * interval.low, sign * interval.high),
            name_a=row.system_a,
            name_b=row.system_b,
            margin=row.margin,
            in_points=low.in_points,
        )
    )
    known = [end.prob_noninferior for end in ends if end.prob_noninferior is not None]
    return replace(
        low,
        value_a=row.value_a,
        value_b=row.value_b,
        difference=Difference(value, posterior.sd, interval),
        verdict=verdict,
        verdict_text=text,
        next_step="",
        n_additional_questions=None,
        prob_positive=None,
        odds_ratio=None,
        table=None,
        prob_noninferior=min(known, default=None),
        p_value=None,
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


def missing_counts(chosen: Mapping[ScoreKey, SelectedRun]) -> dict[ScoreKey, MissingCounts]:
    """Numbers of trials of the scores that have missing trials."""
    return {
        key: run.data.missing
        for key, run in chosen.items()
        if isinstance(run.data, Scores) and run.data.missing is not None
    }


def _counts_of_row(row: Comparison, side: Side) -> Iterable[MissingCounts]:
    """Numbers of trials of the task, or of all tasks of a group or an overall row."""
    counts, key = missing_counts(side.chosen), row.key
    if key in side.chosen and not side.chosen[key].log.subtasks:
        return [counts[key]] if key in counts else []
    members = side.chosen[key].log.subtasks if key in side.chosen else None
    return [
        count
        for (task, *score), count in counts.items()
        if tuple(score) == key[1:] and (members is None or task in members)
    ]
