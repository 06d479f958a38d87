"""The first screen of the HTML report: who is best, what cannot be told, what the numbers rest on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness_uq.plots.rows import counted, task_title
from harness_uq.report.answers import comparison_answer, row_name
from harness_uq.report.columns import number
from harness_uq.report.html.reliability import KINDS, SCOPES
from harness_uq.report.leaderboard import ranking_answer, rankings_answer
from harness_uq.report.words import named
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.ranking import Ranking

FEW = 4

_MOST_TASKS = 8
_VERDICTS = ("better", "worse", "equivalent", "undecided")


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence of the first screen, with a verdict and what it is about; both may be empty."""

    text: str
    about: str = ""
    verdict: str = ""


def headlines(
    estimates: Sequence[Estimate], comparisons: Sequence[Comparison], rankings: Sequence[Ranking]
) -> list[Headline]:
    """Who is best and what cannot be told; of one system alone its scores."""
    found = [line for _, rows in groupby(comparisons, key=_pair) for line in _of_pair(list(rows))]
    if len(rankings) > FEW:
        found.append(Headline(rankings_answer(rankings)))
    else:
        found += [Headline(ranking_answer(r), task_title(r.task, r.metric, r.filter)) for r in rankings]
    return found or _alone(estimates)


def _pair(row: Comparison) -> tuple[str, str]:
    return row.system_a, row.system_b


def _of_pair(rows: Sequence[Comparison]) -> list[Headline]:
    overall = [row for row in rows if row.task == "overall"]
    told = overall or (rows if len(rows) <= FEW else [])
    if not told:
        found = [Headline(sentence) for sentence in comparison_answer(rows).splitlines()]
    else:
        found = [Headline(rows[0].same)] if rows[0].same else []
        found += [Headline(row.answer, f"{row.task}, {row.metric}", row.verdict) for row in told]
    single = [row for row in rows if row.task != "overall"]
    if len(single) < 2 or told is rows:
        return found
    by_verdict = {verdict: [row_name(row, rows) for row in single if row.verdict == verdict] for verdict in _VERDICTS}
    return [*found, *(Headline(_listed(tasks), verdict=verdict) for verdict, tasks in by_verdict.items() if tasks)]


def _listed(tasks: Sequence[str]) -> str:
    more = len(tasks) - _MOST_TASKS
    return "; ".join(tasks[:_MOST_TASKS]) + (f" and {more} more" if more > 0 else "")


def _alone(rows: Sequence[Estimate]) -> list[Headline]:
    if len(rows) > FEW or len({row.system for row in rows}) != 1:
        return []
    return [Headline(_score(row), task_title(row.task, row.metric, row.filter)) for row in rows]


def _score(row: Estimate) -> str:
    if row.interval is None:
        return f"{row.system} scores {number(row.value)}; an interval is not estimable."
    level = f"{100 * row.interval.level:g} % interval"
    ends = f"{number(row.interval.low)} to {number(row.interval.high)}"
    return f"{row.system} scores {number(row.value)}, {level} {ends}."


def basis(estimates: Sequence[Estimate], rankings: Sequence[Ranking]) -> list[tuple[str, str]]:
    """What the numbers rest on: data, intervals and logs, each under its name."""
    intervals = [row.interval for row in estimates if row.interval]
    intervals += [system.interval for ranking in rankings for system in ranking.systems]
    kinds = (f"{100 * one.level:g} % {KINDS[one.kind]}" for one in intervals)
    meaning = (f"{row.scope}: {SCOPES[row.scope]}" for row in estimates)
    logs = (f"{row.source.harness} {row.source.version or ''}".strip() for row in estimates)
    days = sorted({row.source.time[:10] for row in estimates if row.source.time})
    said = {
        "Data": "; ".join(_data(estimates) or _sizes((r.n_questions for r in rankings), "question", "a ranking")),
        "Intervals": "; ".join(dict.fromkeys(kinds)),
        "Scores are": "; ".join(dict.fromkeys(meaning)),
        "Methods": ", ".join(dict.fromkeys(row.method for row in estimates if row.interval)),
        "Logs": ", ".join(dict.fromkeys(logs))
        + (f", of {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""),
    }
    return [(name, text) for name, text in said.items() if text]


def _data(rows: Sequence[Estimate]) -> list[str]:
    clustered = [row for row in rows if row.n_clusters]
    found = _sizes((row.n_questions for row in rows), "question", "a task")
    found += _sizes((row.n_trials for row in rows), "trial", "a question")
    where = "every score" if len(clustered) == len(rows) else f"{len(clustered)} of {len(rows)} scores"
    keys = named(row.cluster_key or "" for row in clustered)
    found += _sizes((row.n_clusters for row in clustered), "cluster", f"({keys}) under {where}")
    return found


def _sizes(values: Iterable[int | None], thing: str, per: str) -> list[str]:
    known = [value for value in values if value]
    if not known:
        return []
    low, high = min(known), max(known)
    return [f"{counted(low, thing) if low == high else f'{low} to {counted(high, thing)}'} {per}"]
