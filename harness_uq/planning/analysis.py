"""What to run next: questions and trials for a target, from a pilot run or from numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness_uq.errors import DataError, NotEstimableError, StructureError, told
from harness_uq.estimating.analysis import Options
from harness_uq.estimating.own import estimate_of
from harness_uq.logs.data import FloatArray, IntArray, Scores, TaskData
from harness_uq.logs.newest import Chosen, Key, choose_runs
from harness_uq.matching.scores import MatchedScores, match_scores
from harness_uq.planning.components import Components, components_of
from harness_uq.planning.designs import Prices, Target, best_design, row_of
from harness_uq.planning.words import answer_of
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.reading import Runs, task_logs
from harness_uq.results.plan import Plan
from harness_uq.structure.facts import StructureOptions

_QUESTIONS = (50, 100, 200, 500, 1000, 2000, 5000)
_TRIALS = (1, 2, 4, 8)
_NO_SCORES = "plans are made for tasks with a score a question"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What to plan for.

    Attributes
    ----------
    difference : smallest difference of two systems to be found, > 0
    width : expected width of one score's interval, > 0; at most one of the two
    n_questions, n_trials : fixed part of the design; None where free
    level, power : of the interval, and probability of finding `difference`
    cost_question, cost_trial, budget : prices in any unit; None for questions free and answers at 1
    structure : what the user says about clusters and ranges
    """

    difference: float | None = None
    width: float | None = None
    n_questions: int | None = None
    n_trials: int | None = None
    level: float = 0.95
    power: float = 0.8
    cost_question: float | None = None
    cost_trial: float | None = None
    budget: float | None = None
    structure: StructureOptions = field(default_factory=StructureOptions)

    def __post_init__(self) -> None:
        if self.difference is not None and self.width is not None:
            raise DataError("plan for a difference or for a width, not both")
        for name in ("difference", "width", "n_questions", "n_trials", "cost_trial", "budget"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise DataError(f"{name} must be positive; got {value}")
        if self.cost_question is not None and not self.cost_question >= 0:
            raise DataError(f"cost_question must not be negative; got {self.cost_question}")
        if self.budget is not None and self.cost_trial is None:
            raise DataError("a budget needs the price of a trial")
        if not 0 < self.level < 1 or not 0 < self.power < 1:
            raise DataError(f"level and power must lie strictly between 0 and 1; got {self.level} and {self.power}")


def plan(
    pilot: "Runs | None" = None,
    options: PlanOptions | None = None,
    *,
    components: Components | None = None,
    plugins: Plugins | None = None,
) -> list[Plan]:
    """Plan a run.

    Parameters
    ----------
    pilot : logged runs of one or more systems; None to plan from `components`
    options : the target and what is fixed
    components : variances as numbers
    plugins : the installed ones by default

    Returns
    -------
    One plan a task, metric and filter of the pilot, or one from numbers. A plan without rows says in its answer why the
    pilot allows none

    Raises
    ------
    DataError : if both or none of pilot and components are given
    NotEstimableError : if no task of the pilot has scores a question

    Miller's (2024, section 5) example: an eval of omega^2 = 1/9 needs 969 questions to find 3 points.

    >>> found = plan(components=Components(difference=1 / 9), options=PlanOptions(difference=0.03))
    >>> found[0].recommended.n_questions
    969
    """
    chosen = options or PlanOptions()
    if (pilot is None) == (components is None):
        raise DataError("give either the logs of a pilot run or variances as numbers")
    if components is not None:
        return [_plan(components, chosen, pilot_size=None)]
    offered = plugins or load_plugins()
    plans = []
    for key, entries in _by_key(choose_runs(task_logs(pilot or (), offered)).values()).items():
        try:
            plans.append(_plan_of(key, entries, chosen, offered))
        except (DataError, NotEstimableError, StructureError) as error:
            plans.append(_no_plan(key, entries, chosen, str(error)))
        except Exception as error:
            plans.append(_no_plan(key, entries, chosen, told(error)))
    if not any(plan.rows for plan in plans):
        reasons = [f"{plan.task} {plan.metric}: {plan.answer}" for plan in plans]
        raise NotEstimableError("; ".join(reasons) or "the pilot holds no task with scores a question")
    return plans


def _by_key(systems: "Iterable[dict[Key, Chosen]]") -> dict[Key, list[Chosen]]:
    found: dict[Key, list[Chosen]] = {}
    for by_key in systems:
        for key, entry in by_key.items():
            found.setdefault(key, []).append(entry)
    return found


def _no_plan(key: Key, entries: Sequence[Chosen], options: PlanOptions, reason: str) -> Plan:
    return Plan(
        rows=(),
        recommended=None,
        level=options.level,
        power=options.power,
        variance_between=None,
        variance_within=None,
        design_effect=1.0,
        answer=f"No plan: {reason}.",
        task=key[0],
        metric=key[1],
        filter=key[2],
        systems=tuple(dict.fromkeys(entry.log.system for entry in entries)),
    )


def _plan_of(key: Key, entries: Sequence[Chosen], options: PlanOptions, plugins: Plugins) -> Plan:
    if not all(isinstance(entry.data, Scores) and not entry.log.subtasks for entry in entries):
        raise NotEstimableError(_NO_SCORES)
    found = match_scores(entries, options.structure, plugins)
    how = Options(level=options.level, structure=options.structure)
    common = [
        replace(entry, data=_common(entry.data, rows, found.clusters.labels))
        for entry, rows in zip(found.common.entries, found.common.rows, strict=True)
    ]
    estimates = [estimate_of(entry, how, plugins) for entry in common]
    components = components_of(_trials_of(found), found.clusters.labels, estimates)
    plan = _plan(components, options, pilot_size=found.common.n_questions)
    notes = tuple(dict.fromkeys((*plan.notes, *found.notes)))
    said = tuple(dict.fromkeys((*plan.warnings, *found.warnings)))
    return replace(
        plan, task=key[0], metric=key[1], filter=key[2], systems=found.common.systems, notes=notes, warnings=said
    )


def _common(scores: TaskData, rows: IntArray, units: IntArray | None) -> Scores:
    """The scores of the common questions, with the clusters that any of the runs knows of."""
    if not isinstance(scores, Scores):
        raise NotEstimableError(_NO_SCORES)
    values, clusters = np.full_like(scores.values, np.nan), np.full(len(scores.values), -1)
    values[rows] = scores.values[rows]
    if units is not None:
        clusters[rows] = units
    return replace(scores, values=values, clusters=None if units is None else clusters)


def _trials_of(found: MatchedScores) -> tuple[FloatArray, ...]:
    """A system's scores each; where any system's trials differ, copies of a trial show that another has no noise."""
    return found.trials if found.n_trials == 1 else found.values


def _plan(components: Components, options: PlanOptions, *, pilot_size: int | None) -> Plan:
    prices = Prices(options.cost_question or 0.0, options.cost_trial or 1.0, is_given=options.cost_trial is not None)
    target = Target(options.difference, options.width, options.level, options.power, options.budget)
    trials = _trials(components, options)
    best = best_design(components, target, prices, trials, options.n_questions)
    sizes = {*_QUESTIONS, *([pilot_size, 3 * pilot_size] if pilot_size else [])}
    sizes = {options.n_questions} if options.n_questions else sizes | ({best.n_questions} if best else set())
    shown = trials if best is None else sorted({*trials, best.n_trials})
    rows = [row_of(components, n, k, target, prices) for k in shown for n in sorted(sizes)]
    return Plan(
        rows=tuple(rows),
        recommended=best,
        level=options.level,
        power=options.power,
        variance_between=components.between,
        variance_within=components.within,
        design_effect=components.design_effect,
        answer=answer_of(best, components, target, n_questions=options.n_questions, pilot_size=pilot_size),
        notes=components.notes,
        warnings=components.warnings,
        variance_difference=components.difference,
        design_effect_difference=components.design_effect_difference,
    )


def _trials(components: Components, options: PlanOptions) -> list[int]:
    """Numbers of trials to look at: the one asked for, the pilot's where no other is known, or some."""
    if components.within is None and options.n_trials not in (None, components.trials):
        raise NotEstimableError(
            "questions were tried once, so what more trials would buy is unknown: give a pilot with repeated trials, "
            "or the variance of one trial around its question's score"
        )
    if options.n_trials is not None:
        return [options.n_trials]
    if not components.within:
        return [components.trials]
    return sorted({*_TRIALS, components.trials})
