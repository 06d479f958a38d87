"""The format `latex`: tables in booktabs style for a paper, as wide as its text."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from harness_uq.io.plugins.protocols import RenderOptions, ResultSet
from harness_uq.messages.control_characters import escape_control
from harness_uq.messages.errors import DataError
from harness_uq.output.document import Cells, Document, Grid, GridCell, Section, joined, legend_text, require_columns
from harness_uq.output.table_options import PERCENT_NOTE, in_percent
from harness_uq.output.words import commands_as

MAX_ROWS_PER_PAGE = 40
_DIGITS = 3
_TASKS_PER_BLOCK = 5

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
_WRAPPED = {False: "X", True: r"p{0.22\textwidth}"}  # longtable has no X


def render(results: ResultSet, options: RenderOptions) -> str:
    """The tables of all lists. Raises DataError if the results have no grid, columns are selected for one, or no table
    has a column of the options.
    """
    digits = options.digits_or(1 if options.percent else _DIGITS)
    if options.percent:
        results = in_percent(results)
    lists = [(results.kinds[name], rows) for name, rows in results.tables.items() if rows]
    if options.layout == "grid":
        if options.columns is not None:
            raise DataError("Layout 'grid' has no columns to select. Use layout 'rows', or select no columns.")
        if lacking := [kind.name for kind, _ in lists if kind.grid is None]:
            raise DataError(f"Layout 'grid' is not available for {lacking[0]}; use 'rows'.")
        tables = [grid_latex(kind.grid(rows, digits), options) for kind, rows in lists if kind.grid is not None]
    else:
        tables = list(_tables([kind.document(rows, digits) for kind, rows in lists], options))
    return "\n".join(tables).strip("\n")


def _tables(documents: Sequence[Document], options: RenderOptions) -> Iterator[str]:
    """The tables that belong in a paper, if they have any of the selected columns."""
    kept = [[one for one in document.sections if one.columns and not one.is_optional] for document in documents]
    if options.columns is not None:
        require_columns([section for sections in kept for section in sections], options.columns)
    for document, sections in zip(documents, kept, strict=True):
        chosen = [one for one in sections if options.columns is None or one.visible_columns(options.columns)]
        for _, members in groupby(chosen, key=lambda section: [column.name for column in section.columns]):
            yield _table(document, list(members), options)


def _table(document: Document, sections: Sequence[Section], options: RenderOptions) -> str:
    """Sections with the same columns as one table, with their titles as headings."""
    columns = Section("", joined(sections)).visible_columns(options.columns)
    if options.columns is None:
        columns = [column for column in columns if column.in_paper]
    titles = [section.title for section in sections for _ in section.columns[0].texts]
    headers = [column.header for column in columns]
    notes = [*_sentences(sections, headers), *document.notes, *_percent_note(options)]
    notes += document.footnotes.get("Warnings", ())
    return table_latex(columns, options, document.caption, groups=titles, notes=list(dict.fromkeys(notes)))


def _percent_note(options: RenderOptions) -> list[str]:
    return [PERCENT_NOTE] if options.percent else []


def _sentences(sections: Sequence[Section], headers: Sequence[str]) -> Iterator[str]:
    for section in sections:
        yield from section.answer.splitlines()
        yield from (line for line in section.lines if line)
    for section in sections:
        if legend := legend_text(section.legend, headers):
            yield legend


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX; line breaks become spaces.

    Letters that pdfLaTeX cannot print, such as Chinese ones, stay as they are, for XeLaTeX or LuaLaTeX.

    >>> print(escape_latex("50 % of a_b & {c}"))
    50 \% of a\_b \& \{c\}
    """
    escaped = "".join(_SPECIAL.get(character, character) for character in escape_control(" ".join(text.split())))
    return escaped.replace("--", "-{}-")


def table_latex(
    columns: Sequence[Cells], options: RenderOptions, caption: str, *, groups: Sequence[str], notes: Sequence[str] = ()
) -> str:
    r"""A `table` as wide as the text with notes below it; a `longtable` for more than 40 rows.

    `columns`: with as many texts as there are groups. `caption`: used if the options have none. `groups`: heading of
    each row; consecutive rows with the same one share it, and an empty one is not printed. `notes`: plain text;
    commands between backticks are set in typewriter type. Returns: LaTeX that needs booktabs and tabularx, or
    longtable; empty without rows.
    """
    if not groups:
        return ""
    is_long = len(groups) > MAX_ROWS_PER_PAGE
    head = " & ".join(cell(column.header) for column in columns) + r" \\"
    align = "".join(_WRAPPED[is_long] if column.wraps else "r" if column.is_number else "l" for column in columns)
    title = escape_latex(options.caption or caption) + (rf"\label{{{options.label}}}" if options.label else "")
    body = _body(columns, groups)
    sentences = [commands_as(escape_latex(text), r"\texttt{", "}") for text in notes]
    note = [r"{\footnotesize\raggedright " + r" \\ ".join(sentences) + r" \par}"] if notes else []
    if is_long:
        parts = [r"{\footnotesize\setlength{\tabcolsep}{4pt}", *_long(align, head, body, title), *note, "}"]
        return "\n".join([r"% needs \usepackage{booktabs,longtable}", *parts]) + "\n"
    return "\n".join([r"% needs \usepackage{booktabs,tabularx}", *_short(align, head, body, title, note)]) + "\n"


def _short(align: str, head: str, body: list[str], title: str, note: list[str]) -> list[str]:
    begin, end = r"\begin{tabular}", r"\end{tabular}"
    if "X" in align:
        begin, end = r"\begin{tabularx}{\textwidth}", r"\end{tabularx}"
        align = align.replace("X", r">{\raggedright\arraybackslash}X")
    return [
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{title}}}",
        rf"{begin}{{{align}}}",
        *[r"\toprule", head, r"\midrule", *body, r"\bottomrule"],
        end,
        *([r"\par\smallskip", *note] if note else []),
        r"\end{table}",
    ]


def _long(align: str, head: str, body: list[str], title: str) -> list[str]:
    return [
        rf"\begin{{longtable}}{{{align}}}",
        rf"\caption{{{title}}} \\",
        *[r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"],
        *[*body, r"\bottomrule"],
        r"\end{longtable}",
    ]


def _body(columns: Sequence[Cells], groups: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for k, group in enumerate(groups):
        if group and (k == 0 or group != groups[k - 1]):
            lines += [r"\addlinespace"] * (k > 0)
            wide = r"p{\dimexpr\textwidth-2\tabcolsep}"
            lines.append(rf"\multicolumn{{{len(columns)}}}{{{wide}}}{{\textit{{{breakable(group)}}}}} \\")
        cells = [breakable(c.texts[k]) if c.wraps else cell(c.texts[k]) for c in columns]
        line = " & ".join(cells) + r" \\"
        # an opening bracket or star would be taken for an argument of the line break before it
        lines.append(f"{{}}{line}" if line.startswith(("[", "*")) else line)
    return lines


def breakable(text: str) -> str:
    """An escaped text that may break after underscores and slashes."""
    return re.sub(r"(\\_|/)", r"\1\\allowbreak{}", cell(text))


def cell(text: str) -> str:
    """The escaped text of a cell; a lone hyphen becomes a dash, a hyphen before a number a minus sign."""
    if text == "-":
        return "--"
    return _NEGATIVE.sub("$-$", escape_latex(text))


def grid_latex(grid: Grid, options: RenderOptions) -> str:
    """Systems by tasks, in blocks of up to five tasks.

    Returns: LaTeX that needs booktabs and tabularx; empty without scores.
    """
    if not grid.cells:
        return ""
    systems = list(dict.fromkeys(system for system, _ in grid.cells))
    tasks = list(dict.fromkeys(task for _, task in grid.cells))
    n_blocks = -(-len(tasks) // _TASKS_PER_BLOCK)
    width = -(-len(tasks) // n_blocks)
    title = escape_latex(options.caption or grid.caption) + (rf"\label{{{options.label}}}" if options.label else "")
    lines = [r"% needs \usepackage{booktabs,tabularx}", r"\begin{table}", r"\centering\footnotesize"]
    lines += [r"\setlength{\tabcolsep}{4pt}", rf"\caption{{{title}}}"]
    for k in range(0, len(tasks), width):
        lines += _block(systems, tasks[k : k + width], grid)
    notes = r" \\ ".join(map(escape_latex, [*grid.notes, *_percent_note(options)]))
    lines += [r"{\footnotesize\raggedright " + notes + r" \par}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _block(systems: Sequence[str], tasks: Sequence[str], grid: Grid) -> list[str]:
    columns = r">{\raggedright\arraybackslash}p{0.22\textwidth}" + r">{\centering\arraybackslash}X" * len(tasks)
    lines = [rf"\begin{{tabularx}}{{\textwidth}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(["", *map(breakable, tasks)]) + r" \\", r"\midrule"]
    for system in systems:
        cells = [_grid_cell(grid.cells.get((system, task))) for task in tasks]
        if any(cells):
            lines.append(" & ".join([breakable(system), *cells]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabularx}", r"\par\smallskip"]


def _grid_cell(score: GridCell | None) -> str:
    if score is None:
        return ""
    letters = rf"\textsuperscript{{{escape_latex(score.letters)}}}" if score.letters else ""
    below = cell(score.interval).replace(", ", r",\,")
    return rf"{cell(score.value)}{letters} \newline {{\scriptsize {below}}}"
