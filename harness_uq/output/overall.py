"""The overall result for readers: a headline, a table of systems, and the tasks with their metrics and weights."""

from collections.abc import Sequence
from dataclasses import replace

from harness_uq.output.columns import format_interval, format_number, metric_name
from harness_uq.output.document import Document, ResultKind, Section
from harness_uq.output.footnotes import message_lists
from harness_uq.output.phrases import join_names, probability
from harness_uq.output.ranking_headline import group_text, ranks_text
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted
from harness_uq.results.overall import Overall, OverallSystem, OverallTask

_PER_TASK = "The option --per-task also prints the ranking on each task."
_VERDICTS = ("better", "equivalent", "undecided", "worse")
_SCHEMES = {
    "equal": "equal weights",
    "questions": "weights by number of questions",
    "group": "the weights of their group",
    "subtasks": "equal weights for all tasks of groups",
    "given": "given weights",
}


def overall_document(results: Sequence[Overall], digits: int = 4) -> Document:
    """A table of systems for each overall result."""
    sections = [section for result in results for section in _sections(result, digits)]
    return Document(sections, message_lists(results), _guide(results), caption="Overall scores.")


def overall_title(result: Overall) -> str:
    """What the overall score is a mean of.

    >>> overall_title(Overall("equal", "none", False, True, (OverallTask("a", "acc", "none", 1.0),), ()))
    'Overall: mean of 1 task with equal weights'
    """
    new = ", for new tasks of the same kind" if result.generalizes_over_tasks else ""
    chance = ", normalized by the scores of random answers" if result.normalization == "chance" else ""
    return f"Overall: mean of {counted(len(result.tasks), 'task')} with {_SCHEMES[result.weights]}{chance}{new}"


def overall_answer(result: Overall) -> str:
    """The best system with its score, and which others may be as good; empty without systems."""
    if not result.systems:
        return ""
    if result.differences:
        return _comparison_answer(result)
    best, *others = result.systems
    scores = f"{format_number(best.value)} {format_interval(best.interval)}"
    if not others:
        return f"{best.system} has the overall score {scores}."
    if best.rank_set is None:
        return f"{best.system} has the best overall score, {scores}."
    rivals = [other.system for other in others if other.rank_set and other.rank_set[0] == 1]
    if rivals:
        names = join_names(rivals)
        return f"{best.system} has the best overall score, {scores}, but {names} may be as good or better."
    return f"{best.system} is best overall, with the score {scores}, after correction for all pairs of systems."


def _comparison_answer(result: Overall) -> str:
    """The verdict of one comparison with the baseline, or the systems with each verdict."""
    if len(result.differences) == 1:
        return result.differences[0].verdict_text
    by_verdict = [[one.system for one in result.differences if one.verdict == verdict] for verdict in _VERDICTS]
    parts = [
        f"{counted(len(names), 'system')} {verdict} ({join_names(names)})"
        for verdict, names in zip(_VERDICTS, by_verdict, strict=True)
        if names
    ]
    n = len(result.differences)
    return f"Against {result.baseline}: {'; '.join(parts)}. The intervals hold simultaneously for {n} comparisons."


def metrics_line(tasks: Sequence[OverallTask]) -> str:
    """Which metric is used for which task.

    >>> metrics_line([OverallTask("arc", "acc_norm", "none", 0.5), OverallTask("boolq", "acc", "none", 0.5)])
    'Metrics: acc_norm (arc), acc (boolq).'
    """
    tasks_of: dict[str, list[str]] = {}
    for task in tasks:
        tasks_of.setdefault(metric_name(task.metric, task.filter), []).append(task.task)
    if len(tasks_of) == 1:
        return f"Metric: {next(iter(tasks_of))}."
    return f"Metrics: {', '.join(f'{metric} ({join_names(names)})' for metric, names in tasks_of.items())}."


def _sections(result: Overall, digits: int) -> list[Section]:
    if not result.systems:
        return []
    columns = _columns(result.systems, digits)
    if result.differences:
        score_interval = replace(columns[2], spare=2)
        columns = [*columns[:2], score_interval, *_difference_columns(result, digits), *columns[3:]]
    return [
        Section(
            overall_title(result),
            columns,
            answer=overall_answer(result),
            lines=[metrics_line(result.tasks), *([_PER_TASK] if result.systems[0].rank_set else [])],
        )
    ]


def _columns(systems: Sequence[OverallSystem], digits: int) -> list[Cells]:
    level = f"{100 * systems[0].interval.level:g}%"
    return [
        Cells("System", [system.system for system in systems], is_number=False, wraps=True),
        Cells("Score", [format_number(system.value, digits) for system in systems]),
        Cells(f"{level} interval", [format_interval(system.interval, digits) for system in systems], name="interval"),
        Cells("Rank set", [ranks_text(system.rank_set) for system in systems]),
        Cells("Group", [group_text(system.letters) for system in systems], is_number=False, spare=1),
        Cells("P(best)", [probability(system.prob_best) for system in systems], spare=2, name="best"),
        Cells("Average rank", [_decimal(system.average_rank) for system in systems], spare=3, in_paper=False),
        Cells("Tasks led", [_count(system.tasks_led) for system in systems], spare=4, in_paper=False),
        Cells("SE", [format_number(system.std_error, digits) for system in systems], spare=6, in_paper=False),
        Cells("Questions", [_count(system.n_questions) for system in systems], spare=5),
    ]


def _difference_columns(result: Overall, digits: int) -> list[Cells]:
    """Differences from the baseline; its own row has dashes."""
    by_name = {one.system: one for one in result.differences}
    rows = [by_name.get(system.system) for system in result.systems]
    return [
        Cells("Difference", ["-" if row is None else format_number(row.value, digits) for row in rows], spare=1),
        Cells(
            "Simultaneous interval",
            ["-" if row is None else format_interval(row.interval, digits) for row in rows],
            name="difference-interval",
        ),
        Cells("P(better)", ["-" if row is None else probability(row.prob_better) for row in rows], spare=3),
        Cells("Verdict", ["-" if row is None else row.verdict for row in rows], is_number=False),
        Cells("Alone", ["-" if row is None else row.single_verdict for row in rows], is_number=False, spare=4),
    ]


def _decimal(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _guide(results: Sequence[Overall]) -> dict[str, str]:
    """The meaning of the columns with ranks."""
    if any(len(result.differences) > 1 for result in results):
        return {
            "Simultaneous interval": "Simultaneous interval: all intervals contain their differences from the baseline "
            "with the given probability; verdicts follow from them.",
            "Alone": "Alone: verdict by the interval of this difference alone.",
        }
    if not any(result.systems and result.systems[0].rank_set for result in results):
        return {}
    return {
        "Rank set": "Rank set: possible ranks of the overall scores; all rank sets hold simultaneously.",
        "Group": "Group: systems that share a letter are not separated after correction for all pairs.",
        "P(best)": "P(best): probability of the best overall score, if systems may be nearly alike.",
    }


KIND = ResultKind(Overall, overall_document, is_single=True)
