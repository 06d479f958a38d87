"""Plans of runs, budgets, labels, graders and active evaluations: classes, tables of designs and curves.

Each plan has a recommendation as text and a table with one row for each design.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from harness_uq.messages import Message
from harness_uq.messages.errors import DataError
from harness_uq.output.declared import INTERNAL, Declared, Result
from harness_uq.output.document import Column, Kind, Section, table
from harness_uq.output.figures import axes as draw
from harness_uq.output.table_notes import first_sentence, footnotes
from harness_uq.output.words import (
    count_of,
    counted,
    difference_number,
    fixed_decimals,
    integer,
    join_names,
    metric_name,
    number,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from harness_uq.stats.design.paired_power import PairedDesign

GraderDesignName: TypeAlias = Literal["rotation", "all graders", "one grader"]

_MDE = "minimum detectable effect, the smallest difference between two systems that is detected"
_MOST_LABELS = 10  # of an axis
_MOST_SCORES = 8  # in one answer


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One design of a future run.

    `expected_width`: expected width of the interval of one score. `detectable`: smallest difference of two systems that
    is detected with the power of the plan; None for one system. `cost`: cost in the unit of the prices; None without
    prices.
    """

    n_questions: int
    n_trials: int
    expected_width: float | None
    detectable: float | None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Plan(Result):
    """Designs of a future run for one task, metric and filter.

    `recommended`: the design that meets the target; None if no design does. `rows`: designs for the table and the
    curve. `variance_between`, `variance_within`: variance of the expected scores between questions, and of the trials
    within questions; None if unknown. `design_effect`: of one score: variance of its mean with clusters, divided by
    that without. `task`, `metric`, `filter`, `systems`: of the pilot run; empty if the plan was made from given
    variances. `variance_difference`: variance between questions of the difference of two systems; None for one system.
    `pilot`: a design as large as the pilot run. `goal`: what the recommended design is for; empty without a target.
    `paired`: what determines the power at the recommended number of trials; None for one system.
    """

    needed: ClassVar = "rows"
    record_rows: ClassVar = "rows"
    record_methods: ClassVar = ("is_recommended",)
    not_in_records: ClassVar = ("recommended",)

    rows: tuple[PlanRow, ...]
    recommended: PlanRow | None
    level: float
    power: float
    variance_between: float | None
    variance_within: float | None
    design_effect: float
    answer: str
    messages: tuple[Message, ...] = ()
    task: str = ""
    metric: str = ""
    filter: str = "none"
    systems: tuple[str, ...] = ()
    variance_difference: float | None = None
    design_effect_difference: float | None = None
    pilot: PlanRow | None = field(default=None, metadata=INTERNAL)
    goal: str = field(default="", metadata=INTERNAL)
    paired: "PairedDesign | None" = field(default=None, metadata=INTERNAL)

    def is_recommended(self, row: PlanRow) -> bool:
        """Whether this design is the recommended one."""
        return row == self.recommended


@dataclass(frozen=True, slots=True)
class AllocationRow:
    """A balanced design.

    `name`: `best`, `as many levels as now` or `as now`. `questions`, `trials`: number of questions, and of trials per
    question in each condition. `levels`: number of levels of each further factor. `cost`: cost in the unit of the
    prices. `half_width`: expected half-width of the interval for the mean over new levels.
    """

    name: str
    questions: int
    trials: int
    levels: Mapping[str, int]
    cost: float
    half_width: float


@dataclass(frozen=True, slots=True)
class BudgetAllocation(Result):
    """The best allocation for one model, task, metric and filter.

    `rows`: designs, the best first; without `best` if no design meets the target. `new`: factors to generalize over,
    whose observed levels are a sample. `is_share`: whether scores lie in [0, 1], so that differences are given in
    points.
    """

    needed: ClassVar = "rows"
    record_rows: ClassVar = "rows"

    model: str
    task: str
    metric: str
    filter: str
    level: float
    rows: tuple[AllocationRow, ...]
    new: tuple[str, ...]
    answer: str
    is_share: bool
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelStratum(Declared):
    """Questions with similar grades, and how many of them to label.

    `grades`: mean grade of each system in the stratum. `n_questions`, `n_pilot`: number of questions, and number of
    questions that have labels already. `n_labels`: number of questions that have labels in the end. `probability`:
    `n_labels / n_questions`, the share of questions that have labels in the end.
    """

    grades: tuple[float, ...]
    n_questions: int
    n_pilot: int
    n_labels: int
    probability: float


@dataclass(frozen=True, slots=True)
class LabelTotal(Declared):
    """Labels that the plans of several tasks require together.

    `n_new_labels`: number of answers to label in all plans.
    """

    n_plans: int
    n_new_labels: int


@dataclass(frozen=True, slots=True)
class LabelPlan(Result):
    """Labels that give the interval of a corrected score, or of a corrected difference, a certain width.

    - `systems`: the system, or the two systems to compare, whose answers to each question are labeled.
    - `level`, `target_width`: level and width of the interval to reach.
    - `expected_width`: expected width with these labels; None if there is no plan.
    - `n_labels`: number of questions with labels in the end, including the pilot.
    - `n_new`: number of questions to label.
    - `n_new_labels`: number of answers to label, which is `n_new` for each system.
    - `n_uniform`: number of questions with labels that would be needed if they were drawn uniformly.
    - `strata`: groups of questions by their grades.
    - `template`: rows of the table for the labels: identifier, task, system, score (empty if there is none) and
      probability, whose inverse is the weight of the label in the correction.
    """

    needed: ClassVar = "expected_width"
    record_rows: ClassVar = "strata"

    task: str
    metric: str
    filter: str
    systems: tuple[str, ...]
    level: float
    target_width: float
    expected_width: float | None = None
    n_labels: int = 0
    n_new: int = 0
    n_new_labels: int = 0
    n_uniform: int | None = None
    strata: tuple[LabelStratum, ...] = ()
    answer: str = ""
    template: tuple[tuple[str, ...], ...] = field(default=(), metadata=INTERNAL)
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class GraderDesign(Declared):
    """A way to distribute grades over answers and graders.

    `design`: `rotation` (the graders take turns), `all graders` score each answer, or `one grader` scores all answers.
    `std_error`: predicted standard error of the mean score as an estimate of the panel's mean score; for one grader the
    root mean square error, which includes the difference between the grader and the panel.
    """

    design: GraderDesignName
    n_answers: int
    n_per_answer: int
    std_error: float


@dataclass(frozen=True, slots=True)
class GraderPlan(Result):
    """Which grader scores which answer, so that the mean score is precise at a fixed number of grades.

    `n_pilot`, `n_clusters`: number of answers that all graders have scored, and of their clusters; None for independent
    questions. `sd_questions`, `sd_graders`, `sd_residual`: standard deviations of the panel's mean score between
    questions, of the mean scores of graders, and of what remains; None if there is no plan. `sd_clusters`: standard
    deviation of the panel's mean score between clusters, as a part of `sd_questions`; None for independent questions.
    `designs`: the best rotation, all graders and one grader with at most this number of grades; the plan comes first.
    `template`: rows of the table of grades: question, task, system, grader and score (empty if there is none).
    """

    needed: ClassVar = "designs"
    record_rows: ClassVar = "designs"

    task: str
    filter: str
    system: str
    graders: tuple[str, ...]
    budget: int
    n_pilot: int = 0
    n_clusters: int | None = None
    sd_questions: float | None = None
    sd_graders: float | None = None
    sd_residual: float | None = None
    sd_clusters: float | None = None
    designs: tuple[GraderDesign, ...] = ()
    answer: str = ""
    messages: tuple[Message, ...] = ()
    template: tuple[tuple[str, ...], ...] = field(default=(), metadata=INTERNAL)


@dataclass(frozen=True, slots=True)
class ActivePlanRow(Declared):
    """A number of questions, and the precision to expect from it.

    `n_questions`: number of questions that a new system answers. `expected_width`: mean width of the interval if the
    questions are chosen actively. `std_error`: Monte Carlo standard error of `expected_width`.
    `expected_width_uniform`: mean width of the interval of the plain mean if the questions are drawn at random.
    """

    n_questions: int
    expected_width: float
    std_error: float
    expected_width_uniform: float


@dataclass(frozen=True, slots=True)
class ActivePlan(Result):
    """How many questions an active evaluation needs, by evaluating reference systems as if they were new.

    `n_all`: number of questions of the benchmark. `n_simulated`: number of reference systems that were evaluated as if
    they were new. `target_width`: width to reach; None if there is none. `rows`: numbers of questions with their
    expected widths, in increasing order. `recommended`: number of questions for the target width; None if there is no
    target. `n_uniform`: number of randomly drawn questions for the target width; None if there is no target.
    """

    needed: ClassVar = "rows"
    record_rows: ClassVar = "rows"

    task: str
    metric: str
    filter: str
    level: float
    n_all: int | None = None
    n_systems: int | None = None
    n_simulated: int | None = None
    target_width: float | None = None
    rows: tuple[ActivePlanRow, ...] = ()
    recommended: int | None = None
    n_uniform: int | None = None
    answer: str = ""
    messages: tuple[Message, ...] = ()

    def is_recommended(self, row: ActivePlanRow) -> bool:
        """Whether this number of questions is the recommended one."""
        return row.n_questions == self.recommended


def _cost(value: float | None, _: int) -> str:
    return "-" if value is None else f"{value:,.6g}"


def _recommended(is_recommended: Callable[[Any], bool]) -> Column:
    """The column that marks the recommended design."""
    return Column("", lambda row: ">" if is_recommended(row) else "", name="recommended")


def _in_points(value: float, _: int) -> str:
    return difference_number(value, in_points=True)


def _as_it_is(value: float, _: int) -> str:
    return difference_number(value, in_points=False)


def _level_of(factor: str) -> Callable[[AllocationRow], int]:
    return lambda row: row.levels[factor]


def _plans(plans: Sequence[Plan], digits: int) -> list[Section]:
    sections = []
    for plan in plans:
        title = _title(plan)
        columns = [
            _recommended(plan.is_recommended),
            Column("Questions", "n_questions", integer),
            Column("Trials", "n_trials", is_number=True),
            Column(f"Width of {100 * plan.level:g}% interval", "expected_width", number, "width"),
            Column(_mde_header(plan), "detectable", number, "mde"),
            Column("Cost", "cost", _cost),
        ]
        is_empty = not plan.rows
        sections.append(
            Section(title, answer=plan.answer)
            if is_empty
            else table(title, columns, plan.rows, digits, lines=["", _basis(plan)], answer=plan.answer)
        )
    if with_table := [k for k, section in enumerate(sections) if section.columns]:
        marks = "> marks the recommended design." if any(plan.recommended for plan in plans) else ""
        legend = {"": marks, _mde_header(plans[0]): f"MDE: {_MDE}, with this power."}
        sections[with_table[-1]] = replace(sections[with_table[-1]], legend=legend)
    return sections


def _summary(plans: Sequence[Plan], digits: int) -> Iterator[Section]:
    """The answer of one plan, or one table with the recommended design of each of several plans."""
    if len(plans) == 1:
        (plan,) = plans
        lines = [_basis(plan), "The option --designs prints the precision of other designs."] if plan.rows else []
        yield Section(_title(plan), answer=plan.answer, lines=lines)
        return

    def best(name: str) -> Callable[[Plan], Any]:
        return lambda plan: getattr(plan.recommended or plan.pilot, name)

    columns = [
        Column("Task", "task"),
        Column("Metric", lambda plan: metric_name(plan.metric, plan.filter)),
        Column("Questions", best("n_questions"), integer),
        Column("Trials", best("n_trials"), is_number=True),
        Column(
            "Width", best("expected_width"), number, legend=f"of the {100 * plans[0].level:g}% interval of a score."
        ),
        Column("MDE", best("detectable"), number, legend=f"{_MDE}, with {100 * plans[0].power:g}% power."),
        Column("Cost", best("cost"), _cost),
    ]
    has_target = any(plan.goal or plan.recommended for plan in plans)
    rows = [plan for plan in plans if plan.recommended or (plan.rows and not has_target)]
    lines = list(dict.fromkeys(plan.answer for plan in plans if plan.rows and plan not in rows))
    if len(lines) > 1:
        lines = [f"{lines[0]} The option --designs prints the answers for {len(lines) - 1} more."]
    refused: dict[str, list[str]] = {}
    for plan in plans:
        if not plan.rows:
            reason = f": {first_sentence(plan.reason.text)}" if plan.reason else "."
            refused.setdefault(reason, []).append(f"{plan.task} ({metric_name(plan.metric, plan.filter)})")
    lines += [f"No plan is possible for {join_names(names)}{reason}" for reason, names in refused.items()]
    goals = {plan.goal for plan in rows}
    answer = "These designs are as large as the pilot run. Specify a target with --difference, --width or --budget."
    if has_target:
        answer = f"To {goals.pop()}, ask:" if len(goals) == 1 and all(goals) else "The most precise designs:"
    if len(rows) > _MOST_SCORES:
        size: Callable[[Plan], float] = best("n_questions") if has_target else best("expected_width")
        ordered = sorted(rows, key=lambda plan: size(plan) or 0.0, reverse=True)
        rows, hidden = ordered[:_MOST_SCORES], ordered[_MOST_SCORES:]
        sizes = [best("n_questions")(plan) for plan in hidden]
        needs = " to ".join(f"{n:,}" for n in sorted({min(sizes), max(sizes)}))
        lines.insert(0, f"{counted(len(hidden), 'other score')}: {needs} questions each (--designs prints them).")
    yield table("", columns, rows, digits, answer=answer if rows else "", lines=lines)


def _title(plan: Plan) -> str:
    if not plan.task:
        return "Plan"
    return f"{plan.task}, {metric_name(plan.metric, plan.filter)}; pilot: {join_names(plan.systems)}"


def _mde_header(plan: Plan) -> str:
    return f"MDE ({100 * plan.power:g}% power)"


def _basis(plan: Plan) -> str:
    """The variances behind the plan, as one sentence."""
    variances = [
        ("between questions", plan.variance_between),
        ("between trials", plan.variance_within),
        ("of the difference", plan.variance_difference),
    ]
    parts = [f"{value:.4g} {name}" for name, value in variances if value is not None]
    effects = {
        "design effect": plan.design_effect,
        "design effect of the difference": plan.design_effect_difference or 1.0,
    }
    parts += [f"{name} {value:.2f}" for name, value in effects.items() if value != 1.0]
    return f"The plan assumes these variances: {', '.join(parts)}." if parts else ""


def _allocations(plans: Sequence[BudgetAllocation], digits: int) -> Iterator[Section]:
    for plan in plans:
        points = plan.is_share
        columns = [
            Column("Run", "name"),
            Column("Questions", "questions", integer),
            *(
                Column(name.capitalize(), _level_of(name), integer, name)
                for name in (plan.rows[0].levels if plan.rows else ())
            ),
            Column("Trials", "trials", is_number=True),
            Column("Cost", "cost", _cost),
            Column(
                *(f"Half-width, {'points' if points else 'units'}", "half_width"),
                show=_in_points if points else _as_it_is,
                name="half-width",
            ),
        ]
        line = (
            f"Half-width: half the width of the {100 * plan.level:g}% interval of the mean score over new levels of "
            f"{', '.join(plan.new)}. Factors without a column keep their levels."
        )
        title = f"{plan.model} on {plan.task}, {metric_name(plan.metric, plan.filter)}"
        yield table(title, columns, plan.rows, digits, lines=["", line], answer=plan.answer)


def total_labels(plans: Sequence[LabelPlan]) -> LabelTotal | None:
    """The labels that plans of different tasks require together; None for fewer than two tasks or several metrics."""
    possible = [plan for plan in plans if plan.strata]
    if len({plan.task for plan in possible}) < len(possible) or len(possible) < 2:
        return None
    return LabelTotal(len(possible), sum(plan.n_new_labels for plan in possible))


def _label_plans(plans: Sequence[LabelPlan], digits: int) -> list[Section]:
    """One table of strata for each plan, and the number of labels of plans of different tasks."""
    sections = [_labels(plan, digits) for plan in plans]
    if (total := total_labels(plans)) is not None:
        labels = count_of(total.n_new_labels, "more label")
        sections[-1] = replace(sections[-1], lines=[f"Together, the {total.n_plans} plans require {labels}."])
    return sections


def _labels(plan: LabelPlan, digits: int) -> Section:
    rows: list[tuple[LabelStratum | None, int, int, int, float]] = [
        (one, one.n_questions, one.n_pilot, max(0, one.n_labels - one.n_pilot), one.probability) for one in plan.strata
    ]
    if len(rows) > 1:
        n, n_labeled, n_new = (sum(row[k] for row in rows) for k in (1, 2, 3))  # type: ignore[misc]  # of integers
        rows.append((None, n, n_labeled, n_new, plan.n_labels / n))

    def grade(i: int) -> Callable[[Any], str]:
        def of(row: Any) -> str:
            return "all" if row[0] is None else number(row[0].grades[i], digits if row[0].grades[i] % 1 else 0)

        return of

    columns = [
        *(
            Column(
                "Grade" if len(plan.systems) == 1 else f"Grade of {system}",
                grade(i),
                is_number=True,
                name=f"grade-{i + 1}",
            )
            for i, system in enumerate(plan.systems)
        ),
        Column("Questions", itemgetter(1), integer),
        Column("Labeled", itemgetter(2), integer),
        Column("To label", itemgetter(3), integer),
        Column(
            *("Probability", itemgetter(4), fixed_decimals),
            spare=1,
            legend="share of the questions that have a label in the end.",
        ),
    ]
    title = f"{', '.join(plan.systems)} on {plan.task}, {metric_name(plan.metric, plan.filter)}"
    return table(title, columns, rows, digits, answer=plan.answer)


_GRADER_DESIGNS = (
    Column("Design", "design", is_number=True, legend="rotation lets the graders take turns."),
    Column("Answers", "n_answers", integer),
    Column("Graders per answer", "n_per_answer", integer, "per-answer"),
    Column(
        *("Std. error", "std_error", number, "std-error"),
        legend="standard error of the mean score as an estimate of the mean score of all graders on new questions; for "
        "one grader it includes the difference between this grader and the others.",
    ),
)


def _grader_plans(plans: Sequence[GraderPlan], digits: int) -> Iterator[Section]:
    for plan in plans:
        lines = []
        if plan.designs and plan.n_clusters:
            lines = [f"The standard errors account for clusters of questions ({plan.n_clusters} in the pilot)."]
        title = f"{plan.system} on {plan.task}, graders {', '.join(plan.graders)}"
        yield table(title, _GRADER_DESIGNS, plan.designs, digits, lines=lines, answer=plan.answer)


_ACTIVE_COLUMNS = (
    Column("Questions", "n_questions", integer),
    Column("Width", "expected_width", number),
    Column(
        *("± (simulation)", "std_error", number, "std-error"),
        legend="Monte Carlo standard error of the width.",
    ),
    Column(
        *("Width if random", "expected_width_uniform", number, "uniform"),
        legend="of the mean score of as many questions that are drawn at random.",
    ),
)


def _active_plans(plans: Sequence[ActivePlan], digits: int) -> Iterator[Section]:
    for plan in plans:
        title = f"{plan.task}, {metric_name(plan.metric, plan.filter)}"
        if not plan.rows:
            yield Section(title, answer=plan.answer)
            continue
        basis = (
            f"The widths are means over {plan.n_simulated} of the {plan.n_systems} reference systems, evaluated as if "
            "they were new."
        )
        legend = {"": "> marks the recommended number of questions." if plan.recommended else ""}
        section = table(
            title,
            [_recommended(plan.is_recommended), *_ACTIVE_COLUMNS],
            plan.rows,
            digits,
            lines=["", basis],
            answer=plan.answer,
        )
        yield replace(section, legend={**legend, **section.legend})


def precision_curve(plan: Plan) -> "Figure":
    """Minimum detectable effect and expected interval width against questions, one line per number of trials.

    Parameters
    ----------
    plan : with at least one design that has a width or a detectable difference; the recommended one is marked

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if no design has either number
    MissingDependencyError : if matplotlib is not installed
    """
    wanted = {
        "detectable": f"minimum detectable effect\nwith {100 * plan.power:g} % power",
        "expected_width": f"expected width of the\n{100 * plan.level:g} % interval",
    }
    curves = [name for name in wanted if any(getattr(row, name) is not None for row in plan.rows)]
    draw.need_rows(curves, "design with an expected width or a detectable difference")
    figure = draw.new_figure(6.5, 2.8 * len(curves) + 0.6)
    drawn = draw.axes_of(figure, [1.0] * len(curves))
    for axes, name in zip(drawn, curves, strict=True):
        _draw_designs(axes, plan, name)
        axes.set_ylabel(wanted[name], fontsize=draw.TEXT, color=draw.INK)
    drawn[-1].set_xlabel("questions", fontsize=draw.TEXT, color=draw.INK)
    draw.legend_below(drawn[0])
    return figure


def power_curve(plan: Plan, differences: Sequence[float]) -> "Figure":
    """Power to detect each true difference against questions, at the recommended number of trials.

    It is that from which the plan is computed, see `harness_uq.stats.design.paired_power.PairedDesign`.

    Parameters
    ----------
    plan : with detectable differences
    differences : true differences, > 0, on the scale of the score

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError : if the plan has no detectable differences, or `differences` is empty or not positive
    MissingDependencyError : if matplotlib is not installed
    """
    if not differences or min(differences) <= 0:
        raise DataError(f"differences must be positive, such as [0.02, 0.05]; got {list(differences)}")
    rows = _at_recommended_trials(plan)
    draw.need_rows(rows if plan.paired else [], "design with a detectable difference")
    figure = draw.new_figure(6.5, 4.0)
    axes = draw.tidy(figure.subplots())
    for k, difference in enumerate(differences):
        powers = [plan.paired.power(difference, row.n_questions, level=plan.level) for row in rows if plan.paired]
        draw.draw_series(axes, k, f"true difference {difference:g}", [row.n_questions for row in rows], powers)
    axes.axhline(plan.power, color=draw.GREY, linewidth=1.0)
    axes.set_ylim(0.0, 1.02)
    _question_axis(axes, [row.n_questions for row in rows], plan.recommended)
    axes.set_xlabel(f"questions, {counted(rows[0].n_trials, 'trial')} per question", fontsize=draw.TEXT, color=draw.INK)
    axes.set_ylabel("power", fontsize=draw.TEXT, color=draw.INK)
    draw.legend_below(axes)
    return figure


def _at_recommended_trials(plan: Plan) -> list[PlanRow]:
    rows = sorted((row for row in plan.rows if row.detectable), key=lambda row: row.n_questions)
    if not rows:
        return []
    n_trials = plan.recommended.n_trials if plan.recommended else rows[0].n_trials
    return [row for row in rows if row.n_trials == n_trials]


def _draw_designs(axes: "Axes", plan: Plan, name: str) -> None:
    rows = [row for row in plan.rows if getattr(row, name) is not None]
    for k, n_trials in enumerate(sorted({row.n_trials for row in rows})):
        line = sorted((row.n_questions, getattr(row, name)) for row in rows if row.n_trials == n_trials)
        draw.draw_series(
            axes, k, f"{counted(n_trials, 'trial')} per question", [n for n, _ in line], [y for _, y in line]
        )
    best = plan.recommended
    if best is not None and (y := getattr(best, name)) is not None:
        label = f"recommended: {count_of(best.n_questions, 'question')}"
        axes.plot([best.n_questions], [y], "o", markersize=13, fillstyle="none", color=draw.INK, label=label)
    _question_axis(axes, [row.n_questions for row in rows], best)
    axes.set_ylim(bottom=0.0)


def _question_axis(axes: "Axes", counts: Sequence[int], best: PlanRow | None) -> None:
    if max(counts) > 8 * min(counts):
        axes.set_xscale("log")
        labelled = spaced(counts, None if best is None else best.n_questions)
        axes.set_xticks(labelled, [f"{n:,}" for n in labelled])
        axes.set_xticks([], minor=True)


def spaced(counts: Sequence[int], first: int | None = None) -> list[int]:
    """Counts whose labels fit next to each other on a logarithmic axis, including `first`.

    >>> spaced([50, 100, 500, 984, 1000, 5000], 984)
    [50, 100, 500, 984, 5000]
    """
    room = math.log(max(counts) / min(counts)) / _MOST_LABELS
    spaced_counts = [] if first is None else [first]
    for n in sorted(set(counts)):
        if all(abs(math.log(n / other)) >= room for other in spaced_counts):
            spaced_counts.append(n)
    return sorted(spaced_counts)


Plan.KIND = Kind(
    "plans",
    Plan,
    _plans,
    "Designs of the next run.",
    footnotes,
    summary=_summary,
    displayed=("task", "metric", "n_questions", "n_trials", "expected_width", "detectable", "cost", "is_recommended"),
    figure=draw.one_result(precision_curve),
)
BudgetAllocation.KIND = Kind("allocations", BudgetAllocation, _allocations, "Allocations of the budget.")
LabelPlan.KIND = Kind("label_plans", LabelPlan, _label_plans, "Answers to label.", total=total_labels)
GraderPlan.KIND = Kind("grader_plans", GraderPlan, _grader_plans, "Designs of graders.")
ActivePlan.KIND = Kind("active_plans", ActivePlan, _active_plans, "Expected widths.")
