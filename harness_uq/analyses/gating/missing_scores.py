"""Gates of systems with trials that have no score: extremes, and how much the decision depends on them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from harness_uq.analyses.comparison.missing_scores import missing_counts
from harness_uq.data.missing_scores import Extreme, MissingPolicies
from harness_uq.inference.sides import Side
from harness_uq.io.plugins.manager import Plugins
from harness_uq.messages.catalogue.comparison import VERDICT_DEPENDS_ON_MISSING
from harness_uq.options import Options
from harness_uq.results.gate import Decision, Gate, RequirementRow

DecideSides: TypeAlias = Callable[[Side, Side | None], Gate]
"""The decision about a new system and a baseline, if there is one."""


def with_missing_scores(
    decided: Gate,
    sides: tuple[Side, Side | None],
    options: Options,
    plugins: Plugins,
    decide: DecideSides,
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
    counts = [count for side in sides if side is not None for count in missing_counts(side.chosen).values()]
    policies = options.structure.missing
    if not counts or not (policies.has_bounds or policies.is_default):
        return decided
    chosen = MissingPolicies("bounds") if policies.is_default else policies

    def at(first: Extreme, second: Extreme) -> Gate:
        new, baseline = (
            side and side.with_policies(replace(options.structure, missing=chosen.at(extreme)), plugins)
            for side, extreme in zip(sides, (first, second), strict=True)
        )
        return decide(new or sides[0], baseline)

    ends = at("worst", "best"), at("best", "worst")
    if policies.has_bounds:
        return _open(decided, ends, decided if has_overall else shown())
    worst, open_decision = at("worst", "worst").decision, _common(ends[0].decision, ends[1].decision)
    if {worst, open_decision} == {decided.decision}:
        return decided
    warning = VERDICT_DEPENDS_ON_MISSING(
        conclusion="decision",
        n_missing=sum(count.n_missing for count in counts),
        dropped=decided.decision,
        worst=worst,
        open=open_decision,
    )
    return replace(decided, messages=(*decided.messages, warning))


def _common(first: Decision, second: Decision) -> Decision:
    """The decision of both extremes; undecided if they differ."""
    return first if first == second else "undecided"


def _open(decided: Gate, ends: tuple[Gate, Gate], shown: Gate) -> Gate:
    first, second, wide = ({row.comparison.key: row for row in gate.rows} for gate in (*ends, shown))
    rows = []
    for row in decided.rows:
        key = row.comparison.key
        both = first.get(key), second.get(key)
        known = [end for end in both if end is not None]
        decision = _common(both[0].decision, both[1].decision) if both[0] and both[1] else "undecided"
        comparison = wide.get(key, row).comparison
        rows.append(
            replace(
                row,
                comparison=comparison,
                decision=decision,
                adjusted_p=_largest(end.adjusted_p for end in known),
                unadjusted_p=_largest(end.unadjusted_p for end in known),
            )
        )
    required = tuple(
        _open_requirement(*rows_of_gates)
        for rows_of_gates in zip(shown.requirements, ends[0].requirements, ends[1].requirements, strict=True)
    )
    decision = _common(ends[0].decision, ends[1].decision)
    return replace(decided, decision=decision, rows=tuple(rows), requirements=required)


def _open_requirement(row: RequirementRow, first: RequirementRow, second: RequirementRow) -> RequirementRow:
    """The requirement with the larger p-values of both extremes."""
    ends = first, second
    return replace(
        row,
        decision=_common(first.decision, second.decision),
        p_met=_largest(end.p_met for end in ends),
        adjusted_p=_largest(end.adjusted_p for end in ends),
        unadjusted_p=_largest(end.unadjusted_p for end in ends),
        n_to_decide=None,
    )


def _largest(p_values: Iterable[float | None]) -> float | None:
    """The largest known p-value; None if none is known."""
    return max((p for p in p_values if p is not None), default=None)
