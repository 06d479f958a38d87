"""The first screen of the HTML report: the main results, and the data and methods behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness_uq.output.columns import SCOPE_MEANINGS, format_number
from harness_uq.output.comparison_headline import (
    comparison_answer,
    comparison_sentence,
    row_name,
    single_tasks_caveat,
)
from harness_uq.output.html.reliability import KINDS
from harness_uq.output.phrases import join_names
from harness_uq.output.ranking_headline import ranking_answer, rankings_answer
from harness_uq.plots.figure_rows import displayed_task
from harness_uq.plots.label_texts import counted, task_title
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.ranking import Ranking

FEW = 4

_MOST_TASKS = 8
_VERDICTS = ("better", "worse", "equivalent", "undecided")


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence of the first screen, with its subject and a verdict, either of which may be empty."""

    text: str
    about: str = ""
    verdict: str = ""


def headlines(
    estimates: Sequence[Estimate], comparisons: Sequence[Comparison], rankings: Sequence[Ranking]
) -> list[Headline]:
    """Verdicts and rankings as sentences; the scores if there is only one system."""
    pairs = groupby(comparisons, key=lambda row: (row.system_a, row.system_b))
    lines = [line for _, rows in pairs for line in _of_pair(list(rows))]
    if len(rankings) > FEW:
        lines.append(Headline(rankings_answer(rankings)))
    else:
        lines += [Headline(ranking_answer(r), task_title(r.task, r.metric, r.filter)) for r in rankings]
    return lines or _alone(estimates)


def _of_pair(rows: Sequence[Comparison]) -> list[Headline]:
    overall = [row for row in rows if row.task == "overall"]
    listed = overall or (rows if len(rows) <= FEW else [])
    note = rows[0].identical_runs_note
    if not listed or (note and all(row.verdict == "undecided" for row in rows)):
        lines = [Headline(sentence) for sentence in comparison_answer(rows).splitlines()]
    else:
        lines = [Headline(note)] if note else []
        lines += [
            Headline(comparison_sentence(row), f"{displayed_task(row)}, {row.metric}", row.headline_verdict)
            for row in listed
        ]
    single = [row for row in rows if row.task != "overall"]
    if len(single) < 2 or listed is rows:
        return lines
    by_verdict = {
        verdict: [row_name(row, rows) for row in single if row.headline_verdict == verdict] for verdict in _VERDICTS
    }
    lines += [Headline(_listed(tasks), verdict=verdict) for verdict, tasks in by_verdict.items() if tasks]
    caveat = single_tasks_caveat(rows)
    return [*lines, Headline(caveat)] if listed and caveat else lines


def _listed(tasks: Sequence[str]) -> str:
    more = len(tasks) - _MOST_TASKS
    return "; ".join(tasks[:_MOST_TASKS]) + (f" and {more} more" if more > 0 else "")


def _alone(rows: Sequence[Estimate]) -> list[Headline]:
    if len(rows) > FEW or len({row.system for row in rows}) != 1:
        return []
    return [Headline(_score(row), task_title(row.task, row.metric, row.filter)) for row in rows]


def _score(row: Estimate) -> str:
    if row.interval is None:
        return f"{row.system} scores {format_number(row.value)}; its interval is not estimable."
    level = f"{100 * row.interval.level:g} % interval"
    ends = f"{format_number(row.interval.low)} to {format_number(row.interval.high)}"
    return f"{row.system} scores {format_number(row.value)} ({level}: {ends})."


def basis(estimates: Sequence[Estimate], rankings: Sequence[Ranking]) -> list[tuple[str, str]]:
    """Data, intervals, estimands, methods and logs behind the numbers, by name."""
    intervals = [row.interval for row in estimates if row.interval]
    intervals += [system.interval for ranking in rankings for system in ranking.systems]
    kinds = (f"{100 * one.level:g} % {KINDS[one.kind]}" for one in intervals)
    meaning = (f"{row.scope}: {SCOPE_MEANINGS[row.scope]}" for row in estimates)
    logs = (f"{row.source.harness} {row.source.version or ''}".strip() for row in estimates)
    days = sorted({row.source.time[:10] for row in estimates if row.source.time})
    facts = {
        "Data": "; ".join(_data(estimates) or _sizes((r.n_questions for r in rankings), "question", "per ranking")),
        "Intervals": "; ".join(dict.fromkeys(kinds)),
        "Meaning of scores": "; ".join(dict.fromkeys(meaning)),
        "Methods": ", ".join(dict.fromkeys(row.method for row in estimates if row.interval)),
        "Logs": ", ".join(dict.fromkeys(logs))
        + (f", of {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""),
    }
    return [(name, text) for name, text in facts.items() if text]


def _data(rows: Sequence[Estimate]) -> list[str]:
    clustered = [row for row in rows if row.n_clusters]
    sizes = _sizes((row.n_questions for row in rows), "question", "per task")
    sizes += _sizes((row.n_trials for row in rows), "trial", "per question")
    where = "every score" if len(clustered) == len(rows) else f"{len(clustered)} of {len(rows)} scores"
    keys = join_names(row.cluster_key or "" for row in clustered)
    sizes += _sizes((row.n_clusters for row in clustered), "cluster", f"({keys}) in {where}")
    return sizes


def _sizes(values: Iterable[int | None], thing: str, per: str) -> list[str]:
    known = [value for value in values if value]
    if not known:
        return []
    low, high = min(known), max(known)
    return [f"{counted(low, thing) if low == high else f'{low} to {counted(high, thing)}'} {per}"]
