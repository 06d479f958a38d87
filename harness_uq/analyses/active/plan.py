"""Plan an active evaluation: the width to expect from a number of questions, or the number for a width."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from harness_uq.analyses.active.history import ActiveHistory
from harness_uq.data.structure import score_type_of
from harness_uq.data.task_log import Scores, TaskLog
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError, refusal_of
from harness_uq.options import Options, resolve
from harness_uq.options_typed import PlanActiveKeywords
from harness_uq.results.plan import ActivePlan, ActivePlanRow
from harness_uq.results.result_list import ResultList
from harness_uq.stats.active.expected_width import ExpectedWidth, WidthSimulation, questions_for

_SHARES = (0.025, 0.05, 0.1, 0.2)  # of the questions, if neither a width nor a number is given
_FEWEST = 10


def plan_active(
    reference_runs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: "Unpack[PlanActiveKeywords]",
) -> ResultList[ActivePlan]:
    """Predict the width of the interval of an active evaluation for a number of questions, or the number for a width.

    Up to 20 of the reference systems are evaluated as if they were new, without their own scores in the history.
    Without a width and a number of questions, the plan has the widths for 2.5, 5, 10 and 20 % of the questions.

    Parameters
    ----------
    reference_runs : runs of earlier systems on all questions, as for `read_logs`
    options : options of the plan
    plugins : plugins to use; by default the installed ones
    **keywords : `width`, or `questions`, the number of questions; `level`, `seed`, and the options that select logs.
        They take precedence over `options`

    Returns
    -------
    One plan per task, for its first metric and filter

    Raises
    ------
    LogError : if no run can be read
    DataError : if both a width and a number of questions are given
    """
    chosen, selection = resolve("plan_active", options, keywords)
    logs = [log for log in task_logs(reference_runs, plugins or load_plugins(), selection) if not log.subtasks]
    tasks = dict.fromkeys(log.task for log in logs if any(isinstance(data, Scores) for data in log.data))
    return ResultList(_plan([log for log in logs if log.task == task], chosen) for task in tasks)


def _plan(logs: Sequence[TaskLog], options: Options) -> ActivePlan:
    first = next(data for log in logs for data in log.data if isinstance(data, Scores))
    plan = ActivePlan(logs[0].task, first.metric, first.filter, options.level, target_width=options.width)
    try:
        _, bounds, _ = score_type_of(first, options.structure.of_task(plan.task).ranges)
        low, high = bounds or (0.0, 1.0)
        history = ActiveHistory(list(logs), task=plan.task, metric=plan.metric, filter=plan.filter, range=(low, high))
        simulation = WidthSimulation(history.scores, level=options.level, low=low, high=high, seed=options.seed)
        plan = replace(plan, n_all=simulation.n_all, n_systems=len(history.scores), n_simulated=simulation.n_evaluated)
        return _with_rows(plan, simulation, options)
    except (DataError, NotEstimableError, StructureError) as error:
        return replace(plan, messages=(refusal_of(error),))


def _with_rows(plan: ActivePlan, simulation: WidthSimulation, options: Options) -> ActivePlan:
    n_all = simulation.n_all
    if options.width is not None:
        expected = simulation.reach(options.width)
        best = expected[-1]
        n_uniform = questions_for(best.n_questions, best.width_uniform, options.width, n_all)
        answer = _answer(plan, best) + f" Drawn at random, {n_uniform:,} would be needed."
        return replace(plan, rows=_rows(expected), recommended=best.n_questions, n_uniform=n_uniform, answer=answer)
    shares = sorted({min(max(_FEWEST, round(share * n_all)), n_all - 1) for share in _SHARES})
    expected = [simulation.width(n) for n in ([options.questions] if options.questions else shares)]
    return replace(plan, rows=_rows(expected), answer=_answer(plan, expected[0]))


def _rows(expected: Sequence[ExpectedWidth]) -> tuple[ActivePlanRow, ...]:
    rows = (ActivePlanRow(each.n_questions, each.width, each.std_error, each.width_uniform) for each in expected)
    return tuple(sorted(rows, key=lambda row: row.n_questions))


def _answer(plan: ActivePlan, expected: ExpectedWidth) -> str:
    return (
        f"With {expected.n_questions:,} of the {plan.n_all:,} questions of {plan.task}, chosen actively, the "
        f"{100 * plan.level:g} % interval is expected to be {expected.width:.3f} wide."
    )
