"""Plan the questions and trials of a run that meets a target, from a pilot run or from given variances."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from harness_uq.alignment.panel import build_panel
from harness_uq.data.arrays import IntArray
from harness_uq.data.selection import ScoreKey, SelectedRun, select_runs
from harness_uq.data.task_log import Scores, TaskData
from harness_uq.errors import DataError, NotEstimableError, StructureError, error_summary, refusal_of
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import marginal
from harness_uq.messages.catalogue.estimation import ESTIMATION_FAILED
from harness_uq.messages.catalogue.planning import (
    PILOT_WITHOUT_SCORES,
    PILOT_WITHOUT_TRIALS,
    PILOT_WITHOUT_VARIATION,
    PLAN_UNAVAILABLE,
)
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options, resolve
from harness_uq.options_typed import PlanKeywords
from harness_uq.planning.components import Components, pilot_components
from harness_uq.planning.explanations import answer_of
from harness_uq.planning.optimal_design import PlanTarget, UnitCosts, best_design, plan_row
from harness_uq.plugins.manager import Plugins
from harness_uq.plugins.readers import task_logs
from harness_uq.plugins.runs import Runs
from harness_uq.results.plan import Plan
from harness_uq.results.result_list import ResultList

_QUESTIONS = (50, 100, 200, 500, 1000, 2000, 5000)
_TRIALS = (1, 2, 4, 8)


def plan(
    pilot: "Runs | None" = None,
    options: Options | None = None,
    *,
    components: Components | None = None,
    plugins: Plugins | None = None,
    **keywords: Unpack[PlanKeywords],
) -> ResultList[Plan]:
    """Plan a run.

    Parameters
    ----------
    pilot : runs of one or more systems: paths or results in memory, as for `read_logs`; None to plan from `components`
    options : the target and the fixed parts of the design
    components : variances given as numbers
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `difference`, `width`, `questions`, `trials`, `level`,
        `power`, `cost_question`, `cost_trial`, `budget`, `cluster`, `range`, `use_samples`, `task`, `metric`,
        `filter` and `model`. They take precedence over `options`

    Returns
    -------
    One plan per task, metric and filter of the pilot, or one plan from the given variances. If the pilot allows no
    plan, the plan has no rows and its answer gives the reason

    Raises
    ------
    DataError : if both or neither of pilot and components are given
    NotEstimableError : if no task of the pilot has a score for each question
    TypeError : if an option does not exist

    Example of Miller (2024, section 5): with omega^2 = 1/9, 969 questions are needed to detect 3 points.

    >>> found = plan(components=Components(difference=1 / 9), difference=0.03)
    >>> found[0].recommended.n_questions
    969
    """
    chosen, selection = resolve("plan", options, keywords)
    if chosen.budget is not None and chosen.cost_trial is None:
        raise DataError("a budget requires the cost of a trial (cost_trial)")
    if components is not None and pilot is None:
        return ResultList([_plan(components, chosen, pilot_size=None)])
    if components is not None or pilot is None:
        raise DataError("give either the logs of a pilot run or variances as numbers")
    offered = plugins or load_plugins()
    plans = ResultList[Plan]()
    selected = task_logs(pilot, offered, selection)
    read = with_best_evidence(selected, offered, chosen.structure.without_bounds("plans"))
    for key, entries in _by_key(select_runs(read).values()).items():
        try:
            plans.append(_plan_of(key, entries, chosen, offered))
        except (DataError, NotEstimableError, StructureError) as error:
            plans.append(_no_plan(key, entries, chosen, refusal_of(error)))
        except Exception as error:
            plans.append(_no_plan(key, entries, chosen, ESTIMATION_FAILED(error=error_summary(error))))
    if not any(plan.rows for plan in plans):
        reasons = [f"metric {plan.metric!r} of task {plan.task!r}: {plan.reason.text}" for plan in plans if plan.reason]
        raise NotEstimableError(PLAN_UNAVAILABLE(reasons=" For ".join(reasons)) if reasons else PILOT_WITHOUT_SCORES())
    return plans


def _by_key(systems: "Iterable[dict[ScoreKey, SelectedRun]]") -> dict[ScoreKey, list[SelectedRun]]:
    runs_by_key: dict[ScoreKey, list[SelectedRun]] = {}
    for by_key in systems:
        for key, entry in by_key.items():
            runs_by_key.setdefault(key, []).append(entry)
    return runs_by_key


def _no_plan(key: ScoreKey, entries: Sequence[SelectedRun], options: Options, reason: Message) -> Plan:
    return Plan(
        rows=(),
        recommended=None,
        level=options.level,
        power=options.power,
        variance_between=None,
        variance_within=None,
        design_effect=1.0,
        answer=f"No plan: {reason.text}",
        messages=(reason,),
        task=key[0],
        metric=key[1],
        filter=key[2],
        systems=tuple(dict.fromkeys(entry.log.system for entry in entries)),
    )


def _plan_of(key: ScoreKey, entries: Sequence[SelectedRun], options: Options, plugins: Plugins) -> Plan:
    if not all(isinstance(entry.data, Scores) and not entry.log.subtasks for entry in entries):
        raise NotEstimableError(PILOT_WITHOUT_SCORES())
    panel = build_panel(entries, options.structure, plugins)
    how = Options(level=options.level, structure=options.structure)
    common = [
        replace(entry, data=_common(entry.data, rows, panel.units))
        for entry, rows in zip(panel.runs, panel.rows, strict=True)
    ]
    estimates = [marginal(entry, how, plugins) for entry in common]
    # if any system's trials differ, identical trials of another imply no noise
    values = panel.values if panel.n_trials == 1 else panel.logged
    components = pilot_components(values, panel.units, estimates)
    if components.variance_of_difference(components.trials) == 0:
        if options.difference is not None:
            raise NotEstimableError(PILOT_WITHOUT_VARIATION())
        components = replace(components, difference=None)
    plan = _plan(components, options, pilot_size=panel.n_questions)
    messages = distinct((*plan.messages, *panel.messages))
    return replace(plan, task=key[0], metric=key[1], filter=key[2], systems=panel.systems, messages=messages)


def _common(scores: TaskData, rows: IntArray, units: IntArray | None) -> Scores:
    """Return the scores of the common questions, with the clusters found in any of the runs."""
    if not isinstance(scores, Scores):
        raise NotEstimableError(PILOT_WITHOUT_SCORES())
    values, clusters = np.full_like(scores.values, np.nan), np.full(len(scores.values), -1)
    values[rows] = scores.values[rows]
    if units is not None:
        clusters[rows] = units
    return replace(scores, values=values, clusters=None if units is None else clusters)


def _plan(components: Components, options: Options, *, pilot_size: int | None) -> Plan:
    prices = UnitCosts(options.cost_question or 0.0, options.cost_trial or 1.0, is_given=options.cost_trial is not None)
    target = PlanTarget(options.difference, options.width, options.level, options.power, options.budget)
    trials = _trials(components, options)
    best = best_design(components, target, prices, trials, options.questions)
    sizes = {*_QUESTIONS, *([pilot_size, 3 * pilot_size] if pilot_size else [])}
    sizes = {options.questions} if options.questions else sizes | ({best.n_questions} if best else set())
    trial_counts = trials if best is None else sorted({*trials, best.n_trials})
    rows = [plan_row(components, n, k, target, prices) for k in trial_counts for n in sorted(sizes)]
    return Plan(
        rows=tuple(rows),
        recommended=best,
        level=options.level,
        power=options.power,
        variance_between=components.between,
        variance_within=components.within,
        design_effect=components.design_effect,
        answer=answer_of(best, components, target, n_questions=options.questions, pilot_size=pilot_size),
        messages=components.messages,
        variance_difference=components.difference,
        design_effect_difference=components.design_effect_difference,
    )


def _trials(components: Components, options: Options) -> list[int]:
    """Return the candidate numbers of trials: the requested one, the pilot's if no other is known, or several."""
    if components.within is None and options.trials not in (None, components.trials):
        raise NotEstimableError(PILOT_WITHOUT_TRIALS())
    if options.trials is not None:
        return [options.trials]
    if not components.within:
        return [components.trials]
    return sorted({*_TRIALS, components.trials})
