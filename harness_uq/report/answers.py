"""The answer of a comparison before its table, and the reasons below it, each said once."""

from collections import Counter
from collections.abc import Sequence

from harness_uq.plots.rows import counted, task_title
from harness_uq.report.words import named
from harness_uq.results.comparison import Comparison, Verdict

_ORDER: tuple[Verdict, ...] = ("better", "equivalent", "undecided", "worse")
_OVERALL = "overall"
_FEW = 3
_NOT_ESTIMABLE = "not estimable: "


def comparison_answer(rows: Sequence[Comparison]) -> str:
    """What a comparison comes to, before its table.

    That both sides are one, if they are; else over all tasks where there is such a row, else each of a few rows, else
    how many rows have each verdict.

    Parameters
    ----------
    rows : of one pair of systems, at least one
    """
    return "\n".join([*([rows[0].same] if rows[0].same else []), _outcome(rows)])


def _outcome(rows: Sequence[Comparison]) -> str:
    if len(rows) == 1:
        return rows[0].answer
    if _are_told_one_by_one(rows):
        return "\n".join(f"{row_name(row, rows)}: {row.answer}" for row in rows)
    overall = [row for row in rows if row.task == _OVERALL]
    single = [row for row in rows if row.task != _OVERALL]
    said = [f"Over all tasks{_by(row, overall)}: {row.answer}" for row in overall]
    if single:
        said += [f"On {_tally(single)}."] if overall else [_pair(rows), *_nearest(single)]
    return " ".join(said)


def reasons(rows: Sequence[Comparison]) -> list[str]:
    """Why the rows have the verdicts that they have, a sentence for all that share it, in the order of the rows."""
    if _are_told_one_by_one(rows):
        return []
    alike: dict[str, list[Comparison]] = {}
    for row in rows:
        if row.task != _OVERALL and (reason := _reason(row)):
            alike.setdefault(reason, []).append(row)
    return [f"{named(row_name(row, rows) for row in members)}: {reason}" for reason, members in alike.items()]


def row_name(row: Comparison, rows: Sequence[Comparison]) -> str:
    """The row's task, with its metric where several rows are of the task."""
    alike = sum(other.task == row.task for other in rows) > 1
    return task_title(row.task, row.metric, row.filter) if alike else row.task


def _are_told_one_by_one(rows: Sequence[Comparison]) -> bool:
    return len(rows) <= _FEW and all(row.task != _OVERALL for row in rows)


def _by(row: Comparison, overall: Sequence[Comparison]) -> str:
    return "" if len(overall) == 1 else f" by {task_title('', row.metric, row.filter).removeprefix(', ')}"


def _pair(rows: Sequence[Comparison]) -> str:
    return f"{rows[0].system_a} against {rows[0].system_b} on {_tally(rows)}."


def _tally(rows: Sequence[Comparison]) -> str:
    """How many rows have each verdict."""
    counts = Counter(row.verdict for row in rows)
    n_tasks = len({row.task for row in rows})
    what = counted(len(rows), "task") if n_tasks == len(rows) else f"{len(rows)} scores of {counted(n_tasks, 'task')}"
    return f"{what}: {', '.join(f'{counts[verdict]} {verdict}' for verdict in _ORDER if counts[verdict])}"


def _nearest(rows: Sequence[Comparison]) -> list[str]:
    """Which undecided row takes the fewest more questions."""
    needed = {row_name(row, rows): n for row in rows if (n := row.n_more_questions)}
    if not needed:
        return []
    name = min(needed, key=needed.__getitem__)
    return [f"Of the undecided, {name} takes the fewest more questions, about {needed[name]:,}."]


def _reason(row: Comparison) -> str:
    """What holds of the row besides its interval; empty where the table says all."""
    if row.difference is None:
        stated = [text for text in row.warnings if text.startswith(_NOT_ESTIMABLE)]
        return f"{row.verdict}, {stated[0]}." if stated else ""
    sign = 1 if row.higher_is_better else -1
    low, high = sorted(sign * end for end in (row.difference.interval.low, row.difference.interval.high))
    margin = f"the margin of {row.margin:g}"
    match row.verdict:
        case "equivalent":
            return f"equivalent, since any difference is smaller than {margin}: choose by cost, speed or another test."
        case "undecided":
            return _open(low, high, row, margin)
    if not row.margin:
        return ""
    if max(low, -high) > row.margin:
        return f"{row.verdict}, by more than {margin}."
    return f"{row.verdict}; whether by more than {margin} is open."


def _open(low: float, high: float, row: Comparison, margin: str) -> str:
    if low > -row.margin:
        return f"undecided: not worse by more than {margin}, but the data do not tell whether better."
    if high < row.margin:
        return f"undecided: not better by more than {margin}, but the data do not tell whether worse."
    return "undecided, since these data are too few: better and worse are both possible."
