"""Results as LaTeX tables for a paper: estimates, comparisons, ranks, plans, sections of text."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness_uq.errors import DataError
from harness_uq.plots.rows import counted, task_title
from harness_uq.report.answers import comparison_answer, reasons
from harness_uq.report.attribution import sentences, warnings_of
from harness_uq.report.cells import Section
from harness_uq.report.columns import columns, interval, level_header, number
from harness_uq.report.latex_grid import estimates_grid, rankings_grid
from harness_uq.report.latex_table import Column, Paper, chosen, table_latex
from harness_uq.report.leaderboard import group_text, ranks_text
from harness_uq.report.words import difference_header, probability
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.flat import Result
from harness_uq.results.plan import Plan, PlanRow
from harness_uq.results.ranking import RankedSystem, Ranking

_NAMES = {
    "Run": "run",
    "Task": "task",
    "Metric": "metric",
    "Value": "value",
    "±": "se",
    "Harness": "harness",
    "± harness": "harness-se",
    "Questions": "questions",
    "Clusters": "clusters",
    "ICC": "icc",
    "Deff": "deff",
    "Scope": "scope",
    "Method": "method",
}
_PLAIN = Paper()


def estimates_latex(rows: Sequence[Estimate], paper: Paper = _PLAIN) -> str:
    r"""Estimates as a table, a group of rows a system, methods and warnings below.

    Parameters
    ----------
    rows : in the order to print
    paper : how the table is set; columns are any of run, task, metric, value, interval, se, harness, harness-se,
        questions, clusters, icc, deff, scope and method that these rows have

    Returns
    -------
    LaTeX that needs `\usepackage{booktabs,tabularx}`, or `longtable` for more than 40 rows; empty without rows

    Raises
    ------
    DataError : a column that these rows do not have
    """
    if not rows:
        return ""
    offered = {
        _NAMES.get(c.header, "interval"): Column(c.header, [c.cell(row) for row in rows], "r" if c.is_number else "l")
        for c in columns(rows)
    }
    offered["task"] = Column("Task", [row.task for row in rows], "X")
    offered["value"] = Column("Value", [number(row.value, paper.digits) for row in rows])
    offered["interval"] = Column(level_header(rows), [interval(row.interval, paper.digits) for row in rows])
    usual = ["task", *_if_several("metric", offered), "value", "interval", "questions"]
    used: dict[str, list[str]] = {}
    for row in rows:
        if row.interval is not None:
            used.setdefault(f"{row.method}, {row.interval.kind}", []).append(row.task)
    return table_latex(
        chosen(offered, paper.columns or usual),
        paper,
        "Scores with intervals.",
        groups=[row.system for row in rows],
        notes=[*_methods(used), *sentences(warnings_of(rows))],
    )


def _if_several(name: str, offered: dict[str, Column]) -> list[str]:
    """The column's name where its cells differ."""
    return [name] if len(set(offered[name].cells)) > 1 else []


def _methods(used: dict[str, list[str]]) -> list[str]:
    if len(used) == 1:
        return [f"Intervals: {next(iter(used))}."]
    parts = [f"{method} ({', '.join(dict.fromkeys(tasks))})" for method, tasks in used.items()]
    return [f"Intervals: {'; '.join(parts)}."] if parts else []


def comparisons_latex(rows: Sequence[Comparison], paper: Paper = _PLAIN) -> str:
    """Comparisons as a table, a group of rows a pair of systems; parameters, return and errors as `estimates_latex`.

    Columns are task, metric, a, b, difference, interval, probability, questions and verdict.
    """
    if not rows:
        return ""
    digits = paper.digits
    differences = [row.difference for row in rows]
    offered = {
        "task": Column("Task", [row.task for row in rows], "X"),
        "metric": Column("Metric", [_metric(row) for row in rows], "l"),
        "a": Column("A", [number(row.value_a, digits) for row in rows]),
        "b": Column("B", [number(row.value_b, digits) for row in rows]),
        "difference": Column("A − B", [number(d.value if d else None, digits) for d in differences]),
        "interval": Column(difference_header(rows), [interval(d.interval if d else None, digits) for d in differences]),
        "probability": Column("P(A > B)", [probability(row.prob_positive) for row in rows]),
        "questions": Column("Questions", [_count(row.n_matched) for row in rows]),
        "verdict": Column("Verdict", [row.verdict for row in rows], "l"),
    }
    if paper.columns is None and _if_several("metric", offered):  # a column of its own leaves the task's no room
        offered["task"] = replace(offered["task"], cells=[task_title(row.task, row.metric, row.filter) for row in rows])
    usual = ["task", "a", "b", "difference", "interval", "probability", "verdict"]
    return table_latex(
        chosen(offered, paper.columns or usual),
        paper,
        "Differences between systems.",
        groups=[f"A: {row.system_a}, B: {row.system_b}" for row in rows],
        notes=[*_answers(rows), *sentences(warnings_of(rows))],
    )


def _answers(rows: Sequence[Comparison]) -> list[str]:
    """What each pair of systems comes to, and why, as on the command line."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        pairs.setdefault((row.system_a, row.system_b), []).append(row)
    return [text for pair in pairs.values() for text in (*comparison_answer(pair).splitlines(), *reasons(pair))]


def _metric(row: Comparison) -> str:
    return row.metric if row.filter == "none" else f"{row.metric} ({row.filter})"


def rankings_latex(rankings: Sequence[Ranking], paper: Paper = _PLAIN) -> str:
    """Rankings as one table, a group of rows a task; parameters, return and errors as of `estimates_latex`.

    Columns are system, value, interval, best, expected-rank, ranks, rank-set and group.
    """
    ranked = [(ranking, system) for ranking in rankings for system in ranking.systems]
    systems: list[RankedSystem] = [system for _, system in ranked]
    offered = {
        "system": Column("System", [system.system for system in systems], "X"),
        "value": Column("Value", [number(system.value, paper.digits) for system in systems]),
        "interval": Column("Interval", [interval(system.interval, paper.digits) for system in systems]),
        "best": Column("P(best)", [probability(system.prob_best) for system in systems]),
        "expected-rank": Column("Expected rank", [f"{system.expected_rank:.1f}" for system in systems]),
        "ranks": Column("Ranks", [f"{system.rank_low} to {system.rank_high}" for system in systems]),
        "rank-set": Column("Rank set", [ranks_text(system.rank_set).replace("-", " to ") for system in systems]),
        "group": Column("Group", [group_text(system.group) for system in systems], "l"),
    }
    groups = [f"{task_title(r.task, r.metric, r.filter)}, {counted(r.n_questions, 'question')}" for r, _ in ranked]
    notes = dict.fromkeys(f"{counted(ranking.n_comparisons, 'comparison')} in all." for ranking in rankings)
    return table_latex(
        chosen(offered, paper.columns or ["system", "value", "interval", "best", "rank-set", "group"]),
        paper,
        "Ranks of systems.",
        groups=groups,
        notes=[*notes, *sentences(warnings_of(rankings))],
    )


def plan_latex(plan: Plan, paper: Paper = _PLAIN) -> str:
    """A plan's designs as a table, the recommended one marked; return as of `estimates_latex`."""
    cells: list[tuple[str, Callable[[PlanRow], str]]] = [
        ("", lambda row: "*" if row == plan.recommended else ""),
        ("Questions", lambda row: f"{row.n_questions:,}"),
        ("Trials", lambda row: str(row.n_trials)),
        (f"{100 * plan.level:g}% width", lambda row: number(row.expected_width)),
        (f"Found ({100 * plan.power:g}%)", lambda row: number(row.detectable)),
        ("Cost", lambda row: "-" if row.cost is None else f"{row.cost:,.6g}"),
    ]
    shown = [Column(header, [cell(row) for row in plan.rows]) for header, cell in cells]
    kept = [column for column in shown if set(column.cells) - {"-", ""}]
    marked = ["* recommended"] if plan.recommended else []
    notes = [*marked, plan.answer, *plan.warnings]
    return table_latex(kept, paper, "Designs of a run to come.", groups=[""] * len(plan.rows), notes=notes)


def sections_latex(sections: Sequence[Section], paper: Paper = _PLAIN) -> str:
    """Sections of text columns, a table each, the title as caption; the first column of text wraps."""
    tables = []
    for section in sections:
        shown = [
            Column(c.header, c.texts, "r" if c.is_number else "X" if k == 0 else "l")
            for k, c in enumerate(section.columns)
        ]
        n_rows = len(shown[0].cells) if shown else 0
        notes = [line for line in section.lines if line]
        tables.append(table_latex(shown, paper, section.title, groups=[""] * n_rows, notes=notes))
    return "\n".join(tables)


def results_latex(rows: Sequence[Result], paper: Paper, layout: str) -> str:
    """Results of one kind as a table.

    Raises
    ------
    DataError : a layout that this kind does not have, or a column that there is not
    """
    if not rows:
        return ""
    forms: dict[tuple[type, str], Callable[..., str]] = {
        (Estimate, "rows"): estimates_latex,
        (Estimate, "grid"): estimates_grid,
        (Comparison, "rows"): comparisons_latex,
        (Ranking, "rows"): rankings_latex,
        (Ranking, "grid"): rankings_grid,
        (Plan, "rows"): lambda plans, how: "\n".join(plan_latex(plan, how) for plan in plans if plan.rows),
    }
    kind = type(rows[0])
    if (kind, layout) not in forms:
        known = ", ".join(name for of, name in forms if of is kind)
        raise DataError(f"{kind.__name__} rows have the layout {known}; got {layout!r}")
    return forms[kind, layout](rows, paper)


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)
