"""LaTeX tables in booktabs style that fit the width of the text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness_uq.errors import DataError
from harness_uq.report.clean import plain
from harness_uq.report.words import commands_as

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
_WRAPPED = {False: "X", True: r"p{0.22\textwidth}"}  # longtable knows no X


@dataclass(frozen=True, slots=True)
class Paper:
    """How a table is set.

    Attributes
    ----------
    columns : names of the columns, in order; None for those that fit a column of text
    digits : decimals of scores, 0 to 12
    caption, label : plain text; None for a caption of ours and no label
    """

    columns: tuple[str, ...] | None = None
    digits: int = 3
    caption: str | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.digits <= 12:
            raise DataError(f"digits must lie between 0 and 12; got {self.digits}")


@dataclass(frozen=True, slots=True)
class Column:
    """Header, cells not yet escaped, and alignment of one column: `l`, `r`, or `X` for text that wraps."""

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


def chosen(offered: dict[str, Column], names: Sequence[str]) -> list[Column]:
    """Columns by name.

    Raises
    ------
    DataError : a name that there is not
    """
    unknown = [name for name in names if name not in offered]
    if unknown:
        raise DataError(f"the table has no column {unknown[0]!r}; there are {', '.join(offered)}")
    return [offered[name] for name in names]


def table_latex(
    shown: Sequence[Column], paper: Paper, caption: str, *, groups: Sequence[str], notes: Sequence[str] = ()
) -> str:
    r"""A `table` as wide as the text, its notes below; more than 40 rows are a `longtable`.

    Parameters
    ----------
    shown : columns, of as many cells as there are groups
    caption : where the paper has none
    groups : a heading above each run of equal ones, none above empty ones
    notes : plain text; commands between backticks are set as such
    """
    if not groups:
        return ""
    is_long = len(groups) > MAX_ROWS_A_PAGE
    head = " & ".join(cell(column.header) for column in shown) + r" \\"
    align = "".join(_WRAPPED[is_long] if column.align == "X" else column.align for column in shown)
    title = escape_latex(paper.caption or caption) + (rf"\label{{{paper.label}}}" if paper.label else "")
    body = _body(shown, groups)
    note = [r"{\footnotesize\raggedright " + r" \\ ".join(map(_note, notes)) + r" \par}"] if notes else []
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


def _body(shown: Sequence[Column], groups: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for k, group in enumerate(groups):
        if group and (k == 0 or group != groups[k - 1]):
            lines += [r"\addlinespace"] * (k > 0)
            wide = r"p{\dimexpr\textwidth-2\tabcolsep}"
            lines.append(rf"\multicolumn{{{len(shown)}}}{{{wide}}}{{\textit{{{breakable(group)}}}}} \\")
        cells = [breakable(c.cells[k]) if c.align == "X" else cell(c.cells[k]) for c in shown]
        line = " & ".join(cells) + r" \\"
        # an opening bracket or star would be taken for an argument of the line break before it
        lines.append(f"{{}}{line}" if line.startswith(("[", "*")) else line)
    return lines


def breakable(text: str) -> str:
    """Names may break behind underscores and slashes."""
    return re.sub(r"(\\_|/)", r"\1\\allowbreak{}", cell(text))


def _note(text: str) -> str:
    return commands_as(escape_latex(text), r"\texttt{", "}")


def cell(text: str) -> str:
    """A cell's text, escaped; a lone hyphen is a dash, a hyphen before a number a minus."""
    if text == "-":
        return "--"
    return _NEGATIVE.sub("$-$", escape_latex(text))
