"""Systems by tasks as a LaTeX table: each score with its interval below."""

from collections.abc import Sequence

from harness_uq.output.document import Grid, GridCell
from harness_uq.output.latex_table import breakable, cell, escape_latex
from harness_uq.results.result_set import RenderOptions

_TASKS_PER_BLOCK = 5


def grid_latex(grid: Grid, options: RenderOptions) -> str:
    """Systems by tasks, in blocks of up to five tasks.

    Parameters
    ----------
    grid : the scores
    options : caption and label

    Returns
    -------
    LaTeX that needs booktabs and tabularx; empty without scores
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
    notes = r" \\ ".join(map(escape_latex, grid.notes))
    lines += [r"{\footnotesize\raggedright " + notes + r" \par}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _block(systems: Sequence[str], tasks: Sequence[str], grid: Grid) -> list[str]:
    columns = r">{\raggedright\arraybackslash}p{0.22\textwidth}" + r">{\centering\arraybackslash}X" * len(tasks)
    lines = [rf"\begin{{tabularx}}{{\textwidth}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(["", *map(breakable, tasks)]) + r" \\", r"\midrule"]
    for system in systems:
        cells = [_cell(grid.cells.get((system, task))) for task in tasks]
        if any(cells):
            lines.append(" & ".join([breakable(system), *cells]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabularx}", r"\par\smallskip"]


def _cell(score: GridCell | None) -> str:
    if score is None:
        return ""
    letters = rf"\textsuperscript{{{escape_latex(score.letters)}}}" if score.letters else ""
    below = cell(score.interval).replace(", ", r",\,")
    return rf"{cell(score.value)}{letters} \newline {{\scriptsize {below}}}"
