"""Results as LaTeX tables in booktabs style."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_uq.plots.rows import counted
from harness_uq.report.attribution import sentences, warnings_of
from harness_uq.report.cells import Section
from harness_uq.report.clean import plain
from harness_uq.report.columns import columns, interval, number
from harness_uq.report.leaderboard import group_text, ranks_text
from harness_uq.report.words import commands_as, difference_cell, difference_header, probability
from harness_uq.results.comparison import Comparison
from harness_uq.results.estimate import Estimate
from harness_uq.results.plan import Plan, PlanRow
from harness_uq.results.ranking import RankedSystem, Ranking

MAX_ROWS_A_PAGE = 40

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "√": r"$\surd$",
    "θ": r"$\theta$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "²": "$^2$",
    "…": r"\ldots{}",
}
_NEGATIVE = re.compile(r"(?<![\w.)])-(?=\d)")


@dataclass(frozen=True, slots=True)
class _Column:
    """Header, alignment (`l` or `r`) and cells of one column, not yet escaped."""

    header: str
    cells: Sequence[str]
    align: str = "r"


def escape_latex(text: str) -> str:
    r"""`text` so that LaTeX prints it as it stands; line breaks become spaces.

    Letters that pdfLaTeX cannot print, such as Chinese names, are left as they are, for XeLaTeX or LuaLaTeX.

    >>> print(escape_latex("50 % of a_b & {c}"))
    50 \% of a\_b \& \{c\}
    """
    escaped = "".join(_SPECIAL.get(character, character) for character in plain(" ".join(text.split())))
    return escaped.replace("--", "-{}-")


def estimates_latex(rows: Sequence[Estimate], *, caption: str = "Scores with intervals.") -> str:
    r"""Estimates as a `table` in booktabs style, a group of rows a system, warnings below.

    Parameters
    ----------
    rows : in the order to print
    caption : plain text, escaped here

    Returns
    -------
    LaTeX that needs `\usepackage{booktabs}`, and `longtable` for more than 40 rows; empty where there are no rows
    """
    shown = [_Column(c.header, [c.cell(row) for row in rows], "r" if c.is_number else "l") for c in columns(rows)]
    return _table(shown, caption, groups=[row.system for row in rows], notes=sentences(warnings_of(rows)))


def comparisons_latex(rows: Sequence[Comparison], *, caption: str = "Differences between systems.") -> str:
    """Comparisons as a table, a group of rows a pair of systems. Parameters and return as in `estimates_latex`."""
    shown = [
        _Column("Task", [row.task for row in rows], "l"),
        _Column(
            "Metric", [row.metric if row.filter == "none" else f"{row.metric} ({row.filter})" for row in rows], "l"
        ),
        _Column("A", [number(row.value_a) for row in rows]),
        _Column("B", [number(row.value_b) for row in rows]),
        _Column("A − B", [number(row.difference.value if row.difference else None) for row in rows]),
        _Column(difference_header(rows), [difference_cell(row) for row in rows]),
        _Column("P(A > B)", [probability(row.prob_positive) for row in rows]),
        _Column("Questions", [_count(row.n_matched) for row in rows]),
        _Column("Verdict", [row.verdict for row in rows], "l"),
    ]
    pairs = [f"A: {row.system_a}, B: {row.system_b}" for row in rows]
    notes = [f"{row.task}: {row.answer}" for row in rows]
    return _table(shown, caption, groups=pairs, notes=[*notes, *sentences(warnings_of(rows))])


def rankings_latex(rankings: Sequence[Ranking], *, caption: str = "Ranks of systems.") -> str:
    """Rankings as one table, a group of rows a task. Parameters and return as in `estimates_latex`."""
    ranked = [(ranking, system) for ranking in rankings for system in ranking.systems]
    systems: list[RankedSystem] = [system for _, system in ranked]
    shown = [
        _Column("System", [system.system for system in systems], "l"),
        _Column("Value", [number(system.value) for system in systems]),
        _Column("Interval", [interval(system.interval) for system in systems]),
        _Column("P(best)", [probability(system.prob_best) for system in systems]),
        _Column("Expected rank", [f"{system.expected_rank:.1f}" for system in systems]),
        _Column("Ranks", [f"{system.rank_low} to {system.rank_high}" for system in systems]),
        _Column("Rank set", [ranks_text(system.rank_set).replace("-", " to ") for system in systems]),
        _Column("Group", [group_text(system.group) for system in systems], "l"),
    ]
    groups = [f"{ranking.task}, {ranking.metric}, {counted(ranking.n_questions, 'question')}" for ranking, _ in ranked]
    notes = [f"{ranking.task}: {counted(ranking.n_comparisons, 'comparison')} in all" for ranking in rankings]
    return _table(shown, caption, groups=groups, notes=[*notes, *sentences(warnings_of(rankings))])


def plan_latex(plan: Plan, *, caption: str = "Designs of a run to come.") -> str:
    """A plan's designs as a table, the recommended one marked. Parameters and return as in `estimates_latex`."""
    cells: list[tuple[str, Callable[[PlanRow], str]]] = [
        ("Questions", lambda row: f"{row.n_questions:,}"),
        ("Trials", lambda row: str(row.n_trials)),
        (f"Width of the {100 * plan.level:g} % interval", lambda row: number(row.expected_width)),
        (f"Found with {100 * plan.power:g} % power", lambda row: number(row.detectable)),
        ("Cost", lambda row: number(row.cost)),
        ("", lambda row: "recommended" if row == plan.recommended else ""),
    ]
    shown = [_Column(header, [cell(row) for row in plan.rows]) for header, cell in cells]
    kept = [column for column in shown if set(column.cells) - {"-", ""}]
    return _table(kept, caption, groups=[""] * len(plan.rows), notes=[plan.answer, *plan.warnings])


def sections_latex(sections: Sequence[Section]) -> str:
    """Sections of text columns, a table each, the title as caption."""
    tables = []
    for section in sections:
        shown = [_Column(c.header, c.texts, "r" if c.is_number else "l") for c in section.columns]
        n_rows = len(shown[0].cells) if shown else 0
        tables.append(_table(shown, section.title, groups=[""] * n_rows, notes=section.lines))
    return "\n".join(tables)


def _table(shown: Sequence[_Column], caption: str, *, groups: Sequence[str], notes: Sequence[str]) -> str:
    if not groups:
        return ""
    head = " & ".join(_cell(column.header) for column in shown) + r" \\"
    alignment = "".join(column.align for column in shown)
    body = _body(shown, groups)
    note = [r"{\footnotesize\raggedright " + r" \\ ".join(map(_note, notes)) + r" \par}"] if notes else []
    if len(groups) > MAX_ROWS_A_PAGE:
        parts = _long(alignment, head, body, escape_latex(caption))
        needs = "booktabs,longtable"
    else:
        parts = _short(alignment, head, body, escape_latex(caption), note)
        note, needs = [], "booktabs"
    return "\n".join([rf"% needs \usepackage{{{needs}}}", *parts, *note]) + "\n"


def _short(alignment: str, head: str, body: list[str], caption: str, note: list[str]) -> list[str]:
    return [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        *[r"\toprule", head, r"\midrule", *body, r"\bottomrule"],
        r"\end{tabular}",
        *([r"\par\smallskip", *note] if note else []),
        r"\end{table}",
    ]


def _long(alignment: str, head: str, body: list[str], caption: str) -> list[str]:
    return [
        rf"\begin{{longtable}}{{{alignment}}}",
        rf"\caption{{{caption}}} \\",
        *[r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"],
        *[*body, r"\bottomrule"],
        r"\end{longtable}",
    ]


def _body(shown: Sequence[_Column], groups: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for k, group in enumerate(groups):
        if group and (k == 0 or group != groups[k - 1]):
            lines += [r"\addlinespace"] * (k > 0)
            lines.append(rf"\multicolumn{{{len(shown)}}}{{l}}{{\textit{{{escape_latex(group)}}}}} \\")
        line = " & ".join(_cell(column.cells[k]) for column in shown) + r" \\"
        # an opening bracket or star would be taken for an argument of the line break before it
        lines.append(f"{{}}{line}" if line.startswith(("[", "*")) else line)
    return lines


def _note(text: str) -> str:
    return commands_as(escape_latex(text), r"\texttt{", "}")


def _cell(text: str) -> str:
    """A cell's text; a lone hyphen is a dash, a hyphen before a number a minus."""
    if text == "-":
        return "--"
    return _NEGATIVE.sub("$-$", escape_latex(text))


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)
