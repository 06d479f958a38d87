"""Describe the result of a plan in one or two sentences."""

from harness_uq.planning.components import Components
from harness_uq.planning.optimal_design import PlanTarget
from harness_uq.results.format_points import amount, count_of
from harness_uq.results.plan import PlanRow


def answer_of(
    best: PlanRow | None,
    components: Components,
    target: PlanTarget,
    *,
    n_questions: int | None,
    pilot_size: int | None,
) -> str:
    """Write the answer of a plan.

    Parameters
    ----------
    best : the recommended design, None if no design meets the target
    n_questions : the fixed number of questions, None if it is free
    pilot_size : number of questions of the pilot, None if the plan is based on numbers
    """
    cost = "" if best is None or best.cost is None else f", at a cost of {best.cost:,.6g} per system"
    if target.difference is None and target.width is None:
        return _without_target(best, cost, components, target, pilot_size)
    goal = _goal(target, components)
    if best is None:
        return f"None of the designs would {goal}. {_why_not(components, target, n_questions)}"
    return f"To {goal}, {_ask(best)}{cost}.{_also(best, components, target)}"


def _goal(target: PlanTarget, components: Components) -> str:
    in_points = components.in_points
    if target.difference is not None:
        size = amount(target.difference, in_points=in_points)
        return f"find a difference of {size} in {100 * target.power:g} of 100 runs"
    return f"expect a {100 * target.level:g} % interval {amount(target.width or 0.0, in_points=in_points)} wide"


def _ask(row: PlanRow) -> str:
    times = {1: "once", 2: "twice"}.get(row.n_trials, f"{row.n_trials:,} times")
    return f"ask {count_of(row.n_questions, 'question')} {times} each"


def _also(row: PlanRow, components: Components, target: PlanTarget) -> str:
    in_points = components.in_points
    if target.difference is not None and row.expected_width is not None:
        return f" Each score's interval will be about {amount(row.expected_width, in_points=in_points)} wide."
    if target.width is not None and row.detectable is not None:
        return f" The minimum detectable difference of two systems is {amount(row.detectable, in_points=in_points)}."
    return ""


def _without_target(
    best: PlanRow | None, cost: str, components: Components, target: PlanTarget, pilot_size: int | None
) -> str:
    in_points = components.in_points
    if best is None:
        scaled = f" The pilot had {count_of(pilot_size, 'question')}." if pilot_size else ""
        return f"The table shows the precision of each design.{scaled} Specify a target with --difference or --width."
    statements = []
    if best.detectable is not None:
        size = amount(best.detectable, in_points=in_points)
        statements.append(f"a difference of {size} is found in {100 * target.power:g} of 100 runs")
    if best.expected_width is not None:
        width = amount(best.expected_width, in_points=in_points)
        statements.append(f"a score's {100 * target.level:g} % interval is about {width} wide")
    first = f"{count_of(best.n_questions, 'question')}, {count_of(best.n_trials, 'trial')} each{cost}"
    return f"{first}: {' and '.join(statements)}."


def _why_not(components: Components, target: PlanTarget, n_questions: int | None) -> str:
    if target.difference is not None and components.difference is None:
        return "A difference needs a second system: give its pilot too, or the variance of the difference."
    if target.width is not None and components.between is None:
        return "A width needs the spread of a score: give a pilot, --score or --variance-between."
    if target.budget is not None and n_questions is None:
        return f"The budget of {target.budget:g} is too small for it."
    if n_questions is not None and components.within:
        asked = count_of(n_questions, "question")
        return f"Not even many trials of {asked} are enough: questions differ. Ask more questions."
    return "Ask for a larger difference or a wider interval."
