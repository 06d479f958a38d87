"""Systems by tasks as a LaTeX table: a score with its interval below, and letters where scores were compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_uq.plots.rows import task_title
from harness_uq.report.attribution import sentences, warnings_of
from harness_uq.report.columns import interval, number
from harness_uq.report.latex_table import Paper, breakable, cell, escape_latex
from harness_uq.report.leaderboard import group_text
from harness_uq.results.estimate import Estimate, Interval
from harness_uq.results.ranking import Ranking

_TASKS_ABREAST = 5


@dataclass(frozen=True, slots=True)
class _Score:
    value: float | None
    interval: Interval | None
    letters: str = ""


def estimates_grid(rows: Sequence[Estimate], paper: Paper) -> str:
    """Systems by tasks, a block of up to five tasks below the other; of several runs the last.

    Parameters
    ----------
    rows : estimates of one or more systems
    paper : digits, caption and label; columns do not count here

    Returns
    -------
    LaTeX that needs booktabs and tabularx; empty without rows
    """
    scores = {
        (row.system, task_title(row.task, row.metric, row.filter)): _Score(row.value, row.interval) for row in rows
    }
    return _grid(scores, paper, "Scores with intervals.", sentences(warnings_of(rows)))


def rankings_grid(rankings: Sequence[Ranking], paper: Paper) -> str:
    """Systems by tasks with the letters of their groups; parameters and return as of `estimates_grid`."""
    scores = {
        (system.system, task_title(ranking.task, ranking.metric, ranking.filter)): _Score(
            system.value, system.interval, group_text(system.group)
        )
        for ranking in rankings
        for system in ranking.systems
    }
    said = "Systems that share a letter cannot be told apart on that task."
    return _grid(scores, paper, "Scores with intervals and groups.", [said, *sentences(warnings_of(rankings))])


def _grid(scores: Mapping[tuple[str, str], _Score], paper: Paper, caption: str, notes: Sequence[str]) -> str:
    if not scores:
        return ""
    systems = list(dict.fromkeys(system for system, _ in scores))
    tasks = list(dict.fromkeys(task for _, task in scores))
    n_blocks = -(-len(tasks) // _TASKS_ABREAST)
    abreast = -(-len(tasks) // n_blocks)
    blocks = [tasks[k : k + abreast] for k in range(0, len(tasks), abreast)]
    level = next((score.interval.level for score in scores.values() if score.interval), 0.95)
    said = [f"Below each score its {100 * level:g}% interval.", *notes]
    title = escape_latex(paper.caption or caption) + (rf"\label{{{paper.label}}}" if paper.label else "")
    lines = [r"% needs \usepackage{booktabs,tabularx}", r"\begin{table}", r"\centering\footnotesize"]
    lines += [r"\setlength{\tabcolsep}{4pt}", rf"\caption{{{title}}}"]
    for block in blocks:
        lines += _block(systems, block, scores, paper.digits)
    lines += [r"{\footnotesize\raggedright " + r" \\ ".join(map(escape_latex, said)) + r" \par}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _block(
    systems: Sequence[str], tasks: Sequence[str], scores: Mapping[tuple[str, str], _Score], digits: int
) -> list[str]:
    columns = r">{\raggedright\arraybackslash}p{0.22\textwidth}" + r">{\centering\arraybackslash}X" * len(tasks)
    lines = [rf"\begin{{tabularx}}{{\textwidth}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(["", *map(breakable, tasks)]) + r" \\", r"\midrule"]
    for system in systems:
        cells = [_cell(scores.get((system, task)), digits) for task in tasks]
        if any(cells):
            lines.append(" & ".join([breakable(system), *cells]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabularx}", r"\par\smallskip"]


def _cell(score: _Score | None, digits: int) -> str:
    if score is None:
        return ""
    letters = rf"\textsuperscript{{{escape_latex(score.letters)}}}" if score.letters else ""
    below = cell(interval(score.interval, digits)).replace(", ", r",\,")
    return rf"{cell(number(score.value, digits))}{letters} \newline {{\scriptsize {below}}}"
