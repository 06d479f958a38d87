"""Overall results of systems over several tasks: the class with its columns, headline and figure rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from harness_uq.messages import Message
from harness_uq.messages.catalogue.overall import OVERALL_TASKS_LEFT_OUT
from harness_uq.messages.message import join_words
from harness_uq.output.declared import INTERNAL, Declared, Result
from harness_uq.output.document import OVERALL, Column, Kind, Section, table
from harness_uq.output.figures.forest import plot_forest
from harness_uq.output.figures.marks import (
    OVERALL_GROUP,
    PAIR,
    SCORE_SCALE,
    Board,
    Mark,
    RankMark,
    difference_scale,
    ends,
)
from harness_uq.output.words import (
    counted,
    interval,
    interval_header,
    interval_or_dash,
    join_names,
    metric_name,
    number,
    one_decimal,
    probability,
)
from harness_uq.results.comparison import Verdict, verdict_counts
from harness_uq.results.estimate import Interval, Posterior
from harness_uq.results.ranking import group_text, rank_columns, ranks_header

_PAIRS = "systems share a letter if they are not separated after correction for all pairs."
_MOST_TASKS = 8
_PER_TASK = "The option --per-task also prints the ranking on each task."
_SCHEMES = {
    "equal": "equal weights",
    "questions": "weights by number of questions",
    "group": "the weights of their group",
    "subtasks": "equal weights for all tasks of groups",
    "given": "given weights",
}


@dataclass(frozen=True, slots=True)
class OverallTask(Declared):
    """One task of an overall result.

    `task`: a task, or a group that counts as one task. `metric`, `filter`: the score of the task in the overall result.
    `weight`: weight of the task; the weights have the sum 1. `chance`: score of random answers, by which the score is
    normalized; None without normalization. `n_subtasks`: number of tasks of a group; None for a single task.
    """

    task: str
    metric: str
    filter: str
    weight: float
    chance: float | None = None
    n_subtasks: int | None = None


@dataclass(frozen=True, slots=True)
class OverallSystem(Declared):
    """Overall score of one system. Ranks are None if the systems were not ranked.

    - `value`, `interval`: weighted mean of the scores of the tasks.
    - `std_error`: its standard error; None if that of a task is unknown.
    - `n_questions`: number of questions of all tasks; None if that of a task is unknown.
    - `prob_best`: probability that this system has the best overall score, under a prior by which systems may be alike.
    - `prob_best_flat`: the same under a flat prior.
    - `expected_rank`: posterior mean of the rank; 1 is best.
    - `rank_interval`: credible interval of the rank of this system alone.
    - `rank_set`: best and worst rank in the simultaneous rank sets.
    - `letters`: compact letter display: systems that share a letter cannot be separated after correction for all pairs.
    - `tie_group`: systems share a letter if their rank intervals overlap.
    - `average_rank`: mean over the tasks of the rank of the score, ties share their mean rank.
    - `tasks_led`: number of tasks on which no system scores better.
    """

    system: str
    value: float
    interval: Interval
    std_error: float | None = None
    n_questions: int | None = None
    prob_best: float | None = None
    prob_best_flat: float | None = None
    expected_rank: float | None = None
    rank_interval: tuple[int, int] | None = None
    rank_set: tuple[int, int] | None = None
    letters: str = ""
    average_rank: float | None = None
    tasks_led: int | None = None
    tie_group: str = ""


@dataclass(frozen=True, slots=True)
class OverallDifference(Declared):
    """Difference of the overall scores of a system and the baseline.

    `value`: score of the system minus that of the baseline. `interval`: simultaneous interval: all intervals contain
    their differences with probability `interval.level`. `single_interval`: interval of this difference alone.
    `prob_better`: probability that the system is better than the baseline. `verdict`, `verdict_text`: verdict by the
    simultaneous interval, in one word and as a sentence. `single_verdict`: verdict by the interval of this difference
    alone. `posterior`: posterior of the difference; None if only joint draws of all systems are known. It is not part
    of the JSON form.
    """

    system: str
    value: float
    interval: Interval
    single_interval: Interval
    prob_better: float
    verdict: Verdict
    verdict_text: str
    single_verdict: Verdict
    posterior: Posterior | None = field(default=None, repr=False, compare=False, metadata=INTERNAL)


@dataclass(frozen=True, slots=True)
class Overall(Result):
    """Weighted mean of the scores of several tasks for each system.

    Attributes
    ----------
    weights : `equal`, `questions`, `group` (those of the harness's group), `subtasks` or `given`
    normalization : `none`, or `chance`: (score - chance) / (1 - chance)
    generalizes_over_tasks : whether the interval refers to new tasks of the same kind; otherwise to new questions in
        these tasks
    higher_is_better : False if lower scores are better in every task
    tasks : the tasks with their metrics and weights
    systems : best first; empty if there is no overall result
    prob_better : prob_better[i][j] = P(system i is better than system j), in the order of `systems`, under a flat
        prior; None if the systems were not ranked
    baseline : system with which the others are compared; None without a comparison
    differences : difference of each other system from the baseline
    messages : notes, warnings, and why there is no overall result
    """

    needed: ClassVar = "systems"
    record_rows: ClassVar = "systems"
    not_in_records: ClassVar = ("tasks", "prob_better", "differences")

    weights: str
    normalization: Literal["none", "chance"]
    generalizes_over_tasks: bool
    higher_is_better: bool
    tasks: tuple[OverallTask, ...]
    systems: tuple[OverallSystem, ...]
    prob_better: tuple[tuple[float, ...], ...] | None = None
    baseline: str | None = None
    differences: tuple[OverallDifference, ...] = ()
    messages: tuple[Message, ...] = ()


def overall_title(result: Overall) -> str:
    """What the overall score is a mean of, with the metric if all tasks share it.

    >>> overall_title(Overall("equal", "none", False, True, (OverallTask("a", "acc", "none", 1.0),), ()))
    'Overall: mean acc of 1 task with equal weights'
    """
    return f"Overall: {_mean(result, _SCHEMES[result.weights])}"


def _mean(result: Overall, weights: str) -> str:
    metrics = {metric_name(task.metric, task.filter) for task in result.tasks}
    mean = f"mean {metrics.pop()}" if len(metrics) == 1 else "mean"
    scheme = f" with {weights}" if weights else ""
    new = ", for new tasks of the same kind" if result.generalizes_over_tasks else ""
    chance = ", normalized by the scores of random answers" if result.normalization == "chance" else ""
    tasks = _coverage(result) or counted(len(result.tasks), "task")
    return f"{mean} of {tasks}{scheme}{chance}{new}"


def _coverage(result: Overall) -> str:
    """How many of the tasks the result covers; empty if it covers all."""
    found: list[Mapping[str, Any]] = [m.params for m in result.messages if m.code == OVERALL_TASKS_LEFT_OUT.code]
    n, left_out = len(result.tasks), sum(params["n_tasks"] for params in found)
    return f"{n} of {counted(n + left_out, 'task')}" if left_out else ""


def _has_one_row(result: Overall) -> bool:
    """Whether the headline states the table: one score, or the difference of two systems."""
    return len(result.systems) == 1 + len(result.differences) <= 2


def overall_answer(result: Overall, digits: int = 4) -> str:
    """The best system with its score, which others may be as good, and what the score is a mean of if the headline
    states the table; empty without systems.
    """
    if not result.systems:
        return ""
    if _has_one_row(result):
        return _whole_answer(result, digits)
    covered = f" The overall score covers {coverage}." if (coverage := _coverage(result)) else ""
    return f"{_answer(result, digits)}{covered}"


def _whole_answer(result: Overall, digits: int) -> str:
    weights = "" if result.weights == "equal" else _SCHEMES[result.weights]
    mean = f"({_mean(result, weights)})"
    if result.differences:
        systems = sorted(result.systems, key=lambda system: system.system == result.baseline)
        scores = [number(system.value, digits) for system in systems]
        return f"{result.differences[0].verdict_text} The overall scores are {' and '.join(scores)} {mean}."
    [only] = result.systems
    return f"{only.system} has the overall score {number(only.value, digits)} {interval(only.interval, digits)} {mean}."


def _answer(result: Overall, digits: int) -> str:
    if result.differences:
        verdicts = join_words(verdict_counts(one.verdict for one in result.differences))
        return f"Of {len(result.differences)} systems compared with {result.baseline}, {verdicts}."
    best, *others = result.systems
    scores = f"{number(best.value, digits)} {interval(best.interval, digits)}"
    has_best = f"{best.system} has the best overall score, {scores}"
    if best.rank_interval is None:
        return f"{has_best}."
    if rivals := [other.system for other in others if other.rank_interval and other.rank_interval[0] == 1]:
        return f"{has_best}, but {join_names(rivals)} may be as good or better."
    if best.rank_interval[1] > 1:
        return f"{has_best}. The ranks of no other system include 1."
    return f"{best.system} is best overall, with the score {scores}."


def _metrics(tasks: Sequence[OverallTask], *, is_complete: bool = False) -> str:
    """Which tasks are averaged, with their metrics unless all tasks share one, which is in the title.

    Tasks that share a metric are listed only if `is_complete`.

    >>> _metrics([OverallTask("arc", "acc_norm", "none", 0.5), OverallTask("boolq", "acc", "none", 0.5)])
    'Metrics: acc_norm (arc), acc (boolq).'
    """
    tasks_of: dict[str, list[str]] = {}
    for task in tasks:
        tasks_of.setdefault(metric_name(task.metric, task.filter), []).append(task.task)
    if len(tasks_of) == 1:
        return f"Tasks: {_tasks(next(iter(tasks_of.values())))}." if is_complete else ""
    return f"Metrics: {', '.join(f'{metric} ({_tasks(names)})' for metric, names in tasks_of.items())}."


def _tasks(names: Sequence[str]) -> str:
    """The names of tasks, of which at most eight are listed."""
    more = len(names) - _MOST_TASKS
    return ", ".join(names[:_MOST_TASKS]) + (f" and {more} more" if more > 0 else "")


def _sections(results: Sequence[Overall], digits: int) -> Iterator[Section]:
    """A table of systems for each overall result; the row of a baseline has no difference."""
    for result in results:
        if result.systems:
            yield table(
                *(overall_title(result), _columns(result), result.systems, digits),
                answer=overall_answer(result, digits),
                is_in_answer=_has_one_row(result),
                legend={
                    "" if result.differences else "Score": _metrics(result.tasks, is_complete=bool(result.differences))
                },
                lines=[_PER_TASK] if result.systems[0].rank_set else [],
            )


def _columns(result: Overall) -> list[Column]:
    by_name = {one.system: one for one in result.differences}
    is_ranked = result.systems[0].rank_interval is not None

    def difference(name: str) -> Callable[[OverallSystem], Any]:
        return lambda row: getattr(by_name.get(row.system), name, None)

    differences = [
        Column("Difference", difference("value"), number, spare=1),
        Column("Simultaneous interval", difference("interval"), interval_or_dash, "difference-interval"),
        Column("P(better)", difference("prob_better"), probability, spare=3),
        Column("Verdict", difference("verdict")),
    ]
    header = interval_header([result.systems[0].interval])
    n = [Column("N", "n_questions", is_number=True, spare=5 if by_name else 1, is_shown=not is_ranked)]
    return [
        Column("System", "system", wraps=True),
        Column("Score", "value", number),
        Column(header, "interval", interval, "interval", spare=2 if by_name else 1 if is_ranked else 0),
        *(differences if by_name else ()),
        *rank_columns(ranks_header([result.systems[0].interval])),
        Column("Pairs", "letters", group_text, is_number=False, is_shown=False, legend=_PAIRS),
        Column("Average rank", "average_rank", one_decimal, is_shown=False),
        Column("Tasks led", "tasks_led", is_number=True, is_shown=False),
        Column("SE", "std_error", number, spare=6 if by_name else 1, is_shown=not is_ranked, in_paper=False),
        Column("Questions", "n_questions", is_number=True, spare=5 if by_name else 1, is_shown=not is_ranked, short=n),
    ]


def _guide(results: Sequence[Overall]) -> dict[str, str]:
    """The meaning of the columns with differences from a baseline."""
    levels = [result.differences[0].interval.level for result in results if len(result.differences) > 1]
    sentence = "Simultaneous interval: with {:g} % probability, all contain their differences."
    return {"Simultaneous interval": sentence.format(100 * levels[0])} if levels else {}


def _marks(results: Sequence[Overall]) -> list[Mark]:
    return [
        Mark(
            group=OVERALL_GROUP,
            label=system.system,
            value=system.value,
            span=ends(system.interval),
            level=system.interval.level,
            scale=SCORE_SCALE,
            system=system.system,
        )
        for result in results
        for system in result.systems
    ]


def _differences(results: Sequence[Overall]) -> list[Mark]:
    return [
        Mark(
            group=OVERALL_GROUP,
            label=f"{one.system}{PAIR}{result.baseline}",
            value=one.value,
            span=ends(one.interval),
            level=one.interval.level,
            scale=difference_scale(SCORE_SCALE, higher_is_better=result.higher_is_better),
            zero=0.0,
            system=one.system,
            is_decided=one.verdict != "undecided",
            baseline=result.baseline or "",
        )
        for result in results
        for one in result.differences
    ]


def _boards(results: Sequence[Overall]) -> Iterator[Board]:
    for result in results:
        marks = [
            RankMark(one.system, one.expected_rank, one.rank_interval, one.rank_set, (), one.prob_best)
            for one in result.systems
            if one.expected_rank is not None
        ]
        if marks:
            yield Board(OVERALL_GROUP, marks)


Overall.KIND = Kind(
    OVERALL,
    Overall,
    _sections,
    "Overall scores.",
    guide=_guide,
    is_single=True,
    shares=lambda result: [system.value for system in result.systems],
    scaled=(
        *("systems.value", "systems.interval", "systems.std_error"),
        *("differences.value", "differences.interval", "differences.single_interval"),
    ),
    marks=_marks,
    differences=_differences,
    boards=_boards,
    figure=plot_forest,
)
