"""The HTML report: one self-contained file, for screens of any width, for print, light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from harness_uq._version import __version__
from harness_uq.messages import Message
from harness_uq.output import breakdown, difference_breakdown
from harness_uq.output.breakdown import POOLED
from harness_uq.output.columns import format_number
from harness_uq.output.footnotes import Result, message_lists, warnings_of
from harness_uq.output.html.forest import forest_views
from harness_uq.output.html.headline import FEW, Headline, basis, headlines
from harness_uq.output.html.history import history_headlines, history_view
from harness_uq.output.html.methods_appendix import methods_used
from harness_uq.output.html.reliability import Statement, reliability_view
from harness_uq.output.html.resources import resources_view
from harness_uq.output.html.systems import pair_views, rank_view
from harness_uq.output.html.tables import (
    best_first,
    overall_view,
    ratio_table,
    scores_table,
    section_table,
    variance_table,
)
from harness_uq.output.overall import overall_answer
from harness_uq.output.phrases import commands_as
from harness_uq.output.ranking_headline import ranking_answer
from harness_uq.output.sanitize import html_text, redact_paths
from harness_uq.plots.figure_rows import forest_rows
from harness_uq.plots.label_texts import counted
from harness_uq.results.breakdown import Breakdown, DifferenceBreakdown
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.history import History
from harness_uq.results.overall import Overall
from harness_uq.results.plan import Plan
from harness_uq.results.ranking import Ranking
from harness_uq.results.resource_use import ResourceUse

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["report_html"]

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the page: its template, heading and content, and the anchor and title of each task that is folded."""

    name: str
    heading: str
    content: dict[str, object]
    parts: tuple[tuple[str, str], ...] = ()


def report_html(
    estimates: Sequence[Estimate],
    comparisons: Sequence[Comparison] = (),
    rankings: Sequence[Ranking] = (),
    plans: Sequence[Plan] = (),
    *,
    overall: Overall | None = None,
    resource_use: Sequence[ResourceUse] = (),
    breakdowns: Sequence[Breakdown] = (),
    difference_breakdowns: Sequence[DifferenceBreakdown] = (),
    histories: Sequence[History] = (),
    title: str = "Evaluation report",
    command: str = "",
    date: str = "",
) -> str:
    """Results as one HTML page without external resources: forest plots, tables, their basis, and methods.

    Parameters
    ----------
    estimates, comparisons, rankings, plans : results; sections without content are left out
    overall : the overall result, which comes first; None if there is none
    resource_use : totals and ratios of resources
    breakdowns, difference_breakdowns : scores and differences by groups of questions
    histories : scores of repeated runs over time
    title : title of the page
    command, date : the command that created the page, and the date; left out if empty

    Returns
    -------
    The page. All texts of the results are escaped, and its content security policy forbids scripts and requests.
    """
    systems = list(dict.fromkeys(row.system for row in estimates))
    estimates = best_first(estimates, comparisons, rankings)
    shown_overall = overall if overall and overall.systems else None
    pairs = _Section("comparisons", "Differences between systems", {"pairs": pair_views(comparisons)})
    sections = [
        *([_Section("overall", "Overall result", _overall(shown_overall))] if shown_overall else []),
        *_scores(estimates, systems),
        *([pairs] if comparisons else []),
        *_rankings(rankings),
        *(
            [_Section("resources", "Cost, tokens and time", resources_view(estimates, resource_use))]
            if resource_use
            else []
        ),
        *_groups(breakdowns, difference_breakdowns),
        *_histories(histories),
        *_tables(estimates),
        *([_Section("plans", "The next run", {"plans": plans})] if plans else []),
        *_methods(estimates, comparisons, rankings, plans),
    ]
    page = _environment().get_template("report.html")
    rendered = page.render(
        title=title,
        summary=_summary(estimates, comparisons, rankings, histories),
        warnings=[
            *_warnings_about("Overall result", [overall] if overall else []),
            *_warnings(estimates, comparisons, rankings),
            *_warnings_about("Resources", resource_use),
            *_warnings_about("Scores over time", histories),
        ],
        headlines=[
            *([Headline(overall_answer(shown_overall), "Overall")] if shown_overall else []),
            *headlines(estimates, comparisons, rankings),
            *history_headlines([row for row in histories if row.runs]),
            *(Headline(plan.answer) for plan in plans),
        ],
        basis=basis(estimates, rankings),
        is_corrected=any("n_labels" in row.diagnostics for row in estimates),
        command=command,
        date=date,
        sections=sections,
        version=__version__,
    )
    return html_text(rendered)


def _warnings_about(subject: str, rows: Sequence[Overall | ResourceUse | History]) -> list[Statement]:
    return [Statement(subject, redact_paths(text)) for text in message_lists(rows)["Warnings"]]


def _overall(overall: Overall) -> dict[str, object]:
    views, legend = forest_views(forest_rows([overall]), [system.system for system in overall.systems])
    return {**overall_view(overall), "views": views, "legend": legend}


def _warnings(*kinds: Sequence[Result]) -> list[Statement]:
    """Every warning once, with the subject of the first result that has it."""
    statements: list[Statement] = []
    stated: set[Message] = set()
    for rows in kinds:
        new = [replace(row, messages=tuple(one for one in row.messages if one not in stated)) for row in rows]
        statements += [Statement(who, redact_paths(text)) for who, text in warnings_of(new)]
        stated.update(message for row in rows for message in row.messages)
    return statements


def _scores(rows: Sequence[Estimate], systems: Sequence[str]) -> list[_Section]:
    views, legend = forest_views(forest_rows(rows), systems)
    if not rows:
        return []
    content: dict[str, object] = {"views": views, "legend": legend, "table": scores_table(rows)}
    return [_Section("scores", "Scores", content)]


def _rankings(rankings: Sequence[Ranking]) -> list[_Section]:
    if not rankings:
        return []
    views = [rank_view(r) for r in rankings]
    parts = _parts("ranking", [view.title for view in views])
    # the headlines of a few rankings are at the top of the page
    content: dict[str, object] = {"rankings": views, "has_answers": len(rankings) > FEW, "is_folded": bool(parts)}
    return [_Section("rankings", "Ranks", content, parts)]


def _groups(breakdowns: Sequence[Breakdown], difference_breakdowns: Sequence[DifferenceBreakdown]) -> list[_Section]:
    """The tables of groups; those of differences come first."""
    documents = (
        difference_breakdown.KIND.document(difference_breakdowns, _DIGITS),
        breakdown.KIND.document(breakdowns, _DIGITS),
    )
    sections = [section for document in documents for section in document.sections]
    tables = [(section.answer, section_table(section), section.lines) for section in sections]
    parts = _parts("groups", [section.title for section in sections])
    content: dict[str, object] = {"tables": tables, "legend": POOLED, "is_folded": bool(parts)}
    return [_Section("groups", "Groups of questions", content, parts)] if tables else []


def _histories(rows: Sequence[History]) -> list[_Section]:
    views = [history_view(row) for row in rows if row.runs]
    return [_Section("history", "Scores over time", {"histories": views})] if views else []


def _parts(prefix: str, titles: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Anchors and titles of the folded parts; none if there are only a few."""
    return tuple((f"{prefix}-{k}", title) for k, title in enumerate(titles, 1)) if len(titles) >= FEW else ()


def _tables(rows: Sequence[Estimate]) -> list[_Section]:
    if not rows:
        return []
    variance, tasks = variance_table(rows), reliability_view(rows)
    parts = _parts("basis", [task.title for task in tasks])
    has_theirs = any(row.harness.std_error is not None for row in rows)
    return [
        *([_Section("ratio", "Comparison of standard errors", {"table": ratio_table(rows)})] if has_theirs else []),
        _Section("reliability", "Basis of each number", {"tasks": tasks}, parts),
        *([_Section("variance", "Variance components", {"table": variance})] if variance else []),
    ]


def _methods(
    estimates: Sequence[Estimate],
    comparisons: Sequence[Comparison],
    rankings: Sequence[Ranking],
    plans: Sequence[Plan],
) -> list[_Section]:
    methods = methods_used(estimates, comparisons, rankings, plans)
    references = sorted({source for method in methods for source in method.sources})
    content: dict[str, object] = {"methods": methods, "references": references}
    return [_Section("methods", "Methods", content)] if methods else []


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


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness_uq.output.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": format_number,
        "unbroken": _unbroken,
        "breakable": _breakable,
    }
    # a lone hyphen stands for a missing value, any other one is a minus sign
    environment.filters["typeset"] = lambda text: "–" if text == "-" else text.replace("-", "−")
    environment.filters |= {"counted": counted, "prose": _prose, "answer": ranking_answer}
    return environment


def _unbroken(header: str) -> str:
    """A header that does not break after a sign."""
    for phrase in ("± ", " interval", "A > B"):
        header = header.replace(phrase, phrase.replace(" ", "\u00a0"))
    return header


def _prose(text: str) -> "Markup":
    """Escaped sentences, with commands as code."""
    from markupsafe import Markup, escape

    return Markup(commands_as(str(escape(text)), "<code>", "</code>"))  # noqa: S704, the text has been escaped


def _breakable(name: str) -> "Markup":
    """An escaped name that may break after underscores and slashes."""
    from markupsafe import Markup, escape

    return escape(name).replace("_", Markup("_<wbr>")).replace("/", Markup("/<wbr>"))
