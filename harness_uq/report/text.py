"""Tables for a terminal, with what a careful reader should know below them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_uq.logs.data import TaskLog, Totals
from harness_uq.plots.rows import counted
from harness_uq.report.attribution import footnotes
from harness_uq.report.cells import counts_of
from harness_uq.report.clean import lines
from harness_uq.report.columns import columns, legend
from harness_uq.report.page import Cells, Page
from harness_uq.report.words import named
from harness_uq.results.estimate import Estimate

if TYPE_CHECKING:
    from harness_uq.estimating.analysis import TaskStructure

# left out of a table where a line is too short, the greatest number first
_SPARE = {"±": 1, "Harness": 2, "± harness": 2, "ICC": 3, "Method": 4}


def estimates_table(rows: Sequence[Estimate], *, width: int | None = None) -> str:
    """Estimates as text: a table a run, then warnings and notes, each once.

    Parameters
    ----------
    rows : in the order to print
    width : characters a line; None takes the terminal's, or as many as needed where there is none
    """
    page = Page(width)
    groups: dict[str, list[Estimate]] = {}
    shown: dict[str, None] = {}
    for row in rows:
        groups.setdefault(_title(row), []).append(row)
    for title, members in groups.items():
        page.say(title, "bold")
        shown |= dict.fromkeys(page.table(_cells(members)))
    page.say_left_out()
    page.say_legend(legend(rows), shown)
    page.say_footnotes(footnotes(rows))
    return page.text()


def _cells(rows: Sequence[Estimate]) -> list[Cells]:
    found: list[Cells] = []
    for column in columns(rows):
        texts = [column.cell(row) for row in rows]
        if column.header == "Questions":
            both = counts_of(texts, [row.n_clusters for row in rows], [row.cluster_key for row in rows])
            found += both if any(row.n_clusters for row in rows) else both[:1]
        elif column.header != "Clusters":
            found.append(Cells(column.header, texts, column.is_number, _SPARE.get(column.header, 0)))
    return found


def _title(row: Estimate) -> str:
    source = row.source
    version = f" {source.version}" if source.version else ""
    return f"\n{row.system}  ({source.harness}{version})"


def structures_text(found: "Sequence[TaskStructure]") -> str:
    """What was found of each task's structure, a paragraph a task."""
    return "\n\n".join(lines(_structure_paragraph(item)) for item in found)


def _structure_paragraph(item: "TaskStructure") -> str:
    log = item.log
    said = [f"{log.system}  {log.task}  ({log.source.path})"]
    if not item.metrics:
        said.append(f"  {_without_scores(log)}")
        return "\n".join(said)
    said.append(f"  questions    {len(log.questions)}")
    said.append(f"  clusters     {item.clusters.fact.value}: {item.clusters.fact.evidence}")
    for (metric, filter_name), structure in item.metrics.items():
        facts = {fact.name: fact for fact in structure.facts}
        score, trials = facts["score type"], facts["trials"]
        name = metric if filter_name == "none" else f"{metric} ({filter_name})"
        n_scores = counted(structure.n_cells, "score")
        said.append(f"  {name}: {score.value} ({score.evidence}); {trials.value}; {n_scores}")
    hints = dict.fromkeys([*item.clusters.hints, *(h for s in item.metrics.values() for h in s.hints)])
    said += [f"  hint: {hint}" for hint in hints]
    said += [f"  warning: {warning}" for warning in item.clusters.warnings]
    return "\n".join(said)


def _without_scores(log: TaskLog) -> str:
    if log.subtasks:
        return f"a group of {counted(len(log.subtasks), 'task')}: {named(log.subtasks)}"
    reasons = dict.fromkeys(data.reason for data in log.data if isinstance(data, Totals))
    return f"no score a question: {'; '.join(reasons) or 'the log holds none'}"
