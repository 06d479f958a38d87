"""Plan the questions and trials of a run that meets a target, from a pilot run or from given variances."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from harness_uq.analyses.pilot_variances import Components, pilot_components
from harness_uq.data.arrays import IntArray
from harness_uq.data.panel import build_panel
from harness_uq.data.selection import ScoreKey, SelectedRun, select_runs
from harness_uq.data.task_log import Scores, TaskData
from harness_uq.inference.evidence import with_best_evidence
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.inference.marginals import marginal
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.estimation import ESTIMATION_FAILED
from harness_uq.messages.catalogue.planning import (
    PILOT_OF_EVENT,
    PILOT_WITHOUT_SCORES,
    PILOT_WITHOUT_TRIALS,
    PILOT_WITHOUT_VARIATION,
    PLAN_UNAVAILABLE,
)
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError, error_summary, refusal_of
from harness_uq.messages.message import Message, distinct
from harness_uq.options import Options, resolve
from harness_uq.options_typed import PlanKeywords
from harness_uq.output.words import amount, count_of
from harness_uq.results.plan import Plan, PlanRow
from harness_uq.results.result_list import ResultList
from harness_uq.stats.design.budget_allocation import fewest
from harness_uq.stats.design.paired_power import MAX_QUESTIONS

_QUESTIONS = (50, 100, 200, 500, 1000, 2000, 5000)
_TRIALS = (1, 2, 4, 8)
MAX_TRIALS = 10_000


def plan(
    pilot: "Runs | None" = None,
    options: Options | None = None,
    *,
    components: Components | None = None,
    correlation: float | None = None,
    plugins: Plugins | None = None,
    **keywords: "Unpack[PlanKeywords]",
) -> ResultList[Plan]:
    """Plan a run.

    Parameters
    ----------
    pilot : runs of one or more systems: paths or results in memory, as for `read_logs`; None to plan from `components`
    options : the target and the fixed parts of the design
    components : variances given as numbers
    correlation : assumed correlation between the scores of two systems, if the pilot contains only one system; with a
        target for the difference, 0 by default
    plugins : plugins to use; by default the installed ones
    **keywords : options with the names of the command line: `difference`, `width`, `questions`, `trials`, `level`,
        `power`, `cost_per_question`, `cost_per_trial`, `budget`, `cluster`, `range`, `use_samples`, `task`, `metric`,
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

    Example of Miller (2024, section 5): with omega^2 = 1/9, 969 questions are needed to detect 3 points if the variance
    is known, and 971 with Student's t.

    >>> found = plan(components=Components(difference=1 / 9), difference=0.03)
    >>> found[0].recommended.n_questions
    971
    """
    chosen, selection = resolve("plan", options, keywords)
    if components is not None and pilot is None:
        return ResultList([_plan(components, chosen, pilot_size=None)])
    if components is not None or pilot is None:
        raise DataError("give either the logs of a pilot run or variances as numbers")
    offered = plugins or load_plugins()
    plans = ResultList[Plan]()
    selected = task_logs(pilot, offered, selection)
    read = with_best_evidence(selected, offered, chosen.structure.without_bounds("plans"))
    by_key = _by_key(select_runs(read).values())
    if correlation is not None and any(len(entries) > 1 for entries in by_key.values()):
        raise DataError(
            "a correlation requires a pilot run of one system, because runs of several systems determine it"
        )
    for key, entries in by_key.items():
        try:
            plans.append(_plan_of(key, entries, chosen, offered, correlation))
        except (DataError, NotEstimableError, StructureError) as error:
            plans.append(_no_plan(key, entries, chosen, refusal_of(error)))
        except Exception as error:
            plans.append(
                _no_plan(key, entries, chosen, ESTIMATION_FAILED(what="The computation", error=error_summary(error)))
            )
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


def _plan_of(
    key: ScoreKey, entries: Sequence[SelectedRun], options: Options, plugins: Plugins, correlation: float | None
) -> Plan:
    if not all(isinstance(entry.data, Scores) and not entry.log.subtasks for entry in entries):
        raise NotEstimableError(PILOT_WITHOUT_SCORES())
    if event := next((entry.data.event for entry in entries if entry.data.event), None):  # type: ignore[union-attr]
        raise NotEstimableError(PILOT_OF_EVENT(event=event))
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
    if correlation is not None or (len(panel.systems) == 1 and options.difference is not None):
        components = components.with_correlation(correlation or 0.0)
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
    trials = _trials(components, options)
    best = best_design(components, options, trials)
    sizes = {*_QUESTIONS, *([pilot_size, 3 * pilot_size] if pilot_size else [])}
    sizes = {options.questions} if options.questions else sizes | ({best.n_questions} if best else set())
    trial_counts = trials if best is None else sorted({*trials, best.n_trials})
    rows = [plan_row(components, n, k, options) for k in trial_counts for n in sorted(sizes)]
    pilot = None if pilot_size is None else plan_row(components, pilot_size, components.trials, options)
    return Plan(
        rows=tuple(rows),
        recommended=best,
        level=options.level,
        power=options.power,
        variance_between=components.between,
        variance_within=components.within,
        design_effect=components.design_effect,
        answer=answer_of(best, components, options, pilot),
        pilot=pilot,
        paired=components.design(trial_counts[0] if best is None else best.n_trials),
        goal=_goal(options, components) if options.difference is not None or options.width is not None else "",
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


# ---------------------------------------------------------------- the best design


def _cost(options: Options, n_questions: int, n_trials: int) -> float:
    """Return the cost of a design for one system; without prices, each answer costs 1, only to choose a design."""
    return n_questions * ((options.cost_per_question or 0.0) + n_trials * (options.cost_per_trial or 1.0))


def plan_row(components: Components, n_questions: int, n_trials: int, options: Options) -> PlanRow:
    """Compute the expected precision of a design."""
    return PlanRow(
        n_questions,
        n_trials,
        components.width(n_questions, n_trials, level=options.level),
        components.detectable(n_questions, n_trials, level=options.level, power=options.power),
        None if options.cost_per_trial is None and options.budget is None else _cost(options, n_questions, n_trials),
    )


def best_design(components: Components, target: Options, trials: Sequence[int]) -> PlanRow | None:
    """Find the cheapest design that meets the target or, for a budget, the most precise one; None if there is none.

    `trials` are candidate numbers of trials; if the number of questions of `target` is fixed, that of trials is
    minimized.
    """
    n_questions = target.questions
    if n_questions is not None and (target.difference is not None or target.width is not None):
        n_trials = _fewest_trials(components, target, n_questions, trials)
        return None if n_trials is None else plan_row(components, n_questions, n_trials, target)
    if target.difference is not None or target.width is not None:
        sizes = [(n, k) for k in trials if (n := _fewest_questions(components, target, k)) is not None]
    elif target.budget is not None:
        sizes = [(n, k) for k in trials if (n := math.floor(target.budget / _cost(target, 1, k) * (1 + 1e-12))) >= 1]
    elif n_questions is not None:
        sizes = [(n_questions, components.trials if components.trials in trials else trials[0])]
    else:
        return None
    rows = [plan_row(components, n, k, target) for n, k in sizes]
    if target.budget is not None and (target.difference is not None or target.width is not None):
        rows = [row for row in rows if _cost(target, row.n_questions, row.n_trials) <= target.budget * (1 + 1e-12)]
    return min(rows, key=_rank(target), default=None)


def _rank(target: Options) -> Callable[[PlanRow], tuple[float, ...]]:
    """Return the quantity that the best design minimizes."""
    if target.difference is not None or target.width is not None:
        return lambda row: (_cost(target, row.n_questions, row.n_trials), row.n_trials)
    return lambda row: (row.detectable if row.detectable is not None else row.expected_width or 0.0, row.n_trials)


def _fewest_trials(components: Components, target: Options, n_questions: int, trials: Sequence[int]) -> int | None:
    """Return the number of trials that meets the target: the only candidate, or at most 10,000; None if none does."""
    if len(trials) == 1:
        return trials[0] if _meets(components, target, n_questions, trials[0]) else None
    return fewest(lambda n_trials: _meets(components, target, n_questions, n_trials), 1, MAX_TRIALS)


def _meets(components: Components, target: Options, n_questions: int, n_trials: int) -> bool:
    if target.difference is not None:
        detectable = components.detectable(n_questions, n_trials, level=target.level, power=target.power)
        return detectable is not None and detectable <= target.difference * (1 + 1e-12)
    width = components.width(n_questions, n_trials, level=target.level)
    return width is not None and target.width is not None and width <= target.width


def _fewest_questions(components: Components, target: Options, n_trials: int) -> int | None:
    """Return the number of questions that meets the target with this many trials; None if unknown or above 10^7."""
    if target.difference is not None:
        if (design := components.design(n_trials)) is None:
            return None
        return design.required(target.difference, level=target.level, power=target.power)
    if components.variance(n_trials) is None:
        return None
    return fewest(lambda n_questions: _meets(components, target, n_questions, n_trials), 2, MAX_QUESTIONS)


# ---------------------------------------------------------------- the answer in words


def answer_of(best: PlanRow | None, components: Components, target: Options, pilot: PlanRow | None) -> str:
    """Write the answer of a plan.

    `best` is None if no design meets the target, and `pilot`, the design of the pilot, if the plan is based on numbers.
    """
    cost = "" if best is None or best.cost is None else f", at a cost of {best.cost:,.6g} per system"
    if target.difference is None and target.width is None:
        return _without_target(best, cost, components, target, pilot)
    goal = _goal(target, components)
    if best is None:
        return f"None of the designs would {goal}. {_why_not(components, target)}"
    after = _assumption(components, target), _of_pilot(best, components, target, pilot), _also(best, components, target)
    return f"To {goal}, {_ask(best, components)}{cost}.{''.join(after)}"


def _goal(target: Options, components: Components) -> str:
    in_points = components.in_points
    if target.difference is not None:
        size = amount(target.difference, in_points=in_points)
        return f"find a difference of {size} in {100 * target.power:g} of 100 runs"
    return f"expect a {100 * target.level:g} % interval {amount(target.width or 0.0, in_points=in_points)} wide"


def _ask(row: PlanRow, components: Components) -> str:
    return f"ask {_questions(row.n_questions, components)} {_times(row.n_trials)} each"


def _questions(n_questions: int, components: Components) -> str:
    """Number of questions and, if they are in clusters, of clusters."""
    clusters = math.ceil(n_questions / components.cluster_size - 1e-9)
    about = count_of(n_questions, "question")
    return about if components.cluster_size == 1 else f"{about} in {count_of(clusters, 'cluster')}"


def _times(n_trials: int) -> str:
    return {1: "once", 2: "twice"}.get(n_trials, f"{n_trials:,} times")


def _of_pilot(best: PlanRow, components: Components, target: Options, pilot: PlanRow | None) -> str:
    """The design of the pilot, and the number of questions with as many trials, if the plan has another number."""
    if pilot is None or target.budget is not None:
        return ""
    asked = f" The pilot asked {_questions(pilot.n_questions, components)} {_times(pilot.n_trials)} each"
    if target.difference is None and pilot.expected_width is not None:
        asked += f", with an interval {amount(pilot.expected_width, in_points=components.in_points)} wide"
    if pilot.n_trials == best.n_trials or target.trials is not None:
        return f"{asked}."
    n = _fewest_questions(components, target, pilot.n_trials)
    return f"{asked}." if n is None else f"{asked}. With as many trials, {count_of(n, 'question')} would be enough."


def _assumption(components: Components, target: Options) -> str:
    """The assumed correlation, if a plan for a difference is based on one system."""
    if components.correlation is None or target.difference is None:
        return ""
    if components.correlation == 0:
        return (
            " This assumes that the scores of the two systems are uncorrelated. Fewer questions are sufficient for "
            "correlated scores (--correlation)."
        )
    return f" This assumes a correlation of {components.correlation:g} between the scores of the two systems."


def _also(row: PlanRow, components: Components, target: Options) -> str:
    in_points = components.in_points
    if target.difference is not None and row.expected_width is not None:
        return f" Each score's interval will be about {amount(row.expected_width, in_points=in_points)} wide."
    if target.width is not None and row.detectable is not None:
        return f" The minimum detectable difference of two systems is {amount(row.detectable, in_points=in_points)}."
    return ""


def _without_target(
    best: PlanRow | None, cost: str, components: Components, target: Options, pilot: PlanRow | None
) -> str:
    in_points = components.in_points
    hint = ""
    if best is None:
        hint = " Specify a target with --difference, --width or --budget."
        if pilot is None:
            return f"The plan has no target.{hint}"
        best = pilot
    statements = []
    if best.detectable is not None:
        size = amount(best.detectable, in_points=in_points)
        statements.append(f"a difference of {size} is found in {100 * target.power:g} of 100 runs")
    if best.expected_width is not None:
        width = amount(best.expected_width, in_points=in_points)
        statements.append(f"a score's {100 * target.level:g} % interval is about {width} wide")
    first = f"{count_of(best.n_questions, 'question')}, {count_of(best.n_trials, 'trial')} each{cost}"
    return f"{first}: {' and '.join(statements)}.{hint}"


def _why_not(components: Components, target: Options) -> str:
    if target.difference is not None and components.difference is None:
        return "A difference needs a second system: give its pilot too, or the variance of the difference."
    if target.width is not None and components.between is None:
        return "A width needs the spread of a score: give a pilot, --score or --variance-between."
    if target.budget is not None and target.questions is None:
        return f"The budget of {target.budget:g} is too small for it."
    if target.questions is not None and components.within:
        asked = count_of(target.questions, "question")
        return f"Not even many trials of {asked} are enough: questions differ. Ask more questions."
    return "Ask for a larger difference or a wider interval."
