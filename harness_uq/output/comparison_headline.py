"""The headline of a comparison, and the reasons for its verdicts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness_uq.output.columns import metric_name
from harness_uq.output.phrases import join_names, missing_caveat, totals_sentence
from harness_uq.plots.figure_rows import comparison_title, displayed_task
from harness_uq.plots.label_texts import counted
from harness_uq.results.comparison import Comparison, Verdict
from harness_uq.results.format_points import join_with_and

_ORDER: tuple[Verdict, ...] = ("better", "equivalent", "undecided", "worse")
_OVERALL = "overall"
_FEW = 3


def comparison_answer(rows: Sequence[Comparison]) -> str:
    """The headline: that both sides are the same run, or the verdict.

    The verdict is that over all tasks if there is one, else that of each row if there are at most three, else the
    number of rows with each verdict.

    Parameters
    ----------
    rows : of one pair of systems, at least one
    """
    note = rows[0].identical_runs_note
    outcome = "" if note and all(row.verdict == "undecided" for row in rows) else _outcome(rows)
    sentences = [totals_sentence(rows), note, outcome]
    return "\n".join(sentence for sentence in sentences if sentence)


def _outcome(rows: Sequence[Comparison]) -> str:
    if len(rows) == 1:
        return rows[0].answer
    if _are_listed(rows):
        return "\n".join(f"{row_name(row, rows)}: {comparison_sentence(row)}" for row in rows)
    overall = [row for row in rows if row.task == _OVERALL]
    single = [row for row in rows if row.task != _OVERALL]
    has_several = len(overall) > 1
    metrics = [f" by {metric_name(row.metric, row.filter)}" if has_several else "" for row in overall]
    sentences = [
        f"Over all questions{metric}: {comparison_sentence(row)}" for row, metric in zip(overall, metrics, strict=True)
    ]
    if single and not overall:
        pair = f"{rows[0].system_a} is compared with {rows[0].system_b}."
        sentences = [pair, _verdict_counts(single), single_tasks_caveat(rows), *_nearest(single)]
    elif single:
        sentences += [_verdict_counts(single), single_tasks_caveat(rows)]
    return " ".join(sentence for sentence in sentences if sentence)


def single_tasks_caveat(rows: Sequence[Comparison]) -> str:
    """A sentence on the single tasks whose verdicts depend on missing scores; empty if there are none."""
    return missing_caveat(row_name(row, rows) for row in rows if row.task != _OVERALL and row.depends_on_missing)


def reasons(rows: Sequence[Comparison]) -> list[str]:
    """The reasons for the verdicts in the order of the rows; rows with the same reason share a sentence."""
    if _are_listed(rows):
        return []
    by_reason: dict[str, list[Comparison]] = {}
    for row in rows:
        if row.task != _OVERALL and (reason := _reason(row)):
            by_reason.setdefault(reason, []).append(row)
    return [f"{join_names(row_name(row, rows) for row in members)}: {reason}" for reason, members in by_reason.items()]


def row_name(row: Comparison, rows: Sequence[Comparison]) -> str:
    """The task of the row, with its metric if several rows have the same task."""
    n_rows = sum(other.task == row.task for other in rows)
    return comparison_title(row) if n_rows > 1 else displayed_task(row)


def _are_listed(rows: Sequence[Comparison]) -> bool:
    return len(rows) <= _FEW and all(row.task != _OVERALL for row in rows)


def _verdict_counts(rows: Sequence[Comparison]) -> str:
    """Sentence with the number of rows for each verdict."""
    counts, n_tasks = Counter(row.headline_verdict for row in rows), len({row.task for row in rows})
    parts = [f"{counts[verdict]} {'is' if counts[verdict] == 1 else 'are'} {verdict}" for verdict in _ORDER]
    parts = [part for part in parts if not part.startswith("0 ")]
    what = counted(len(rows), "task") if n_tasks == len(rows) else f"{len(rows)} scores of {counted(n_tasks, 'task')}"
    corrected = ", after correction for all of them" if any(row.verdict != row.headline_verdict for row in rows) else ""
    return f"Of {what}, {join_with_and(parts)}{corrected}."


def comparison_sentence(row: Comparison) -> str:
    """The verdict alone as a sentence, and that it does not remain after correction."""
    if row.verdict == row.headline_verdict:
        return row.answer
    corrected = "After correction for all comparisons, this is undecided."
    return replace(row, verdict_text=f"{row.verdict_text} {corrected}", next_step="").answer


def _nearest(rows: Sequence[Comparison]) -> list[str]:
    """The undecided row that needs the fewest additional questions."""
    needed = {row_name(row, rows): n for row in rows if (n := row.n_additional_questions)}
    if not needed:
        return []
    name = min(needed, key=needed.__getitem__)
    n = needed[name]
    return [f"Of the undecided tasks, {name} needs the fewest additional questions: about {n:,}."]


def _reason(row: Comparison) -> str:
    """The reason for the verdict; empty if the table shows it."""
    if row.difference is None:
        return f"{row.verdict}, not estimable: {row.reason.text}" if row.reason else ""
    if row.verdict != row.headline_verdict:
        return f"{row.verdict} alone, undecided after correction for the number of tasks."
    sign = 1 if row.higher_is_better else -1
    low, high = sorted(sign * end for end in (row.difference.interval.low, row.difference.interval.high))
    margin = f"the margin of {row.margin:g}"
    match row.verdict:
        case "equivalent":
            return f"equivalent: the difference is smaller than {margin}. Choose by cost, speed or another test."
        case "undecided":
            return _open(low, high, row, margin)
    if not row.margin:
        return ""
    if max(low, -high) > row.margin:
        return f"{row.verdict} by more than {margin}."
    return f"{row.verdict}, but possibly by less than {margin}."


def _open(low: float, high: float, row: Comparison, margin: str) -> str:
    if low > -row.margin:
        return f"undecided: not worse by more than {margin}, but the data do not show whether it is better."
    if high < row.margin:
        return f"undecided: not better by more than {margin}, but the data do not show whether it is worse."
    return "undecided: the data are insufficient, and both better and worse are possible."
