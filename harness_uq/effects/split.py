"""Questions, trials and levels of what else varies: the best split of a budget, from runs under several settings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from harness_uq.effects.analysis import QUESTION, EffectOptions, effects, plural
from harness_uq.errors import DataError
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.reading import Runs
from harness_uq.results.effects import Effects
from harness_uq.results.points import amount
from harness_uq.results.split import SplitPlan, SplitRow
from harness_uq.stats.design.split import TRIALS, CrossedDesign, Split, best_split
from harness_uq.stats.effects.design import CROSSED
from harness_uq.stats.effects.table import RESIDUAL

BEST, AS_MANY, NOW = "best", "as many levels as now", "as now"


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """What to plan for.

    Attributes
    ----------
    effects : what the scores depend on, and which levels are to be new
    budget : what the run may cost, > 0; or
    width : of the interval, > 0; one of the two
    cost_question, cost_trial : price of a question, and of one answer
    prices : of one level of each further factor, such as `{"prompt": 50}`
    n_questions, n_trials : fixed part of the design; None where free
    """

    effects: EffectOptions = field(default_factory=EffectOptions)
    budget: float | None = None
    width: float | None = None
    cost_question: float = 0.0
    cost_trial: float = 1.0
    prices: Mapping[str, float] = field(default_factory=dict)
    n_questions: int | None = None
    n_trials: int | None = None

    def __post_init__(self) -> None:
        if (self.budget is None) == (self.width is None):
            raise DataError("with new factors, plan for a budget or for a width, one of the two")


def splits(logs: Runs, options: SplitOptions, *, plugins: Plugins | None = None) -> list[SplitPlan]:
    """The best split of a budget over questions, trials and levels of what else varies.

    Parameters
    ----------
    logs : runs of one model under several settings, as for `effects`
    options : target, prices, and what is fixed
    plugins : the installed ones by default

    Raises
    ------
    DataError, NotEstimableError : as of `effects`; DataError for a price of a factor that there is not
    """
    return [_split_plan(found, options) for found in effects(logs, options.effects, plugins=plugins)]


def _split_plan(found: Effects, options: SplitOptions) -> SplitPlan:
    design, levels, trials = _design(found, options)
    best = partial(
        best_split,
        design,
        budget=options.budget,
        half_width=None if options.width is None else options.width / 2,
        most_units=options.n_questions,
        level=options.effects.level,
    )
    held = {} if options.n_trials is None else {TRIALS: options.n_trials}
    rows = {
        BEST: best(fixed=held),
        AS_MANY: best(fixed={**levels, **held}),
        NOW: design.split(found.n_questions, levels, trials, level=options.effects.level),
    }
    return SplitPlan(
        model=found.model,
        task=found.task,
        metric=found.metric,
        filter=found.filter,
        level=options.effects.level,
        rows=tuple(_row(name, split, design.stay) for name, split in rows.items() if split is not None),
        new=found.new,
        answer=_answer(found, rows[BEST], rows[AS_MANY]),
        is_share=found.is_share,
        warnings=(*found.warnings, *_unseen(found)),
    )


def _design(found: Effects, options: SplitOptions) -> tuple[CrossedDesign, dict[str, int], int]:
    """The design, and levels and trials of the runs at hand."""
    variances = {_factors(part.name): part.sd**2 for part in found.components}
    n_levels = {part.name: part.n_levels for part in found.components}
    further = {name: n_levels.get(name, 1) for name in found.evidence}
    levels = {name: n for name, n in further.items() if name in found.new}
    unknown = sorted(set(options.prices) - set(levels))
    if unknown:
        raise DataError(f"{unknown[0]!r} has a price and is no new factor; there are {', '.join(levels) or 'none'}")
    trials = max(round(found.n_scores / (found.n_questions * math.prod(further.values()))), 1)
    design = CrossedDesign(
        variances,
        unit=QUESTION,
        others=tuple(levels),
        stay={name: n for name, n in further.items() if name not in levels},
        per_unit={found.unit: n_levels[found.unit] / found.n_questions} if found.unit != QUESTION else {},
        prices={
            (): options.cost_trial,
            (QUESTION,): options.cost_question,
            **{(name,): price for name, price in options.prices.items()},
        },
        can_repeat=trials > 1,
    )
    return design, levels, trials


def _factors(component: str) -> tuple[str, ...]:
    return () if component == RESIDUAL else tuple(component.split(CROSSED))


def _row(name: str, split: Split, stay: Mapping[str, int]) -> SplitRow:
    return SplitRow(name, split.units, split.trials, {**split.levels, **stay}, split.cost, split.half_width)


def _answer(found: Effects, best: Split | None, as_many: Split | None) -> str:
    if best is None:
        return "No balanced run of two questions or more and two levels of each factor reaches it."
    what = [f"{best.units:,} questions", *(f"{n} {plural(name)}" for name, n in best.levels.items())]
    if best.trials > 1:
        what.append(f"{best.trials} trials each")
    half = amount(best.half_width, in_points=found.is_share)
    sentence = f"{_listed(what)}: {best.cost:,.6g}, and the score is known to about ±{half}."
    if as_many is None or as_many.levels == best.levels:
        return sentence
    now = _listed([f"{n} {plural(name)}" for name, n in as_many.levels.items()])
    half = amount(as_many.half_width, in_points=found.is_share)
    return f"{sentence} With {now} as now: {as_many.units:,} questions, {as_many.cost:,.6g}, ±{half}."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _unseen(found: Effects) -> tuple[str, ...]:
    """A component of 0 is one that these levels did not show."""
    named = [part.name for part in found.components if part.sd == 0]
    if not named:
        return ()
    return (f"the plan takes the variance of {_listed(named)} for 0, as estimated; its interval reaches further",)
