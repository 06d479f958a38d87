"""Allocate a budget to questions, trials and levels of other factors, based on runs under several settings."""

import math
from functools import partial

from harness_uq.analyses.effects import QUESTION, effects, plural
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs
from harness_uq.messages.catalogue.planning import ZERO_VARIANCE_ESTIMATED
from harness_uq.messages.errors import DataError
from harness_uq.messages.message import Message, join_words
from harness_uq.options import Options
from harness_uq.output.words import amount, count_of
from harness_uq.results.effects import Effects
from harness_uq.results.plan import AllocationRow, BudgetAllocation
from harness_uq.stats.design.budget_allocation import TRIALS, BalancedRun, CrossedDesign, best_allocation
from harness_uq.stats.effects.crossed_table import RESIDUAL
from harness_uq.stats.effects.design import CROSSED

BEST, AS_MANY, NOW = "best", "as many levels as now", "as now"


def splits(logs: Runs, options: Options, *, plugins: Plugins | None = None) -> list[BudgetAllocation]:
    """Find the best allocation of a budget to questions, trials and levels of the other factors.

    Raises DataError, NotEstimableError as for `effects`; also DataError if a price refers to a factor that does not
    exist.
    """
    return [_split_plan(system_effects, options) for system_effects in effects(logs, options, plugins=plugins)]


def _split_plan(system_effects: Effects, options: Options) -> BudgetAllocation:
    design, levels, trials = _design(system_effects, options)
    best = partial(
        best_allocation,
        design,
        budget=options.budget,
        half_width=None if options.width is None else options.width / 2,
        most_units=options.questions,
        level=options.level,
    )
    fixed_trials = {} if options.trials is None else {TRIALS: options.trials}
    rows = {
        BEST: best(fixed=fixed_trials),
        AS_MANY: best(fixed={**levels, **fixed_trials}),
        NOW: design.run(system_effects.n_questions, levels, trials, level=options.level),
    }
    return BudgetAllocation(
        model=system_effects.model,
        task=system_effects.task,
        metric=system_effects.metric,
        filter=system_effects.filter,
        level=options.level,
        rows=tuple(
            AllocationRow(
                name, split.units, split.trials, {**split.levels, **design.fixed_levels}, split.cost, split.half_width
            )
            for name, split in rows.items()
            if split is not None
        ),
        new=system_effects.new,
        answer=_answer(system_effects, rows[BEST], rows[AS_MANY]),
        is_share=system_effects.is_share,
        messages=(*system_effects.warnings, *_unseen(system_effects)),
    )


def _design(system_effects: Effects, options: Options) -> tuple[CrossedDesign, dict[str, int], int]:
    """Return the design, and the levels and trials of the given runs."""
    variances: dict[tuple[str, ...], float] = {
        () if part.name == RESIDUAL else tuple(part.name.split(CROSSED)): part.sd**2
        for part in system_effects.components
    }
    n_levels = {part.name: part.n_levels for part in system_effects.components}
    further = {name: n_levels.get(name, 1) for name in system_effects.evidence}
    levels = {name: n for name, n in further.items() if name in system_effects.new}
    unknown = sorted(set(options.cost_per_level) - set(levels))
    if unknown:
        raise DataError(f"{unknown[0]!r} has a price and is no new factor; there are {', '.join(levels) or 'none'}")
    trials = max(round(system_effects.n_scores / (system_effects.n_questions * math.prod(further.values()))), 1)
    design = CrossedDesign(
        variances,
        unit=QUESTION,
        others=tuple(levels),
        fixed_levels={name: n for name, n in further.items() if name not in levels},
        per_unit={system_effects.unit: n_levels[system_effects.unit] / system_effects.n_questions}
        if system_effects.unit != QUESTION
        else {},
        prices={
            (): options.cost_per_trial or 1.0,
            (QUESTION,): options.cost_per_question or 0.0,
            **{(name,): price for name, price in options.cost_per_level.items()},
        },
        can_repeat=trials > 1,
    )
    return design, levels, trials


def _answer(system_effects: Effects, best: BalancedRun | None, as_many: BalancedRun | None) -> str:
    if best is None:
        return "No balanced run of two questions or more and two levels of each factor reaches it."
    what = [count_of(best.units, "question"), *(f"{n} {plural(name)}" for name, n in best.levels.items())]
    if best.trials > 1:
        what.append(f"{best.trials} trials each")
    half = amount(best.half_width, in_points=system_effects.is_share)
    sentence = f"{join_words(what)} cost {best.cost:,.6g}, and the score is known to about ±{half}."
    if as_many is None or as_many.levels == best.levels:
        return sentence
    now = join_words([f"{n} {plural(name)}" for name, n in as_many.levels.items()])
    half = amount(as_many.half_width, in_points=system_effects.is_share)
    units = count_of(as_many.units, "question")
    return f"{sentence} With {now} as now, {units} cost {as_many.cost:,.6g}, and the score is known to about ±{half}."


def _unseen(system_effects: Effects) -> tuple[Message, ...]:
    """Note components that are estimated as 0, because these levels show no variation."""
    named = [part.name for part in system_effects.components if part.sd == 0]
    if not named:
        return ()
    return (ZERO_VARIANCE_ESTIMATED(factors=named),)
