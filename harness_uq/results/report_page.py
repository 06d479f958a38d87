"""The page of a report: its first screen, sections, figures and tables, made from the results of all kinds."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

from harness_uq._version import __version__
from harness_uq.messages import Message
from harness_uq.output.document import OVERALL, Column, Section, legend_text, table
from harness_uq.output.figures.marks import Style, pareto_front, system_styles, tick_text, ticks
from harness_uq.output.formats import RenderOptions, ResultSet
from harness_uq.output.html import PLOT_HEIGHT, TableView, forest_view, grouped_table, places, section_table
from harness_uq.output.sanitize import file_name, redact_paths
from harness_uq.output.table_notes import message_lists, text_with_code, texts_with_code, warnings_of
from harness_uq.output.words import (
    counted,
    interval,
    join_names,
    metric_name,
    number,
    one_decimal,
    probability,
    task_title,
    text,
    three_decimals,
    time_text,
    two_decimals,
    whole_percent,
)
from harness_uq.results.breakdown import POOLED, Breakdown, DifferenceBreakdown
from harness_uq.results.comparison import (
    Comparison,
    comparison_answer,
    comparison_sentence,
    comparison_title,
    pair_marks,
    pairs_of,
    row_name,
)
from harness_uq.results.error_ratio import error_ratio
from harness_uq.results.estimate import SCOPE_MEANINGS, Estimate, estimate_columns, estimate_decimals
from harness_uq.results.history import History, HistoryRun
from harness_uq.results.method_texts import methods_used
from harness_uq.results.overall import Overall, overall_answer
from harness_uq.results.ranking import Ranking, group_text, ranking_answer, rankings_answer, ranks_text
from harness_uq.results.resources import ResourceUse, dominated_systems

FEW = 4
MOST_IN_MATRIX = 40
KINDS = {
    "hdi": "highest-density credible interval",
    "quantile": "equal-tailed credible interval",
    "confidence": "confidence interval",
}
_TITLES = {
    "estimates": "Scores",
    "comparisons": "Comparison",
    "plans": "Plan",
    "histories": "Scores over time",
}
_DIGITS = 4
_MOST_TASKS = 8
_MOST_TICKS = 10
_PARETO_HEIGHT = 300  # in pixels
_SHADES = 5
_VERDICTS = ("better", "worse", "equivalent", "undecided")


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: its template, heading and content, and anchor and title of each task that is folded."""

    name: str
    heading: str
    content: Mapping[str, object]
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence of the first screen, with its subject and a verdict, either of which may be empty."""

    text: str
    about: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and the systems that it is about; empty if it is about all of them."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class ReliabilityView:
    """The basis of the numbers of one task: facts by name."""

    title: str
    n_warnings: int
    facts: tuple[tuple[str, tuple[Statement, ...]], ...]


def report_page(results: ResultSet, options: RenderOptions) -> dict[str, object]:
    """The parts of a page of these results; sections without content are left out.

    `results`: overall result, estimates, comparisons, rankings, plans, resources, breakdowns and histories. `options`:
    title, command and date of the page.
    """

    def rows(name: str) -> list[Any]:
        return list(results.lists.get(name, ()))

    unsorted, comparisons, rankings, plans = map(rows, ("estimates", "comparisons", "rankings", "plans"))
    resources, histories, overalls = rows("resource_use"), rows("histories"), rows(OVERALL)[:1]
    estimates = best_first(unsorted, comparisons, rankings)
    shown_overall = [one for one in overalls if one.systems]
    names = list(results.tables)
    title = _TITLES.get(names[0], "Leaderboard") if len(names) == 1 else "Evaluation report"
    return {
        "title": options.title or title,
        "summary": _summary(estimates, comparisons, rankings, histories),
        "warnings": [
            *_warnings_about("Overall result", overalls),
            *_warnings(estimates, comparisons, rankings),
            *_warnings_about("Resources", resources),
            *_warnings_about("Scores over time", histories),
        ],
        "headlines": [
            *(Headline(overall_answer(one), "Overall") for one in shown_overall),
            *headlines(estimates, comparisons, rankings),
            *_history_headlines([row for row in histories if row.runs]),
            *(Headline(plan.answer) for plan in plans),
        ],
        "basis": basis(estimates, rankings),
        "is_corrected": any("n_labels" in row.diagnostics for row in estimates),
        "command": options.command,
        "date": options.date,
        "sections": [
            *(Part("overall", "Overall result", _overall(one)) for one in shown_overall),
            *_scores(estimates, list(dict.fromkeys(row.system for row in unsorted))),
            *([Part("comparisons", "Differences between systems", _pairs(comparisons))] if comparisons else []),
            *_rankings(rankings),
            *([Part("resources", "Cost, tokens and time", _resources(estimates, resources))] if resources else []),
            *_groups(rows("difference_breakdowns"), rows("breakdowns")),
            *_histories([row for row in histories if row.runs]),
            *_tables(estimates),
            *([Part("plans", "The next run", {"plans": plans})] if plans else []),
            *_methods(estimates, comparisons, rankings, plans),
        ],
        "version": __version__,
    }


def _warnings_about(subject: str, rows: Sequence[Any]) -> list[Statement]:
    return [Statement(subject, redact_paths(text)) for text in message_lists(rows)["Warnings"]]


def _warnings(*kinds: Sequence[Any]) -> list[Statement]:
    """Every warning once, with the subject of the first result that has it."""
    statements: list[Statement] = []
    stated: set[Message] = set()
    for rows in kinds:
        new = [replace(row, messages=tuple(one for one in row.messages if one not in stated)) for row in rows]
        statements += [Statement(who, redact_paths(text)) for who, text in warnings_of(new)]
        stated.update(message for row in rows for message in row.messages)
    return statements


def _summary(
    estimates: Sequence[Estimate],
    comparisons: Sequence[Comparison],
    rankings: Sequence[Ranking],
    histories: Sequence[History],
) -> str:
    systems = {row.system for row in estimates} | {s for c in comparisons for s in (c.system_a, c.system_b)}
    systems |= {ranked.system for ranking in rankings for ranked in ranking.systems}
    systems |= {row.system for row in histories}
    named = [row.task for rows in (estimates, comparisons, rankings, histories) for row in rows]
    tasks = set(named) - {"overall"}
    counts = [
        (len(systems), "system"),
        (len(tasks), "task"),
        (len(estimates), "score"),
        (len(comparisons), "comparison"),
        (sum(len(row.runs) for row in histories), "run"),
    ]
    return ", ".join(counted(n, word) for n, word in counts if n)


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
    listed = rows if len(rows) <= FEW else []
    note = rows[0].identical_runs_note
    if not listed or (note and all(row.verdict == "undecided" for row in rows)):
        pair = [] if note else [f"{rows[0].system_a} is compared with {rows[0].system_b}."]
        lines = [Headline(" ".join([*pair, sentence])) for sentence in comparison_answer(rows).splitlines()]
    else:
        lines = [Headline(note)] if note else []
        lines += [Headline(comparison_sentence(row), f"{row.task}, {row.metric}", row.verdict) for row in listed]
    if listed:
        return lines
    by_verdict = {verdict: [row_name(row, rows) for row in rows if row.verdict == verdict] for verdict in _VERDICTS}
    return [*lines, *(Headline(_listed(tasks), verdict=verdict) for verdict, tasks in by_verdict.items() if tasks)]


def _listed(tasks: Sequence[str]) -> str:
    more = len(tasks) - _MOST_TASKS
    return "; ".join(tasks[:_MOST_TASKS]) + (f" and {more} more" if more > 0 else "")


def _alone(rows: Sequence[Estimate]) -> list[Headline]:
    if len(rows) > FEW or len({row.system for row in rows}) != 1:
        return []
    return [Headline(_score(row), task_title(row.task, row.metric, row.filter)) for row in rows]


def _score(row: Estimate) -> str:
    if row.interval is None:
        return f"{row.system} scores {number(row.value)}; its interval is not estimable."
    level = f"{100 * row.interval.level:g} % interval"
    ends = f"{number(row.interval.low)} to {number(row.interval.high)}"
    return f"{row.system} scores {number(row.value)} ({level}: {ends})."


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


def _history_headlines(rows: Sequence[History]) -> list[Headline]:
    """Whether each score changed; of many histories, those that changed, and how many did not."""
    listed = rows if len(rows) <= FEW else [row for row in rows if row.shifts]
    lines = [Headline(row.answer, f"{row.system} on {task_title(*row.key)}") for row in listed]
    hidden = sum(1 for row in rows if row not in listed)
    return [*lines, *([Headline(f"{hidden} further histories do not show a change of the score.")] if hidden else [])]


def _overall(overall: Overall) -> dict[str, object]:
    """The overall scores, and the tasks with their metrics and weights."""
    figure = forest_view(Overall.KIND.marks([overall]), [system.system for system in overall.systems])
    (section,) = Overall.KIND.sections([overall], _DIGITS)
    columns = [
        Column("Task", "task"),
        Column("Metric", lambda task: metric_name(task.metric, task.filter)),
        Column("Weight", "weight", three_decimals),
    ]
    tasks = section_table(table("Tasks of the overall score", columns, overall.tasks, _DIGITS))
    return {"figure": figure, "systems": section_table(section), "tasks": tasks}


def _scores(rows: Sequence[Estimate], systems: Sequence[str]) -> list[Part]:
    """Scores with intervals, by task."""
    if not rows:
        return []
    columns = [one for one in estimate_columns(rows) if one.header not in ("Task", "Metric")]
    content = {
        "figure": forest_view(Estimate.KIND.marks(rows), systems),
        "table": _by_task_table("Scores with intervals, by task", columns, rows),
    }
    return [Part("scores", "Scores", content)]


def by_task(rows: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """Estimates under the title of their task, metric and filter, in the order of first appearance."""
    groups: dict[str, list[Estimate]] = {}
    for row in rows:
        groups.setdefault(task_title(*row.key), []).append(row)
    return groups


def _by_task_table(
    caption: str, columns: Sequence[Column], rows: Sequence[Estimate], *, has_all: bool = False
) -> TableView:
    def digits(row: Estimate) -> int:
        return estimate_decimals(row, _DIGITS)

    return grouped_table(caption, [_SYSTEM, *columns], by_task(rows), digits, has_all=has_all)


def best_first(
    rows: Sequence[Estimate], comparisons: Sequence[Comparison], rankings: Sequence[Ranking]
) -> list[Estimate]:
    """Estimates by task, the best first, if comparisons and rankings show which direction is better."""
    lower = {(row.task, row.metric) for row in comparisons if not row.higher_is_better}
    for ranking in rankings:
        if ranking.systems[0].value < ranking.systems[-1].value:
            lower.add((ranking.task, ranking.metric))

    def order(row: Estimate) -> float:
        if row.value is None:
            return math.inf
        return row.value if (row.task, row.metric) in lower else -row.value

    return [row for members in by_task(rows).values() for row in sorted(members, key=order)]


def _tables(rows: Sequence[Estimate]) -> list[Part]:
    if not rows:
        return []
    variance, tasks = variance_table(rows), reliability_view(rows)
    has_theirs = any(row.harness.std_error is not None for row in rows)
    return [
        *([Part("ratio", "Comparison of standard errors", {"table": ratio_table(rows)})] if has_theirs else []),
        Part("reliability", "Basis of each number", {"tasks": tasks}, _parts("basis", [task.title for task in tasks])),
        *([Part("variance", "Variance components", {"table": variance})] if variance else []),
    ]


def ratio_table(rows: Sequence[Estimate]) -> TableView:
    """The standard errors of this report and of the harness, with the reason for their ratio."""
    ratios = {id(row): error_ratio(row) for row in rows}
    reasons = {ratio.reason for ratio in ratios.values()}
    is_shared = len(reasons) == 1 < len(rows)
    columns = [
        Column("Harness SE", "harness.std_error", number),
        Column("SE here", "std_error", number),
        Column("Ratio", lambda row: ratios[id(row)].value, lambda value, _: "-" if value is None else f"{value:.2f}"),
        *([] if is_shared else [Column("Reason", lambda row: ratios[id(row)].reason)]),
    ]
    caption = "Standard errors of the harness and of this report"
    shared = f". Reason for all scores: {reasons.pop()}" if is_shared else ""
    return _by_task_table(caption + shared, columns, rows, has_all=True)


def variance_table(rows: Sequence[Estimate]) -> TableView | None:
    """Variance components, correlation and design effect; None if no score has any."""
    with_variance = [row for row in rows if any(column.cell(row, _DIGITS) != "-" for column in _VARIANCES)]
    if not with_variance:
        return None
    return _by_task_table("Variance components of the scores", [Column("Units", _units), *_VARIANCES], with_variance)


def _units(row: Estimate) -> str:
    if row.n_clusters:
        return f"{row.n_clusters} {row.cluster_key}"
    return counted(row.n_questions, "question") if row.n_questions else "-"


_SYSTEM = Column("System", "system")
_VARIANCES = (
    Column("Variance between", "variance_between", number),
    Column("Variance within", "variance_within", number),
    Column("ICC", "icc", two_decimals),
    Column("Design effect", "design_effect", two_decimals),
    Column("Effective questions", "effective_questions", lambda value, _: number(value, 0)),
)


def reliability_view(rows: Sequence[Estimate]) -> list[ReliabilityView]:
    """Estimand, method, structure with its evidence, numerical facts, warnings, notes and source, by task.

    Facts that all of several tasks share come first, under `All tasks`.
    """
    views = []
    for title, members in by_task(rows).items():
        texts: dict[str, dict[str, list[str]]] = {}
        for row in members:
            for name, fact in _facts(row):
                texts.setdefault(name, {}).setdefault(fact, []).append(row.system)
        facts = tuple((name, _statements(owners, members)) for name, owners in texts.items())
        views.append(ReliabilityView(title, len(texts.get("Warning", {})), facts))
    return _gathered(views) if len(views) > 1 else views


def _gathered(tasks: Sequence[ReliabilityView]) -> list[ReliabilityView]:
    """Facts that all tasks share, then the others of each task that has any."""
    facts = [{(name, one) for name, statements in task.facts for one in statements} for task in tasks]
    shared = set.intersection(*facts)
    if not shared:
        return list(tasks)
    first = tasks[0]
    everywhere = _filtered(first, "All tasks", lambda fact: fact in shared)
    own = (_filtered(task, task.title, lambda fact: fact not in shared) for task in tasks)
    return [everywhere, *(task for task in own if task.facts)]


def _filtered(task: ReliabilityView, title: str, is_wanted: Callable[[tuple[str, Statement]], bool]) -> ReliabilityView:
    wanted = ((name, tuple(one for one in group if is_wanted((name, one)))) for name, group in task.facts)
    facts = tuple((name, group) for name, group in wanted if group)
    return ReliabilityView(title, sum(len(group) for name, group in facts if name == "Warning"), facts)


def _facts(row: Estimate) -> Iterable[tuple[str, str]]:
    yield "Estimand", f"{row.estimand}, {row.scope}: {SCOPE_MEANINGS[row.scope]}"
    yield "Method", row.method if row.interval is None else f"{row.method}, {KINDS[row.interval.kind]}"
    for fact in row.structure.facts if row.structure else ():
        yield fact.name.capitalize(), f"{fact.value} ({fact.evidence})"
    for name, value in row.diagnostics.items():
        yield "Numerics", f"{name.replace('_', ' ')} {value:.3g}"
    yield from (("Warning", redact_paths(text)) for text in texts_with_code(row.messages))
    yield from (("Note", redact_paths(text_with_code(message))) for message in row.notes)
    version = f" {row.source.version}" if row.source.version else ""
    time = f", {row.source.time}" if row.source.time else ""
    yield "Source", f"{file_name(row.source.path)} ({row.source.harness}{version}{time})"


def _statements(owners: Mapping[str, Sequence[str]], rows: Sequence[Estimate]) -> tuple[Statement, ...]:
    everyone = {row.system for row in rows}
    return tuple(
        Statement("" if set(systems) == everyone else join_names(systems), text) for text, systems in owners.items()
    )


def _pairs(comparisons: Sequence[Comparison]) -> dict[str, object]:
    """Comparisons by pair of systems: forest plot, verdicts (task, verdict, sentence) and table."""
    sections = Comparison.KIND.sections(comparisons, _DIGITS)
    pairs = [
        {
            "title": f"A: {a}; B: {b}",
            "figure": forest_view(pair_marks(rows)),
            "verdicts": [(comparison_title(row), row.verdict, comparison_sentence(row)) for row in rows],
            "table": _pair_table(section),
        }
        for ((a, b), rows), section in zip(pairs_of(comparisons).items(), sections, strict=True)
    ]
    return {"pairs": pairs}


def _pair_table(section: Section) -> TableView:
    """The table of a pair of systems, main columns first, with its legend as the caption."""
    columns = sorted(section.columns, key=lambda column: column.spare > 1 or column.short is not None)
    legend = legend_text(section.legend, [column.header for column in section.visible_columns()])
    return section_table(replace(section, title=f"Differences by task. {legend}".strip(), columns=columns))


def _rankings(rankings: Sequence[Ranking]) -> list[Part]:
    if not rankings:
        return []
    views = [_rank_view(ranking) for ranking in rankings]
    parts = _parts("ranking", [str(view["title"]) for view in views])
    # the headlines of a few rankings are at the top of the page
    content = {"rankings": views, "has_answers": len(rankings) > FEW, "is_folded": bool(parts)}
    return [Part("rankings", "Ranks", content, parts)]


def _rank_view(ranking: Ranking) -> dict[str, object]:
    """A ranking with its matrix of all pairs, unless that is too large."""
    n = len(ranking.systems)
    return {
        "title": task_title(*ranking.key),
        "answer": ranking_answer(ranking),
        "ranking": ranking,
        "lines": [_rank_line(ranking, k) for k in range(n)],
        "has_ties": any(system.tied_rank is not None for system in ranking.systems),
        "has_matrix": 2 < n <= MOST_IN_MATRIX and ranking.prob_better is not None,
    }


def _rank_line(ranking: Ranking, k: int) -> dict[str, object]:
    """A system of a ranking: its cells, and its ranks as places in per cent, with shades (place, width, opacity)."""
    system, n = ranking.systems[k], len(ranking.systems)
    shares = ranking.prob_rank[k] if ranking.prob_rank is not None else ()
    tail = (1 - system.interval.level) / 2
    probabilities = () if ranking.prob_better is None else ranking.prob_better[k]
    darkness = max(1.0, n / 10)  # of many systems, each rank has little probability

    def across(ranks: float) -> float:
        return round(100 * ranks / n, 2)

    return {
        "place": k + 1,
        "name": system.system,
        "value": number(system.value),
        "interval": interval(system.interval),
        "rank_set": ranks_text(system.rank_set),
        "letters": group_text(system.tie_group),
        "expected_rank": one_decimal(system.expected_rank),
        "tied_rank": text(system.tied_rank),
        "ranks": ranks_text(system.rank_interval),
        "prob_best": probability(system.prob_best),
        "left": across(system.rank_low - 0.5),
        "right": across(system.rank_high - 0.5),
        "dot": across(system.typical_rank - 0.5),
        "ends": None if system.rank_set is None else (across(system.rank_set[0] - 1), across(system.rank_set[1])),
        "shades": [
            (across(rank), across(1), round(min(1.0, p * darkness), 3)) for rank, p in enumerate(shares) if p >= 0.005
        ],
        "row": [("–", "self") if j == k else _heat(p) for j, p in enumerate(probabilities)],
        # whether the data separate this system from the next one
        "is_apart": k + 1 < len(probabilities) and not tail <= probabilities[k + 1] <= 1 - tail,
    }


def _heat(p: float) -> tuple[str, str]:
    """Text of a cell in percent and the class of its shade: `a1`…`a5` for the row, `b1`…`b5` for the column."""
    strength = min(int(abs(p - 0.5) * 2 * _SHADES) + 1, _SHADES)
    return whole_percent(p), f"{'a' if p >= 0.5 else 'b'}{strength}"


def _resources(estimates: Sequence[Estimate], rows: Sequence[ResourceUse]) -> dict[str, object]:
    """The plots, the sentences about dominated systems, and the tables."""
    tables = [section_table(section) for section in ResourceUse.KIND.sections(rows, _DIGITS)]
    return {"plots": list(_pareto_plots(estimates)), "sentences": dominated_systems(rows), "tables": tables}


def _pareto_plots(estimates: Sequence[Estimate]) -> Iterator[dict[str, object]]:
    costs = {
        (row.task, row.system): row
        for row in estimates
        if row.metric == "cost" and row.value and row.value > 0 and row.interval and row.interval.high > 0
    }
    scores: dict[tuple[str, str, str], list[Estimate]] = {}
    for row in estimates:
        if row.interval and row.structure and row.structure.bounds == (0, 1) and (row.task, row.system) in costs:
            scores.setdefault(row.key, []).append(row)
    styles = system_styles(row.system for row in estimates)
    for members in scores.values():
        if len(members) > 1:
            yield _pareto_plot(members, [costs[row.task, row.system] for row in members], styles)


def _pareto_plot(rows: Sequence[Estimate], costs: Sequence[Estimate], styles: Mapping[str, Style]) -> dict[str, object]:
    """Scores against costs on one task: places are in percent of the width and in pixels, ticks are (place, text)."""
    score = metric_name(rows[0].metric, rows[0].filter)
    x_limits, y_limits = [_limits(row) for row in costs], [_limits(row) for row in rows]
    lowest = min(value for _, value, _ in x_limits) / 20  # an interval that reaches 0 has no end on a logarithmic axis
    ends = [math.log10(max(limit, lowest)) for limits in x_limits for limit in limits]
    low, high = min(ends) - 0.05, max(ends) + 0.05
    y_low, y_high = min(limits[0] for limits in y_limits), max(limits[2] for limits in y_limits)
    y_place = places(y_low, y_high, _PARETO_HEIGHT)

    def x_place(cost: float) -> float:
        return round(100 * (math.log10(max(cost, lowest)) - low) / (high - low), 2)

    front = pareto_front([x[1] for x in x_limits], [y[1] for y in y_limits], higher_is_better=True)
    systems = [
        {
            "system": row.system,
            **dict(zip(("left", "x", "right"), map(x_place, x), strict=True)),
            **dict(zip(("bottom", "y", "top"), map(y_place, y), strict=True)),
            "style": styles[row.system],
            "description": f"{row.system}: {score} {_described(y)}, cost {_described(x)}",
        }
        for row, x, y in zip(rows, x_limits, y_limits, strict=True)
    ]
    corners = [(systems[k]["x"], systems[k]["y"]) for k in front]
    x_ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in (1, 2, 5)]
    return {
        "title": task_title(*rows[0].key),
        "systems": systems,
        "front": [(*first, *second) for first, second in pairwise(corners)],
        "x_ticks": [(x_place(tick), f"${tick:g}") for tick in x_ticks if low <= math.log10(tick) <= high],
        "y_ticks": [(y_place(k / 10), f"{k / 10:.1f}") for k in range(11) if y_low <= k / 10 <= y_high],
        "height": _PARETO_HEIGHT,
    }


def _limits(row: Estimate) -> tuple[float, float, float]:
    if row.interval is None or row.value is None:
        raise ValueError(row)
    return row.interval.low, row.value, row.interval.high


def _described(limits: tuple[float, float, float]) -> str:
    low, value, high = limits
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"


def _groups(*lists: Sequence[Breakdown] | Sequence[DifferenceBreakdown]) -> list[Part]:
    """The tables of groups; those of differences come first."""
    sections = [section for rows in lists if rows for section in type(rows[0]).KIND.sections(rows, _DIGITS)]
    tables = [(section.answer, section_table(section), section.lines) for section in sections]
    parts = _parts("groups", [section.title for section in sections])
    content = {"tables": tables, "legend": POOLED, "is_folded": bool(parts)}
    return [Part("groups", "Groups of questions", content, parts)] if tables else []


def _histories(rows: Sequence[History]) -> list[Part]:
    content = {"histories": [_history_plot(row) for row in rows]}
    return [Part("history", "Scores over time", content)] if rows else []


def _history_plot(row: History) -> dict[str, object]:
    """The scores over time, with places in percent of the width and in pixels, and tables of runs and questions."""
    n, intervals = len(row.runs), [run.interval for run in row.runs]
    low, high = min(one.low for one in intervals), max(one.high for one in intervals)
    y_place = places(low, high, PLOT_HEIGHT)

    def x_place(number: float) -> float:
        return round(100 * (number - 0.5) / n, 2)

    y_ticks = ticks(low, high) if high > low else (low,)
    return {
        "title": f"{row.system} on {task_title(*row.key)}",
        "runs": [
            {
                "x": x_place(number),
                "y": y_place(run.value),
                "top": y_place(run.interval.high),
                "bottom": y_place(run.interval.low),
                "is_changed": bool(run.settings_changed),
                "description": _run_description(run, number),
            }
            for number, run in enumerate(row.runs, 1)
        ],
        "levels": [(x_place(first - 0.4), x_place(end - 0.6), y_place(level)) for first, end, level in row.levels],
        "shifts": [(x_place(shift.first_run - 0.5), f"{shift.value:+.3f}") for shift in row.shifts],
        "changes": row.changes,
        "x_ticks": [(x_place(number), str(number)) for number in range(1, n + 1, -(-n // _MOST_TICKS))],
        "y_ticks": [(y_place(tick), tick_text(tick, y_ticks)) for tick in y_ticks],
        "tables": [
            (section_table(section), (*section.lines, *filter(None, section.legend.values())))
            for section in History.KIND.sections([row], _DIGITS)
        ],
        "height": PLOT_HEIGHT,
    }


def _run_description(run: HistoryRun, k: int) -> str:
    time = f" of {time_text(run.time)}" if run.time else ""
    limits = f"interval from {number(run.interval.low)} to {number(run.interval.high)}"
    changed = f"; changed: {', '.join(run.settings_changed)}" if run.settings_changed else ""
    return f"Run {k}{time}: {number(run.value)}, {limits}{changed}"


def _parts(prefix: str, titles: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Anchors and titles of the folded parts; none if there are only a few."""
    return tuple((f"{prefix}-{k}", title) for k, title in enumerate(titles, 1)) if len(titles) >= FEW else ()


def _methods(*results: Sequence[Any]) -> list[Part]:
    methods = methods_used(*results)
    references = sorted({source for method in methods for source in method.sources})
    return [Part("methods", "Methods", {"methods": methods, "references": references})] if methods else []
