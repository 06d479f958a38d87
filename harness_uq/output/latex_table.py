"""LaTeX tables in booktabs style that fit the width of the text."""

import re
from collections.abc import Sequence

from harness_uq.messages.control_characters import escape_control
from harness_uq.output.phrases import commands_as
from harness_uq.output.terminal import Cells
from harness_uq.results.result_set import RenderOptions

MAX_ROWS_PER_PAGE = 40

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

    Parameters
    ----------
    columns : with as many texts as there are groups
    options : caption and label
    caption : used if the options have none
    groups : heading of each row; consecutive rows with the same one share it, and an empty one is not printed
    notes : plain text; commands between backticks are set in typewriter type

    Returns
    -------
    LaTeX that needs booktabs and tabularx, or longtable; empty without rows
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
